"""`benchmarks/launch_choice.py`: the choice of warps against measured times."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

from cost_model import measured_times
from cost_records import read_facts
from launch_choice import Choice, choice_of, fastest_tiles, loss, scored


def test_the_loss_is_that_to_the_best_number_of_warps() -> None:
    plans = {"": 110.0, "warps=8": 100.0, "stages=2": 50.0}
    assert loss(plans, "") == pytest.approx(0.1)
    assert loss(plans, "warps=8") == 0


def test_a_line_counts_what_is_near() -> None:
    assert scored("now", [0.0, 0.05, 0.4]) == "| now | 2 of 3 | 15.0% | 40% |"


def test_a_kernel_that_spilled_with_four_warps_has_eight() -> None:
    row = "delta-rule 64x2000x128x128 64x64"
    choice = choice_of(read_facts(), measured_times(), row)
    assert choice == Choice(row, (4,), (8,), "warps=8")


def test_the_fastest_tiles_of_a_kernel_are_compared() -> None:
    """Its fastest tile took 8 before, and takes 5 now: another one."""
    times = {"k 1x2 16": {"": 10.0, "warps=8": 5.0}, "k 1x2 32": {"": 8.0}}
    choices = [Choice("k 1x2 16", (4,), (8,), "warps=8"), Choice("k 1x2 32", (4,), (4,), "")]
    assert fastest_tiles(times, choices) == {"k 1x2": 1.6}
