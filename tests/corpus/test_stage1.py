"""The checked-in sample of the corpus, and our own programs, down to nv_tileaa."""

from __future__ import annotations

from functools import cache

import pytest
from corpus_checks import SAMPLE, Module, load_modules, load_programs
from each_case import each_case
from stage1 import problem_of

from tilewright.bytecode.reader import read_bytecode
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import parse_pipeline

NAMES = tuple(SAMPLE.read_text().split())
PROGRAMS = tuple(load_programs())


@cache
def corpus() -> dict[str, Module]:
    return {module.name: module for module in load_modules()}


@pytest.mark.corpus
@pytest.mark.requirement("R0-002", "R0-010", "R0-025")
@pytest.mark.sampled(50)
@pytest.mark.parametrize("name", NAMES)
def test_module_of_the_sample(name: str) -> None:
    assert problem_of(corpus()[name]) is None


@pytest.mark.requirement("R0-002", "R0-010", "R0-025")
@each_case("module", PROGRAMS, ids=lambda module: module.name)
def test_our_own_programs(module: Module) -> None:
    assert problem_of(module) is None


@each_case("module", PROGRAMS, ids=lambda module: module.name)
def test_locations_survive(module: Module) -> None:
    root = wrap_in_module(read_bytecode(module.data, module.name))
    parse_pipeline("structure-early-exits").run(root)
    known = {op.location for op in root.walk()}
    parse_pipeline("convert-cuda-tile-to-tileaa{compute-capability=sm_90}").run(root)
    assert {op.location for op in root.walk()} <= known
