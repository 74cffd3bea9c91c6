"""Random programs do the same before and after every pass."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import pytest
from random_programs import ARGUMENTS, random_arguments, random_kernel
from repeats import EXHAUSTIVE, keep_first
from tile_interpreter import Event, trace
from tile_programs import kernel, run

from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.pipelines import LEVELS

PASSES = (
    "canonicalize", "cse", "dce", "fold", "licm", "loop-split", "structure-early-exits",
    *LEVELS[1:],
)  # fmt: skip


SOME, REST = range(16), range(16, 100)
"""The programs that `make test` tries with each pass, and those that it leaves."""


class Program(NamedTuple):
    """A program, and its expected traces by arguments."""

    module: ModuleOp
    calls: list[list[int]]
    expected: list[list[Event]]


@cache
def programs(seeds: range) -> list[Program]:
    made: list[Program] = []
    for seed in seeds:
        module, calls = kernel(random_kernel(seed), ARGUMENTS), random_arguments(seed)
        traces = [trace(next(module.entries()), call) for call in calls]
        made.append(Program(module, calls, [events for events in traces if events is not None]))
    return made


def effects(events: list[Event]) -> list[tuple[str, tuple[int, ...]]]:
    return [event[:2] for event in events]


@pytest.mark.requirement("R1-045")
@pytest.mark.parametrize("passes", PASSES)
def test_effects_and_the_order_that_tokens_give_them_stay(passes: str) -> None:
    check_effects(passes, programs(SOME))


@EXHAUSTIVE
@pytest.mark.parametrize("passes", PASSES)
def test_effects_of_more_programs_stay(passes: str) -> None:
    check_effects(passes, programs(REST))


def check_effects(passes: str, programs: list[Program]) -> None:
    for program in programs:
        module = run(program.module.clone(), passes)
        for call, expected in zip(program.calls, program.expected, strict=True):
            actual = trace(next(module.entries()), call)
            assert actual is not None
            assert effects(actual) == effects(expected), (str(program.module), call)
            lost = [a[2] - b[2] for a, b in zip(expected, actual, strict=True)]
            assert not any(lost), (str(program.module), call)


@pytest.mark.parametrize("seeds", keep_first([SOME, REST]))
def test_a_second_canonicalization_changes_nothing(seeds: range) -> None:
    for program in programs(seeds):
        module = run(program.module.clone(), "canonicalize")
        text = str(module)
        assert str(run(module, "canonicalize")) == text


def test_the_programs_do_something() -> None:
    traces = [events for program in programs(SOME) for events in program.expected]
    lengths = [len(events) for events in traces]
    assert sum(length > 3 for length in lengths) > len(lengths) // 2
    ordered = [event for events in traces for event in events if event[2]]
    assert len(ordered) > sum(lengths) // 3
