"""Print and encode compilation results for the command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from tilewright.driver.cli.options import INSTRUMENT_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.driver.cli.options import Arguments
    from tilewright.driver.compilation_result import CompilationResult
    from tilewright.emit.cubin import Resources
    from tilewright.support.diagnostics import Diagnostic
    from tilewright.support.remarks import Remark

KEPT: Final = ("ptx", "cubin")
"""The stages whose results are cached."""

UNCACHED: Final = tuple(option.key for option in INSTRUMENT_OPTIONS)
"""Options that need a compilation, and so bypass the cache."""


def warn(message: str) -> None:
    """Print a warning to standard error."""
    print(f"tilewright: warning: {message}", file=sys.stderr)


def ignores_records(arguments: Arguments) -> bool:
    """Whether tuning records are not used."""
    return arguments.flag("no-cache") or arguments.flag("no-tuned")


def result_of(made: CompilationResult) -> bytes:
    """Return the bytes of the output file."""
    return made.ptx.encode() if made.cubin is None else made.cubin


def show_remarks(remarks: Sequence[Diagnostic]) -> None:
    """Print remarks to standard error."""
    for remark in remarks:
        print(remark.render(), file=sys.stderr)


def show_all_remarks(remarks: Sequence[Remark], others: Sequence[Diagnostic]) -> None:
    """Print remarks of the catalogue by source line, and other diagnostics, to standard error.

    Split loops give the same remark twice.
    """
    # Loaded only to report something.
    from tilewright.support.diagnostics import Severity  # noqa: PLC0415

    show_remarks([each for each in others if each.severity is not Severity.REMARK])
    ordered = sorted(dict.fromkeys(remarks), key=_source_line)
    show_remarks([each.diagnostic() for each in ordered])


def _source_line(remark: Remark) -> tuple[bool, str, int, int]:
    """The key to sort remarks by; those without a location are last."""
    from tilewright.support.source_location import source_location  # noqa: PLC0415

    source = source_location(remark.location)
    if source is None:
        return True, remark.function, 0, 0
    return False, source.file, source.line, source.column


def resource_table(entries: list[Resources]) -> str:
    """Format the resources of each kernel, one line per kernel."""
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
