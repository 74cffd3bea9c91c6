"""Diagnostics that a test file expects, in comments as `mlir-opt --verify-diagnostics` has them.

    // expected-error@+1 {{expects the same types}}
    %0 = "..."

`error`, `warning`, `note` and `remark` are of this line, of another (`@+1`, `@-1`, `@below`,
`@above`), or have no line in this text (`@unknown`). The text in braces is part of the message;
that of `expected-error-re` has regular expressions in further braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.support.diagnostics import Diagnostic, Severity, note
from tilewright.support.location import FileLoc, Location, TextLoc, UnstatedLoc, first

if TYPE_CHECKING:
    from tilewright.support.remarks import Remark

_COMMENT: Final = re.compile(
    r"expected-(error|warning|note|remark)(-re)? *(?:@([+-]\d+|above|below|unknown))? *"
    r"\{\{(.*)\}\}\s*$"
)
_NESTED: Final = re.compile(r"\{\{(.*?)\}\}")


class Expected(NamedTuple):
    """A diagnostic that a comment asks for."""

    severity: Severity
    line: int | None
    """None if the diagnostic is to have no location in the text."""
    text: str
    pattern: re.Pattern[str]
    comment: FileLoc

    def accepts(self, severity: Severity, line: int | None, message: str) -> bool:
        """Whether a diagnostic is the one that is expected."""
        is_there = (severity, line) == (self.severity, self.line)
        return is_there and self.pattern.search(message) is not None


def read_expected(text: str, name: str) -> list[Expected]:
    """Read the comments of a text."""
    lines = text.split("\n")
    comments = [_COMMENT.search(line) for line in lines]
    alone = [
        comment is not None and line.lstrip().startswith("//")
        for line, comment in zip(lines, comments, strict=True)
    ]
    expected: list[Expected] = []
    for index, comment in enumerate(comments):
        if comment is None:
            continue
        severity, is_pattern, designator, words = comment.groups()
        pattern = _with_patterns(words) if is_pattern else re.escape(words)
        line = _line(index, designator, alone)
        at = FileLoc(name, index + 1, comment.start() + 1)
        expected.append(Expected(Severity(severity), line, words, re.compile(pattern), at))
    return expected


def _with_patterns(words: str) -> str:
    parts = _NESTED.split(words)
    return "".join(part if index % 2 else re.escape(part) for index, part in enumerate(parts))


def _line(index: int, designator: str | None, alone: Sequence[bool]) -> int | None:
    """The 1-based line that a comment is about; `alone` says which lines are only comments."""
    if designator is None:
        return index + 1
    if designator == "unknown":
        return None
    if designator not in ("above", "below"):
        return index + 1 + int(designator)
    # Comments may follow each other: all are about the line before or after them.
    step = 1 if designator == "below" else -1
    index += step
    while 0 <= index < len(alone) and alone[index]:
        index += step
    return index + 1


def check_diagnostics(
    expected: Sequence[Expected],
    diagnostics: Iterable[Diagnostic],
    remarks: Sequence[Remark],
    name: str,
) -> list[Diagnostic]:
    """Return an error for each expected diagnostic without a match, and for each unexpected one.

    Optimization remarks, which are printed only on demand, may be expected, but need not be.
    """
    missing = list(expected)
    problems: list[Diagnostic] = []
    for diagnostic in _with_notes(diagnostics):
        line = _line_of(diagnostic.location, name)
        if not _take(missing, diagnostic.severity, line, diagnostic.message):
            problems.append(
                Diagnostic(
                    f"unexpected {diagnostic.severity.value}: {diagnostic.message}",
                    diagnostic.location,
                )
            )
    for remark in remarks:
        _take(missing, Severity.REMARK, _line_of(remark.location, name), remark.message)
    problems += [
        Diagnostic(
            f'expected {each.severity.value} "{each.text}" was not produced',
            each.comment,
            notes=() if each.line else (note("one without a location in this file"),),
        )
        for each in missing
    ]
    return problems


def _take(missing: list[Expected], severity: Severity, line: int | None, message: str) -> bool:
    """Remove the first expectation that a diagnostic meets."""
    for each in missing:
        if each.accepts(severity, line, message):
            missing.remove(each)
            return True
    return False


def _with_notes(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    for diagnostic in diagnostics:
        yield diagnostic
        yield from _with_notes(diagnostic.notes)


def _line_of(location: Location, name: str) -> int | None:
    """The line of a location in the file of a name."""
    position = first(location, _position)
    return position.line if position is not None and position.file == name else None


def _position(location: Location) -> FileLoc | None:
    if isinstance(location, UnstatedLoc):
        location = location.text_location
    if isinstance(location, TextLoc):
        return location.resolve()
    return location if isinstance(location, FileLoc) else None
