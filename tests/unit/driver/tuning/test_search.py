"""The search space: options and values that are declared, each neighbour once."""

from __future__ import annotations

from tilewright.driver.schedules import CHOICES, parse_schedule
from tilewright.driver.tuning.search import (
    TRIED,
    candidates_around,
    neighbours,
    options_of,
    spell,
)


def test_every_option_is_tried_with_values_that_it_has() -> None:
    assert set(TRIED) == set(CHOICES)
    for name, values in TRIED.items():
        assert values
        assert set(values) <= set(CHOICES[name])


def test_schedules_are_spelled_as_they_are_parsed() -> None:
    for schedule in neighbours("stages=3 agents=1"):
        assert parse_schedule(schedule) == schedule
        assert spell(options_of(schedule)) == schedule


def test_neighbours_differ_in_one_option() -> None:
    base = options_of("stages=3 agents=1")
    seen = list(neighbours("stages=3 agents=1"))
    assert len(seen) == len(set(seen))
    for schedule in seen:
        options = options_of(schedule)
        assert len({*options.items()} ^ {*base.items()}) in (1, 2)
        assert base.keys() <= options.keys()


def test_the_first_neighbours_have_each_value_alone() -> None:
    expected = [f"{name}={value}" for name, values in TRIED.items() for value in values]
    assert list(neighbours("")) == expected


def test_candidates_are_new_and_begin_with_the_seeds() -> None:
    known = {"", "agents=1"}
    seen = candidates_around(["", "agents=1"], known, ["warps=8 agents=1", "agents=1"])
    assert seen[0] == "warps=8 agents=1"
    assert len(seen) == len(set(seen))
    assert not known & set(seen)
    assert {"stages=3", "agents=1 warps=4"} <= set(seen)
