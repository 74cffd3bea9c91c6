"""The checked-in sample of the corpus, and our own programs, against NVIDIA's tools."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from corpus_checks import CHECKS, Module, load_modules, load_programs, read_exceptions

SAMPLE = tuple(Path(__file__).with_name("sample.txt").read_text().split())


@cache
def corpus() -> dict[str, Module]:
    return {module.name: module for module in load_modules()}


@cache
def programs() -> dict[str, Module]:
    return {module.name: module for module in load_programs()}


@pytest.mark.corpus
@pytest.mark.peer
@pytest.mark.parametrize("name", SAMPLE)
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
