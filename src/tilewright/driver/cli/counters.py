"""Print the performance counters of the PTX emulator, as tables or JSON."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Final

from tilewright.driver.cli.options import Option
from tilewright.driver.files import write_line, write_output

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tilewright.driver.cli.options import Arguments
    from tilewright.ptxsim import Counters

COUNTER_OPTIONS: Final = (
    Option(
        "--counters",
        help="print performance counters of the emulator: instructions, bytes and sectors, bank "
        "conflicts, waits and divergence, and those of source lines",
    ),
    Option("--counters-json", metavar="FILE", help="write the counters as JSON; `-` prints them"),
)
"""Options of commands that run kernels on the emulator."""

_LINE_HEAD: Final = (
    "line", "instructions", "divergent", "predicated off", "sectors", "requests", "conflicts",
    "waits",
)  # fmt: skip


def wants_counters(arguments: Arguments) -> bool:
    """Whether a command line asks for counters."""
    return arguments.flag("counters") or arguments.flag("counters-json")


def show_counters(arguments: Arguments, counters: Counters) -> None:
    """Print or write the counters that a command line asks for."""
    if arguments.flag("counters"):
        write_line(summary(counters))
        lines = line_table(counters)
        if lines:
            write_line(f"\n{lines}")
    if arguments.flag("counters-json"):
        import json  # noqa: PLC0415

        text = json.dumps(counters.as_dict(), indent=2) + "\n"
        write_output(arguments["counters-json"], text.encode())


def summary(counters: Counters) -> str:
    """Format the counters of a launch, one per line."""
    rows = [("thread instructions", counters.thread_instructions)]
    rows += _section(counters.by_family.items(), "  ")
    rows += [
        ("  predicated off", counters.predicated_off),
        ("warp instructions", counters.warp_instructions),
        ("  divergent", counters.divergent_instructions),
    ]
    rows += _section(counters.bytes_moved.items(), "bytes, ")
    rows += _section(counters.sectors.items(), "sectors, ")
    rows += [
        ("shared memory requests", counters.shared_requests),
        ("  bank conflicts", counters.bank_conflicts),
    ]
    rows += _section(counters.waits.items(), "waits, ")
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {count:>15,}" for name, count in rows)


def line_table(counters: Counters) -> str:
    """Format the lines that access memory, diverge or wait; empty if there are none."""
    rows: list[tuple[str, ...]] = [_LINE_HEAD]
    for (file, line), each in sorted(counters.by_line.items()):
        instructions, *others = astuple(each)
        if any(others):
            rows.append((f"{file}:{line}", *(f"{count:,}" for count in (instructions, *others))))
    if len(rows) == 1:
        return ""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    )


def _section(items: Iterable[tuple[str, int]], prefix: str) -> list[tuple[str, int]]:
    """Sort rows by decreasing count."""
    ordered = sorted(items, key=lambda item: (-item[1], item[0]))
    return [(f"{prefix}{name.replace('_', ' ')}", count) for name, count in ordered]
