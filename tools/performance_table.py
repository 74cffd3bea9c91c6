"""Summarize the table of all rows by group of benchmarks, on `docs/performance.md`.

python tools/performance_table.py
"""

from __future__ import annotations

import re
from pathlib import Path
from statistics import geometric_mean
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parent.parent
ROWS: Final = ROOT / "benchmarks" / "results" / "rows-h200.md"
PAGE: Final = ROOT / "docs" / "performance.md"
BEGIN: Final = (
    "<!-- computed from benchmarks/results/rows-h200.md by tools/performance_table.py: begin -->\n"
)
END: Final = (
    "<!-- computed from benchmarks/results/rows-h200.md by tools/performance_table.py: end -->\n"
)
HEAD: Final = """\
| benchmarks | rows | of tileiras: mean | lowest | highest | of torch: mean | lowest | highest |
|---|---:|---:|---:|---:|---:|---:|---:|
"""


class Row(NamedTuple):
    """One benchmark: the speed of Tilewright relative to the others."""

    name: str
    of_tileiras: float
    of_torch: float | None

    @property
    def group(self) -> str:
        """The kernel, and the direction of layer norm."""
        kernel, _, sizes = self.name.partition("[")
        is_norm = kernel == "layer_norm"
        return f"{kernel} {sizes.rstrip(']').rpartition('-')[2]}" if is_norm else kernel


def read_rows() -> list[Row]:
    """The rows of the table "All rows"."""
    lines = re.findall(r"^\| `(\w+\[[^]]+\])` \| (.*) \|$", ROWS.read_text("utf-8"), re.MULTILINE)
    rows: list[Row] = []
    for name, rest in lines:
        ours, tileiras, torch, *_ = (cell.strip().replace(",", "") for cell in rest.split("|"))
        of_torch = float(torch) / float(ours) if torch else None
        rows.append(Row(name, float(tileiras) / float(ours), of_torch))
    return rows


def table() -> str:
    """The summary as Markdown."""
    rows = read_rows()
    groups = dict.fromkeys(row.group for row in rows)
    lines = [_line(f"`{name}`", [row for row in rows if row.group == name]) for name in groups]
    return HEAD + "".join(lines) + _line("all", rows)


def _line(name: str, rows: list[Row]) -> str:
    figures = [_figures([row.of_tileiras for row in rows])]
    figures.append(_figures([row.of_torch for row in rows if row.of_torch is not None]))
    return f"| {name} | {len(rows)} | {' | '.join(figures)} |\n"


def _figures(speeds: list[float]) -> str:
    numbers = (geometric_mean(speeds), min(speeds), max(speeds))
    return " | ".join(f"{number:.2f}" for number in numbers)


def page() -> str:
    """The page with the table of today."""
    before, begin, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin
    assert end
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
