"""What tuning measured, as a table and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tilewright.driver.tuning.meters import UNITS
from tilewright.driver.tuning.records import GPU
from tilewright.driver.tuning.tuner import SAME

if TYPE_CHECKING:
    from tilewright.driver.tuning.job import Device
    from tilewright.driver.tuning.tuner import Row, Tuner

OWN: Final = "(the compiler's choice)"
LONGEST: Final = 72
"""Characters of a failure in the table."""


def table(tuner: Tuner) -> str:
    """The measured schedules, the best first, then those that failed."""
    unit = UNITS[tuner.job.meter]
    head = ("schedule", unit, "ratio", "registers", "spills", "shared", "")
    rows = [head, *(_measured_row(row, tuner) for row in tuner.measured())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
             for row in rows]  # fmt: skip
    failed = [row for row in tuner.rows.values() if not row.is_measured and row.outcome != SAME]
    lines += [f"{row.schedule}: {row.outcome}: {_shortened(row.detail)}" for row in failed]
    same = sum(row.outcome == SAME for row in tuner.rows.values())
    if same:
        lines.append(f"{same} other schedules gave the same code as one of these")
    lines += [f"bug of Tilewright, please report it: --schedule {row.schedule.replace(' ', ',')}: "
              f"{row.detail}" for row in failed if row.is_bug]  # fmt: skip
    return "\n".join(lines)


def _measured_row(row: Row, tuner: Tuner) -> tuple[str, ...]:
    spelled = f"{row.cost:.2f}" if tuner.job.meter == GPU else f"{row.cost:,.0f}"
    ratio = f"{row.cost / tuner.default.cost:.3f}" if tuner.default.cost else "-"
    taken = row.resources
    numbers = ("-", "-", "-") if taken is None else (
        str(taken.registers), str(taken.spill_stores + taken.spill_loads), str(taken.shared)
    )  # fmt: skip
    mark = "<- best" if row is tuner.winner else ""
    return (row.schedule or OWN, spelled, ratio, *numbers, mark)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


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
        "winner": None if winner is None else winner.schedule,
        "stored": stored,
        "candidates": [_json_row(row) for row in tuner.rows.values()],
    }
    return json.dumps(contents, indent=2)


def _json_row(row: Row) -> dict[str, Any]:
    contents: dict[str, Any] = {"schedule": row.schedule, "outcome": row.outcome}
    if row.is_measured:
        contents["cost"] = row.cost
    if row.detail:
        contents["detail"] = row.detail
    if row.is_bug:
        contents["bug"] = True
    if row.resources is not None:
        taken = row.resources
        contents |= {"registers": taken.registers, "shared": taken.shared,
                     "spills": taken.spill_stores + taken.spill_loads}  # fmt: skip
    return contents
