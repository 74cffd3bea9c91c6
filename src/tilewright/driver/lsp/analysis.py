"""Analyse one document: its errors and its index, with ranges as character offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.cuda_tile.versions import version_problems
from tilewright.driver.assembly import is_disassembly, tile_module
from tilewright.driver.registry import context
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Diagnostic, Error, Severity, Sink
from tilewright.text.cursor import BYTE_ORDER_MARK
from tilewright.text.index import index_text

if TYPE_CHECKING:
    from tilewright.ir.declare import Version
    from tilewright.ir.operation import Operation
    from tilewright.text.index import Index

Range = tuple[int, int]
"""The character offsets of the start and the end."""


class Problem(NamedTuple):
    """A diagnostic in the document, with its notes."""

    range: Range
    message: str
    severity: Severity
    notes: tuple[tuple[Range, str], ...] = ()


class Analysis:
    """What is known about one version of a document."""

    __slots__ = ("index", "problems", "text")

    def __init__(self, text: str, index: Index | None, problems: list[Problem]) -> None:
        self.text = text
        self.index = index
        """None if the text has no tokens, because it is binary."""
        self.problems = problems


def analyse(text: str, name: str, version: Version) -> Analysis:
    """Parse and verify a document; `version` is the version of Tile IR that it is written for."""
    # Offsets stay those of the editor.
    if text.startswith(BYTE_ORDER_MARK):
        text = " " + text[1:]
    try:
        index, module, errors = index_text(text, context(), name, "cuda_tile")
    except Error as error:
        return Analysis(text, None, [_without_index(each, text) for each in error.diagnostics])
    if module is not None:
        errors = _verified(module, name, version)
    return Analysis(text, index, [_problem(each, index) for each in errors])


def _verified(root: Operation, name: str, version: Version) -> list[Diagnostic]:
    sink = Sink()
    try:
        module = tile_module(root, name) if is_disassembly(root) else root
        verify(module, sink)
        if not any(sink.errors):
            sink.diagnostics += version_problems(module, version)
    except Error as error:
        sink.diagnostics += error.diagnostics
    return sink.diagnostics


def _problem(diagnostic: Diagnostic, index: Index) -> Problem:
    at = index.location_range(diagnostic.location) or (0, 0)
    notes: list[tuple[Range, str]] = []
    message = diagnostic.message
    for note in diagnostic.notes:
        range = index.location_range(note.location)
        if range is None:
            message = f"{message}\n{note.message}"
        else:
            notes.append((range, note.message))
    return Problem(at, message, diagnostic.severity, tuple(notes))


def _without_index(diagnostic: Diagnostic, text: str) -> Problem:
    end = text.find("\n")
    return Problem((0, end if end >= 0 else len(text)), diagnostic.message, diagnostic.severity)
