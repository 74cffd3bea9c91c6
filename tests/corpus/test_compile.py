"""A part of the corpus compiles: to cubins for sm_90, and to code for sm_80 that ptxas accepts."""

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
@pytest.mark.sampled(6)
def test_module_becomes_a_cubin_without_spills(name: str) -> None:
    outcome = compiled(corpus()[name], "sm_90")
    assert outcome.problem is None
    assert outcome.multiplies or not outcome.spills


@pytest.mark.corpus
@pytest.mark.parametrize("name", keep_every(NAMES[::4], 4))
def test_module_becomes_a_cubin_for_an_older_gpu(name: str) -> None:
    outcome = compiled(corpus()[name], "sm_80")
    assert outcome.problem is None or outcome.unsupported
