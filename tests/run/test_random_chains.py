"""Random loops with dots in a row compute the same, rotated or not, on the emulator."""

from __future__ import annotations

import re
from typing import Final

import pytest
from random_chains import problem, random_chain, text_of
from repeats import keep

import tilewright

OVERLAPPED: Final = re.compile(r"wgmma\.wait_group\.sync\.aligned\s+1;")
KEPT: Final = 3
"""The program that `make test` runs."""


@pytest.mark.parametrize("seed", keep(range(60), lambda seed: seed == KEPT))
def test_results_do_not_depend_on_rotation(seed: int) -> None:
    assert problem(seed) is None


@pytest.mark.exhaustive
def test_the_program_that_is_kept_has_dots_in_flight() -> None:
    """In two loops, with K and V that threads convert and store."""
    chain = random_chain(KEPT)
    made = tilewright.compile(text_of(chain), chain.arch, emit="ptx", schedule=chain.schedule)
    assert len(OVERLAPPED.findall(made.ptx)) == 2
    assert chain.converted


def test_a_tile_that_is_converted_before_the_exchange_has_a_barrier_of_its_own() -> None:
    """V in vectors of two elements, which ldmatrix cannot read, is converted before P is."""
    assert problem(303) is None
