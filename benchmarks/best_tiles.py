"""Compare two runs of `validation_kernels.py` by the fastest tile of each kernel.

    python benchmarks/best_tiles.py BEFORE AFTER

Each argument is the output of a run: of two compilers, or of two versions of one. Prints a table
with the times of both, how many times as fast AFTER is, and the geometric mean of these ratios,
each capped at 3, so that no kernel stands for several. A kernel that one side rejects, or gets
wrong, with every tile has no ratio.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from statistics import geometric_mean
from typing import Final, NamedTuple

LINE: Final = re.compile(r"(\S+) (\S+) (\S+) \(.*?\) (?:([\d.]+) us .*?( WRONG)?$|\w+:)")
"""A line of the output: kernel, shape and tile; the time, unless it was not timed."""
CAP: Final = 3.0


class Best(NamedTuple):
    """The fastest tile of a kernel."""

    microseconds: float
    tile: str


def best_tiles(output: str) -> dict[str, Best | None]:
    """The fastest right tile of each kernel; None where there is none."""
    best: dict[str, Best | None] = {}
    for match in map(LINE.match, output.splitlines()):
        if match is None:
            continue
        kernel, shape, tile, microseconds, wrong = match.groups()
        name = f"{kernel} {shape}"
        fastest = best.setdefault(name, None)
        if microseconds is None or wrong:
            continue
        timed = Best(float(microseconds), tile)
        best[name] = timed if fastest is None else min(fastest, timed)
    return best


def table(before: Mapping[str, Best | None], after: Mapping[str, Best | None]) -> list[str]:
    """The lines of a table of both, and one with the geometric mean."""
    lines = ["| kernel | before, us | tile | after, us | tile | times as fast |"]
    lines.append("|---|---:|---|---:|---|---:|")
    ratios: list[float] = []
    for name in sorted(before.keys() | after.keys()):
        first, second = before.get(name), after.get(name)
        ratio = ""
        if first and second:
            ratios.append(first.microseconds / second.microseconds)
            ratio = f"{ratios[-1]:.2f}"
        lines.append(f"| {name} | {_cell(first)} | {_cell(second)} | {ratio} |")
    if ratios:
        mean = geometric_mean([min(each, CAP) for each in ratios])
        lines += ["", f"{len(ratios)} kernels: {mean:.3f} in the geometric mean, "
                  f"lowest {min(ratios):.2f}"]  # fmt: skip
    return lines


def _cell(best: Best | None) -> str:
    return f"{best.microseconds:.1f} | {best.tile}" if best else "none | "


def main() -> None:
    """Print the table of two outputs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    given = parser.parse_args()
    print("\n".join(table(*(best_tiles(each.read_text()) for each in (given.before, given.after)))))


if __name__ == "__main__":
    main()
