"""A part of the corpus compiles: to cubins for sm_90, and to code for sm_80 that ptxas takes."""

from __future__ import annotations

from functools import cache

import pytest
from corpus_checks import SAMPLE, Module, load_modules
from corpus_compile import compiled
from repeats import keep_every

NAMES = tuple(SAMPLE.read_text().split()[::5])


@cache
def corpus() -> dict[str, Module]:
    return {module.name: module for module in load_modules()}


@pytest.mark.corpus
@pytest.mark.parametrize("name", keep_every(NAMES, 6))
def test_module_becomes_a_cubin_without_spills(name: str) -> None:
    found = compiled(corpus()[name], "sm_90")
    assert found.problem is None
    assert found.multiplies or not found.spills


@pytest.mark.corpus
@pytest.mark.parametrize("name", keep_every(NAMES[::4], 4))
def test_module_becomes_a_cubin_for_an_older_gpu(name: str) -> None:
    found = compiled(corpus()[name], "sm_80")
    assert found.problem is None or found.unsupported
