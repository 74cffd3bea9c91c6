"""Errors of the emulator in terms of the Triton program: its lines and its calls."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, NamedTuple

from tilewright.support.diagnostics import Diagnostic, Error, note
from tilewright.support.location import (
    UNKNOWN,
    CallSiteLoc,
    FileLoc,
    Location,
    TextLoc,
    first,
)
from tilewright.support.python_location import PythonSourceLoc

_SOURCE_LINE: Final = "source line"
"""The note of the emulator that has the line of `.loc`, which is the location here."""


class TritonSource(NamedTuple):
    """How Triton writes the line information of kernels."""

    folder: str
    """The folder of Triton, whose functions are written in Triton too: lines there are left out
    where the program calls them."""
    first_column: int
    """The number of the first column of a line."""


@contextmanager
def triton_errors(triton: TritonSource) -> Generator[None]:
    """Let errors of a kernel that runs inside show its Triton source."""
    try:
        yield
    except Error as error:
        error.diagnostics = tuple(_at_source(each, triton) for each in error.diagnostics)
        error.args = (error.headline(),)
        raise


def _at_source(diagnostic: Diagnostic, triton: TritonSource) -> Diagnostic:
    generated = first(diagnostic.location, _text_leaf)
    if generated is None:
        return diagnostic
    notes = list(diagnostic.notes)
    # The note has the calls of the line; the location of the diagnostic may have the line alone.
    lines = [each.location for each in notes if each.text == _SOURCE_LINE]
    source = _in_program(lines[0] if lines else diagnostic.location, triton)
    shown = [_at_source(each, triton) for each in notes if each.text != _SOURCE_LINE]
    if source is UNKNOWN:
        return Diagnostic(diagnostic.text, generated, diagnostic.severity, tuple(shown))
    shown.insert(0, note("in the generated code", generated))
    return Diagnostic(diagnostic.text, source, diagnostic.severity, tuple(shown))


def _text_leaf(location: Location) -> TextLoc | None:
    return location if isinstance(location, TextLoc) else None


def _in_program(location: Location, triton: TritonSource) -> Location:
    """The lines of the program: those of Triton only if no other is known."""
    source = _lines(location, triton)
    return _lines(location, triton._replace(folder="")) if source is UNKNOWN else source


def _lines(location: Location, triton: TritonSource) -> Location:
    match location:
        case CallSiteLoc(callee=callee, caller=caller):
            inner, outer = _lines(callee, triton), _lines(caller, triton)
            if inner is UNKNOWN or outer is UNKNOWN:
                return outer if inner is UNKNOWN else inner
            return CallSiteLoc(inner, outer)
        case FileLoc(file=file, line=line, column=column):
            if not line or _is_inside(file, triton.folder):
                return UNKNOWN
            return PythonSourceLoc(file, line, max(column - triton.first_column, 0))
        case _:
            parts = (_lines(part, triton) for part in location.parts())
            return next((part for part in parts if part is not UNKNOWN), UNKNOWN)


def _is_inside(file: str, folder: str) -> bool:
    return bool(folder) and os.path.abspath(file).startswith(folder + os.sep)
