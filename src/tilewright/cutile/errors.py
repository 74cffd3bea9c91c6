"""Errors of running kernels in terms of the Python program: its lines, calls and functions."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

from tilewright.cutile.python_source import PythonLoc
from tilewright.cutile.versions import cutile
from tilewright.dialects.cuda_tile.debug_info import DILoc
from tilewright.support.cutile_names import cutile_function
from tilewright.support.diagnostics import Diagnostic, Error, note
from tilewright.support.location import (
    UNKNOWN,
    CallSiteLoc,
    FileLoc,
    Location,
    TextLoc,
    first,
    innermost,
)


@contextmanager
def python_errors() -> Generator[None]:
    """Let errors of the program that runs inside show its Python source."""
    try:
        yield
    except Error as error:
        error.diagnostics = tuple(in_python(each) for each in error.diagnostics)
        error.args = (error.headline(),)
        raise


def in_python(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic at the Python line, about the function that the program calls there."""
    location, notes = _python_location(diagnostic.location), list(diagnostic.notes)
    generated = _generated(diagnostic.location)
    source = None if generated is None else first(diagnostic.location, _file_leaf)
    # The emulator notes the source line, which is the location here.
    notes = [each for each in notes if not _is_at(each.location, source)]
    if generated is not None and location is not UNKNOWN:
        notes.insert(0, note("in the generated code", generated))
    elif location is UNKNOWN:
        location = diagnostic.location
    text = diagnostic.text
    if diagnostic.subject or generated is not None:
        spelling = _spelling(diagnostic.subject, location)
        text = f"{spelling}: {text}" if spelling else text
    shown = tuple(in_python(each) for each in notes)
    return Diagnostic(text, location, diagnostic.severity, shown)


def _is_at(location: Location, source: FileLoc | None) -> bool:
    """Whether the innermost line of a location is this one."""
    return source is not None and first(location, _file_leaf) == source


def _spelling(op: str, location: Location) -> str:
    leaf = first(innermost(location), _python_leaf)
    spelling = None if leaf is None else leaf.spelling(op)
    return spelling or cutile_function(op) or op


def _python_leaf(location: Location) -> PythonLoc | None:
    return location if isinstance(location, PythonLoc) else None


def _file_leaf(location: Location) -> FileLoc | None:
    return location if isinstance(location, FileLoc) else None


def _generated(location: Location) -> Location | None:
    """The location in generated PTX, if the emulator reports one."""
    return first(location, lambda each: each if isinstance(each, TextLoc) else None)


def _python_location(location: Location) -> Location:
    """Locations of the program with its calls; those inside of cuTile are left out."""
    match location:
        case CallSiteLoc(callee=callee, caller=caller):
            inner, outer = _python_location(callee), _python_location(caller)
            if inner is UNKNOWN or outer is UNKNOWN:
                return outer if inner is UNKNOWN else inner
            return CallSiteLoc(inner, outer)
        case DILoc(location=inner, scope=scope):
            source = _python_location(inner)
            return source if source is UNKNOWN else DILoc(source, scope)
        case FileLoc(file=file, line=line, column=column) if line and not _is_cutile(file):
            return PythonLoc(file, line, column)
        case _:
            parts = (_python_location(part) for part in location.parts())
            return next((part for part in parts if part is not UNKNOWN), UNKNOWN)


def _is_cutile(file: str) -> bool:
    """Whether a file is a part of cuTile, whose functions are written in Python."""
    folder = os.path.dirname(os.path.abspath(str(cutile().__file__)))
    return file.startswith(folder + os.sep)
