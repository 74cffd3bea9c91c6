"""What tuning measured, as a table and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tilewright.driver.tuning.meters import UNITS
from tilewright.driver.tuning.records import GPU, MODEL
from tilewright.driver.tuning.rows import FAILED, PRUNED, REJECTED, SAME

if TYPE_CHECKING:
    from tilewright.driver.tuning.job import Device
    from tilewright.driver.tuning.rows import Row
    from tilewright.driver.tuning.tuner import Tuner

OWN: Final = "(the compiler's choice)"
SHOWN: Final = 5
"""Schedules in the table that are predicted and not measured."""
LONGEST: Final = 72
"""Characters of a failure in the table."""


def table(tuner: Tuner) -> str:
    """The measured schedules, the best first, those that were predicted, and those that failed."""
    predicted = tuner.predicted()
    listed = [*tuner.ranked(), *predicted[:SHOWN]]
    rows = [_head(tuner), *(_cells(row, tuner) for row in listed)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
             for row in rows]  # fmt: skip
    if predicted[SHOWN:]:
        lines.append(f"{len(predicted) - SHOWN} more that were predicted, and not measured")
    failed = [row for row in tuner.rows.values() if row.outcome in (FAILED, REJECTED)]
    lines += [f"{row.schedule}: {row.outcome}: {_shortened(row.detail)}" for row in failed]
    same = sum(row.outcome == SAME for row in tuner.rows.values())
    if same:
        lines.append(f"{same} other schedules gave the same code as one of these")
    lines += [f"bug of Tilewright, please report it: --schedule {options_text(row)}: {row.detail}"
              for row in failed if row.is_bug]  # fmt: skip
    return "\n".join(lines)


def options_text(row: Row) -> str:
    """The schedule of a row, as `--schedule` takes it."""
    return row.schedule.replace(" ", ",")


def _head(tuner: Tuner) -> tuple[str, ...]:
    predicted = (UNITS[MODEL],) if tuner.job.meter == GPU else ()
    forecast = (*predicted, "limited by") if tuner.default.forecast is not None else ()
    return ("schedule", UNITS[tuner.job.meter], "ratio", *forecast, "registers", "spills",
            "shared", "")  # fmt: skip


def _cells(row: Row, tuner: Tuner) -> tuple[str, ...]:
    own, forecast, taken = tuner.default.cost, row.forecast, row.resources
    cells = [row.schedule or OWN]
    cells.append("-" if row.cost is None else f"{row.cost:.2f}")
    cells.append(f"{row.cost / own:.3f}" if row.cost is not None and own else "-")
    if forecast is not None:
        cells += [f"{forecast.microseconds:.2f}"] if tuner.job.meter == GPU else []
        cells.append(forecast.limit)
    cells += ["-", "-", "-"] if taken is None else [
        str(taken.registers), str(taken.spill_stores + taken.spill_loads), str(taken.shared)
    ]  # fmt: skip
    return (*cells, "<- best" if row is tuner.winner else "")


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def pruned(tuner: Tuner) -> int:
    """The schedules that the cost model kept from being measured."""
    return sum(row.outcome == PRUNED for row in tuner.rows.values())


def as_json(tuner: Tuner, device: Device, *, stored: bool) -> str:
    """All that was measured, for programs."""
    winner = tuner.winner
    contents = {
        "kernel": tuner.job.entry,
        "arch": tuner.job.arch,
        "device": device.name,
        "meter": tuner.job.meter,
        "unit": UNITS[tuner.job.meter],
        "seconds": round(tuner.seconds, 3),
        "complete": tuner.is_complete,
        "pruned": pruned(tuner),
        "winner": None if winner is None else winner.schedule,
        "stored": stored,
        "candidates": [_json_row(row) for row in tuner.rows.values()],
    }
    return json.dumps(contents, indent=2)


def _json_row(row: Row) -> dict[str, Any]:
    contents: dict[str, Any] = {"schedule": row.schedule, "outcome": row.outcome}
    if row.cost is not None:
        contents["cost"] = row.cost
    if row.forecast is not None:
        contents |= {"predicted": row.forecast.microseconds, "limit": row.forecast.limit}
    if row.detail:
        contents["detail"] = row.detail
    if row.is_bug:
        contents["bug"] = True
    if row.resources is not None:
        taken = row.resources
        contents |= {"registers": taken.registers, "shared": taken.shared,
                     "spills": taken.spill_stores + taken.spill_loads}  # fmt: skip
    return contents
