"""Limits of runs: which step exceeds them, and what is asked of the clock."""

from __future__ import annotations

import itertools

import pytest
from each_case import each_case

from tilewright.support.diagnostics import UserError
from tilewright.support.location import UNKNOWN
from tilewright.support.run_limits import REFRESH, RunLimits


def steps_until(limits: RunLimits, most: int = 100_000) -> tuple[int, str | None]:
    """Take steps as an interpreter does; return the number of checks, and the exceeded limit."""
    checks = 0
    for _ in range(most):
        limits.steps += 1
        if limits.steps > limits.next_check:
            checks += 1
            limit = limits.check()
            if limit is not None:
                return checks, limit
    return checks, None


def test_without_limits_there_is_one_check() -> None:
    assert steps_until(RunLimits()) == (1, None)


@each_case("limit", [1, 2, 1000])
def test_the_step_after_the_last_one_is_too_many(limit: int) -> None:
    limits = RunLimits(limit)
    _, exceeded = steps_until(limits)
    assert (limits.steps, exceeded) == (limit + 1, f"{limit:,} steps")


def test_the_clock_is_asked_at_every_step() -> None:
    limits = RunLimits(timeout=10, clock=itertools.count(0.0, 0.5).__next__)
    _, exceeded = steps_until(limits)
    assert (limits.steps, exceeded) == (20, "10 seconds, in step 20")


def test_without_a_time_limit_the_clock_is_not_asked() -> None:
    def clock() -> float:
        raise AssertionError

    assert steps_until(RunLimits(1000, clock=clock))[1] == "1,000 steps"


def test_progress_is_shown_from_time_to_time() -> None:
    limits = RunLimits()
    shown: list[int] = []
    limits.refresh = lambda: shown.append(limits.steps)
    steps_until(limits, 10 * REFRESH)
    assert len(shown) == 10
    assert {after - before for before, after in itertools.pairwise(shown)} == {REFRESH + 1}


def test_an_interruption_is_a_keyboard_interrupt_with_a_diagnostic() -> None:
    limits = RunLimits()
    limits.steps = 1234
    error = limits.interrupted("block (1, 2, 3)", UNKNOWN)
    assert isinstance(error, KeyboardInterrupt)
    assert str(error) == "error: interrupted in step 1,234, in block (1, 2, 3)"


@pytest.mark.parametrize("steps", [0, -1])
def test_a_limit_of_no_steps_is_rejected(steps: int) -> None:
    with pytest.raises(UserError, match=f"at least one step, got {steps}"):
        RunLimits(steps)


@each_case("seconds", [0, -1, float("nan")])
def test_a_limit_of_no_time_is_rejected(seconds: float) -> None:
    with pytest.raises(UserError, match=f"above 0 seconds, got {seconds}"):
        RunLimits(timeout=seconds)
