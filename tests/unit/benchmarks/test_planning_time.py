"""`benchmarks/planning_time.py`: what planning takes of a compilation."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

from planning_time import PLANNING, Planning, fastest, percentile, planning_of, table
from program_archive import ARCHIVE, unpacked

from tilewright.schedule.limits import FORCED_STAGES

EXAMPLES = Path(__file__).parents[3] / "examples"
MOST_PLANS = FORCED_STAGES + 2
"""A candidate for each number of stages, one that shares the SM, and one with a producer."""


def test_percentiles_are_times_that_were_measured() -> None:
    times = [float(each) for each in range(200, 0, -1)]
    assert [percentile(times, each) for each in (50, 90, 99, 100)] == [100, 180, 198, 200]
    assert percentile([3.0], 99) == 3


def test_a_table_has_the_sum_of_the_passes() -> None:
    runs = [Planning(dict.fromkeys(PLANNING, taken), 30 * taken, 2) for taken in (1.0, 2.0)]
    assert table("archive", runs)[2:4] == [
        "| planning | 2 | 4.5 | 6.0 | 6.0 | 6.0 | 10.0% | 4 |",
        "| plan-splits | | 1.5 | 2.0 | 2.0 | 2.0 | | |",
    ]


def test_planning_is_part_of_a_compilation() -> None:
    """Plans with fewer stages are predicted: more blocks may share an SM then."""
    name = "gemm/small-tiles-2048x2048x2048-64x128x64"
    run = fastest(unpacked(ARCHIVE.read_bytes())[name], repeat=1)
    assert run is not None
    assert 0 < run.planning < run.compilation
    assert run.plans > 1
    assert planning_of(b"") is None


@pytest.mark.parametrize(
    ("example", "most"),
    [("add", 0), ("softmax", 0), ("gemm", MOST_PLANS), ("attention", MOST_PLANS)],
)
def test_the_plans_that_are_predicted_are_few(example: str, most: int) -> None:
    """None without a pipeline; else no more than the numbers of stages, each for all engines."""
    run = planning_of((EXAMPLES / f"{example}.mlir").read_bytes())
    assert run is not None
    assert run.plans <= most
