"""Random programs do the same at the level of nv_tileaa as at that of Tile IR."""

from __future__ import annotations

import pytest
from run_random import NV_TILEAA, problems

from tilewright.testing.generate.kernel import Options

SEEDS = range(60)
EVERYTHING = Options(profile="all")


@pytest.mark.parametrize("first", SEEDS[::5])
@pytest.mark.sampled(1)
def test_random_programs_do_the_same_when_lowered(first: int) -> None:
    """Before and after the canonicalizer, checked too, and with constants as arguments."""
    wrong = [problem for seed in range(first, first + 5)
             for problem in problems(seed, EVERYTHING, NV_TILEAA)]  # fmt: skip
    assert wrong == []
