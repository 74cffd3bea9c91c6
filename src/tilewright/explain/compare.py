"""Compare two reports: figures that differ, and a diff of each level."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.explain.figures import kernel_figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.explain.report import LevelText, Report

CONTEXT: Final = 2
SHOWN: Final = 24
"""Lines of a diff in the terminal: the page has all of them."""
_NUMBER: Final = re.compile(r"([%#!$^][A-Za-z_$]*)[\d_]+(?![\w.])")
"""The number of a value, register, alias, label or metadata node."""
WIDEST: Final = 160
LONGEST: Final = 20_000
"""Lines up to which a diff is computed: its time is quadratic in the worst case."""


class Difference(NamedTuple):
    """A figure of a kernel in both compilations; empty where a compilation lacks it."""

    kernel: str
    figure: str
    left: str
    right: str

    @property
    def differs(self) -> bool:
        """Whether the values are not the same."""
        return self.left != self.right


class LevelDiff(NamedTuple):
    """The differing lines of a level, with some lines around them."""

    name: str
    removed: int
    added: int
    lines: Sequence[str]
    """In the form of a unified diff, without its header."""


def figures(left: Report, right: Report) -> list[Difference]:
    """The figures of all kernels of both reports, side by side.

    Where both have one kernel, they are compared whatever their names are.
    """
    one = {kernel.name: dict(kernel_figures(kernel)) for kernel in left.kernels}
    other = {kernel.name: dict(kernel_figures(kernel)) for kernel in right.kernels}
    pairs = [(name, name, name) for name in dict.fromkeys([*one, *other])]
    if len(one) == len(other) == 1 and one.keys() != other.keys():
        (first,), (second,) = one, other
        pairs = [(f"{first}, {second}", first, second)]
    rows: list[Difference] = []
    for title, first, second in pairs:
        before, after = one.get(first, {}), other.get(second, {})
        rows += [
            Difference(title, name, before.get(name, ""), after.get(name, ""))
            for name in dict.fromkeys([*before, *after])
        ]
    return rows


def level_diffs(left: Report, right: Report) -> list[LevelDiff]:
    """A diff of each level that both reports have."""
    others = {level.name: level for level in right.levels}
    return [_diff(level, others[level.name]) for level in left.levels if level.name in others]


def _diff(left: LevelText, right: LevelText) -> LevelDiff:
    """Compare lines without the numbers of values, registers, aliases and metadata.

    These numbers change in all lines after the first difference.
    """
    before, after = list(left.lines), list(right.lines)
    if len(before) + len(after) > LONGEST:
        return LevelDiff(left.name, 0, 0, [f"more than {LONGEST} lines: not compared"])
    matcher = SequenceMatcher(None, _unnumbered(before), _unnumbered(after), autojunk=False)
    lines: list[str] = []
    for group in matcher.get_grouped_opcodes(CONTEXT):
        if all(tag == "equal" for tag, *_ in group):
            continue
        lines.append(f"@@ A {group[0][1] + 1}, B {group[0][3] + 1} @@")
        for tag, start, end, other, other_end in group:
            if tag == "equal":
                lines += [f" {line}" for line in before[start:end]]
            else:
                lines += [f"-{line}" for line in before[start:end]]
                lines += [f"+{line}" for line in after[other:other_end]]
    removed = sum(line.startswith("-") for line in lines)
    added = sum(line.startswith("+") for line in lines)
    return LevelDiff(left.name, removed, added, lines)


def _unnumbered(lines: Sequence[str]) -> list[str]:
    return [_NUMBER.sub(r"\1", line) for line in lines]


def text_comparison(left: Report, right: Report) -> str:
    """The comparison for a terminal."""
    return "\n".join(_comparison(left, right))


def _comparison(left: Report, right: Report) -> Iterator[str]:
    yield f"A: {left.title} for {left.arch}, {left.options}"
    yield f"B: {right.title} for {right.arch}, {right.options}"
    rows = figures(left, right)
    differing = [row for row in rows if row.differs]
    yield ""
    yield f"figures: {len(differing)} of {len(rows)} differ"
    if differing:
        table = [("", "", "A", "B"), *differing]
        widths = [max(len(row[column]) for row in table) for column in range(4)]
        for row in table:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            yield "  " + "  ".join(cells).rstrip()
    for diff in level_diffs(left, right):
        yield ""
        if not diff.lines:
            yield f"{diff.name}: the same"
            continue
        yield f"{diff.name}: {diff.removed} lines of A, {diff.added} lines of B"
        yield from (f"  {_shortened(line)}" for line in diff.lines[:SHOWN])
        if len(diff.lines) > SHOWN:
            yield f"  ... {len(diff.lines) - SHOWN} more lines"


def _shortened(line: str) -> str:
    return line if len(line) <= WIDEST else f"{line[:WIDEST]}..."
