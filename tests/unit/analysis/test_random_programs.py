"""All facts about random programs hold when they run."""

from __future__ import annotations

from random import Random

import pytest
from concrete_tiles import Run, contradiction, outside, width
from dialect_text import read
from hypothesis import given, settings
from hypothesis import strategies as st
from tile_arithmetic import random_arguments, random_program

from tilewright.analysis.axis import AxisFacts

TRIES = 4


def check(seed: int) -> int:
    """Check all facts of a program; return the number of nontrivial ones."""
    random = Random(seed)
    function = read(random_program(random)).regions[0].block.first
    assert function is not None
    facts = AxisFacts(function)
    said = 0
    for _ in range(TRIES):
        run = Run(function, random_arguments(random))
        for value, tiles in run.seen.items():
            claim, interval = facts.of(value), facts.ranges.of(value)
            said += claim != facts.top(value)
            for tile in tiles:
                problem = contradiction(claim, tile, width(value))
                assert problem is None, f"{claim}: {problem}"
                problem = outside(interval, tile) if facts.ranges.tracks(value) else None
                assert problem is None, problem
    return said


@given(st.integers(0, 1 << 32))
@settings(max_examples=25)
def test_facts_hold(seed: int) -> None:
    check(seed)


def test_facts_say_something() -> None:
    assert sum(check(seed) for seed in range(10)) > 400


@pytest.mark.parametrize("seed", range(2))
def test_programs_are_read_as_written(seed: int) -> None:
    function = read(random_program(Random(seed)))
    assert len([*function.walk()]) > 25
