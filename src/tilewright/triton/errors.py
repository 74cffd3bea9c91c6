"""Errors of the emulator in terms of the Triton program: its lines, and the calls that led there."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

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


@contextmanager
def triton_errors(folder: str, hint: str) -> Generator[None]:
    """Let errors of a kernel that runs inside show its Triton source.

    `folder` is that of Triton, whose functions are written in Triton too: lines there are left out
    where the program calls them. `hint` is a note for errors without any line.
    """
    try:
        yield
    except Error as error:
        error.diagnostics = tuple(_at_source(each, folder, hint) for each in error.diagnostics)
        error.args = (error.headline(),)
        raise


def _at_source(diagnostic: Diagnostic, folder: str, hint: str) -> Diagnostic:
    generated = first(diagnostic.location, _text_leaf)
    if generated is None:
        return diagnostic
    notes = list(diagnostic.notes)
    # The note has the calls of the line; the location of the diagnostic may have the line alone.
    lines = [each.location for each in notes if each.text == _SOURCE_LINE]
    source = _in_program(lines[0] if lines else diagnostic.location, folder)
    shown = [_at_source(each, folder, "") for each in notes if each.text != _SOURCE_LINE]
    if source is UNKNOWN:
        more = [note(hint)] if hint else []
        return Diagnostic(
            diagnostic.text, generated, diagnostic.severity, (*shown, *more)
        )
    shown.insert(0, note("in the generated code", generated))
    return Diagnostic(diagnostic.text, source, diagnostic.severity, tuple(shown))


def _text_leaf(location: Location) -> TextLoc | None:
    return location if isinstance(location, TextLoc) else None


def _in_program(location: Location, folder: str) -> Location:
    """The lines of the program: those of Triton only if no other is known."""
    source = _lines(location, folder)
    return _lines(location, "") if source is UNKNOWN else source


def _lines(location: Location, folder: str) -> Location:
    match location:
        case CallSiteLoc(callee=callee, caller=caller):
            inner, outer = _lines(callee, folder), _lines(caller, folder)
            if inner is UNKNOWN or outer is UNKNOWN:
                return outer if inner is UNKNOWN else inner
            return CallSiteLoc(inner, outer)
        case FileLoc(file=file, line=line, column=column):
            is_hidden = bool(folder) and os.path.abspath(file).startswith(folder + os.sep)
            return UNKNOWN if is_hidden or not line else PythonSourceLoc(file, line, column)
        case _:
            parts = (_lines(part, folder) for part in location.parts())
            return next((part for part in parts if part is not UNKNOWN), UNKNOWN)
