"""Results on the command line: which are kept, what goes into files, what is said about them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from tilewright.driver.cli.options import WATCH_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.driver.stored import Stored
    from tilewright.emit.cubin import Resources
    from tilewright.support.diagnostics import Diagnostic

KEPT: Final = ("ptx", "cubin")
"""The stages that are kept in the cache."""

WATCHED: Final = tuple(option.key for option in WATCH_OPTIONS)
"""What only those want who see the compiler at work."""


def warn(message: str) -> None:
    """Say what is not as it should be, and does not matter for the result."""
    print(f"tilewright: warning: {message}", file=sys.stderr)


def result_of(made: Stored) -> bytes:
    """What goes into the output."""
    return made.ptx.encode() if made.cubin is None else made.cubin


def show_remarks(remarks: Sequence[Diagnostic]) -> None:
    """Print what there is to know about a program that is not wrong."""
    for remark in remarks:
        print(remark.render(), file=sys.stderr)


def resource_table(entries: list[Resources]) -> str:
    """What each kernel takes: a line each."""
    head = ("kernel", "threads", "registers", "spills", "stack", "shared", "CTAs an SM")
    rows = [head, *map(_resource_row, entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    )


def _resource_row(entry: Resources) -> tuple[str, ...]:
    threads = "any" if entry.threads is None else "x".join(map(str, entry.threads))
    occupancy = "unknown" if entry.occupancy is None else str(entry.occupancy)
    spills = f"{entry.spill_stores}+{entry.spill_loads}"
    numbers = (str(entry.registers), spills, str(entry.stack), str(entry.shared))
    return (entry.name, threads, *numbers, occupancy)
