"""The schedules that a search has tried, with what is known of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.driver.tuning.prediction import Forecast
    from tilewright.emit.cubin import Resources
    from tilewright.schedule.cost_inputs import Plan

    Rank = Callable[["Row"], tuple[float, int]]

BEAM: Final = 3
"""The best schedules whose neighbours are tried, and that are measured again at the end."""
NEAR: Final = 1.05
"""The time, relative to the best one, up to which a schedule is tried further."""

MEASURED: Final = "measured"
PREDICTED: Final = "predicted"
PRUNED: Final = "pruned"
"""Predicted, and not among those that were to be measured."""
SAME: Final = "same code"
FAILED: Final = "not compiled"
REJECTED: Final = "rejected"
"""What became of a candidate."""


class Row:
    """A schedule that was tried."""

    __slots__ = (
        "cost", "detail", "forecast", "is_bug", "outcome", "packed", "resources", "schedule",
    )  # fmt: skip

    def __init__(self, schedule: str, outcome: str, detail: str = "") -> None:
        self.schedule = schedule
        self.outcome = outcome
        self.detail = detail
        """The reason of a failure, or the schedule with the same code or plan."""
        self.cost: float | None = None
        """The measured time; where nothing measures, the predicted one of a kernel that may run."""
        self.forecast: Forecast | None = None
        """What the cost model predicts, if it knows the GPU."""
        self.is_bug = False
        self.packed = b""
        self.resources: Resources | None = None

    @property
    def is_predicted(self) -> bool:
        """Whether it has a prediction, and no cost."""
        return self.outcome in (PREDICTED, PRUNED) and self.cost is None


def rank(row: Row) -> tuple[float, int]:
    """The cost, and of equal ones the number of options."""
    assert row.cost is not None
    return _comparable(row.cost), len(row.schedule.split())


def predicted_rank(row: Row) -> tuple[float, int]:
    """The predicted time, and of equal ones the number of options."""
    assert row.forecast is not None
    return _comparable(row.forecast.microseconds), len(row.schedule.split())


def near_best(rows: Sequence[Row], order: Rank) -> list[Row]:
    """The first of some ordered rows, as far as they are near the best one."""
    return [row for row in rows[:BEAM] if order(row)[0] <= NEAR * order(rows[0])[0]]


def plan_of(row: Row) -> Plan:
    """The plan of a row that the cost model knows."""
    assert row.forecast is not None
    return row.forecast.plan


def _comparable(number: float) -> float:
    """A number without what rounding adds where it is relative to another."""
    return float(f"{number:.9g}")
