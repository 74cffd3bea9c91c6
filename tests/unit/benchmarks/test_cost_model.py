"""`benchmarks/cost_model.py`: the stored facts still yield the recorded scores."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

from cost_model import Timed, joined, loss_of, measured_times, pairs_of, score, sweeps_of
from cost_records import read_facts

from tilewright.schedule.constants import CONSTANTS


def test_pairs_that_are_apart_count() -> None:
    """Of 100, 104 and 120 two pairs are apart; a tie of predictions counts one half."""
    sweep = [Timed(100, 10), Timed(104, 12), Timed(120, 12)]
    assert pairs_of(sweep) == (1.5, 2)


def test_loss_of_the_first_plans() -> None:
    sweep = [Timed(100, 12), Timed(110, 10), Timed(150, 11)]
    assert loss_of(sweep) == pytest.approx(0.1)
    assert loss_of(sweep, 3) == 0


def test_recorded_scores_are_kept() -> None:
    """The shares of `results/cost-model.md`; less would be a model that orders plans worse."""
    facts, times = read_facts(), measured_times()
    assert facts.plans.keys() == times.keys()
    sweeps = sweeps_of(facts, times, CONSTANTS, times)
    assert score(sweeps).right >= 0.829
    assert score(joined(sweeps)).right >= 0.833
