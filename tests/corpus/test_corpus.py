"""The checked-in sample of the corpus, and our own programs, against NVIDIA's tools."""

from __future__ import annotations

from functools import cache

import pytest
from corpus_checks import (
    CHECKS,
    SAMPLE,
    Module,
    load_modules,
    load_programs,
    read_exceptions,
)
from corpus_sample import features
from repeats import keep_every

from tilewright.bytecode.opcodes import OPCODES
from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.versions import NEWEST
from tilewright.dialects.cuda_tile import CUDA_TILE

NAMES = tuple(SAMPLE.read_text().split())


@cache
def corpus() -> dict[str, Module]:
    return {module.name: module for module in load_modules()}


@cache
def programs() -> dict[str, Module]:
    return {module.name: module for module in load_programs()}


@pytest.mark.corpus
@pytest.mark.peer
@pytest.mark.parametrize("name", keep_every(NAMES, 10))
@pytest.mark.sampled(10)
def test_module_of_the_sample(name: str) -> None:
    if name in read_exceptions():
        pytest.skip(read_exceptions()[name])
    problems = {check: CHECKS[check](corpus()[name]) for check in CHECKS}
    assert {check: text for check, text in problems.items() if text} == {}


@pytest.mark.peer
@pytest.mark.parametrize("check", CHECKS)
def test_our_own_programs(check: str) -> None:
    problems = {name: CHECKS[check](module) for name, module in programs().items()}
    assert {name: text for name, text in problems.items() if text} == {}


def test_the_exceptions_are_few() -> None:
    assert len(read_exceptions()) <= 10


@pytest.mark.corpus
@pytest.mark.exhaustive
def test_the_sample_has_all_that_the_corpus_has() -> None:
    by_module = {name: features(read_bytecode(m.data, name)) for name, m in corpus().items()}
    whole = frozenset[str]().union(*by_module.values())
    assert whole - frozenset[str]().union(*(by_module[name] for name in NAMES)) == frozenset()


@pytest.mark.corpus
def test_sample_and_programs_have_every_operation() -> None:
    modules = [*(corpus()[name] for name in NAMES), *programs().values()]
    names = {op.name for m in modules for op in read_bytecode(m.data, m.name).walk()}
    later = {name for name, op in CUDA_TILE.ops.items() if op.since and op.since > NEWEST}
    assert set(OPCODES) - names == later
