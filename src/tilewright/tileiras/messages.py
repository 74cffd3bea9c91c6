"""Errors in the form that front ends read: `loc("file":line:column): error: message`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.support.location import ByteLoc, CallSiteLoc
from tilewright.support.source_place import source_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.support.diagnostics import Diagnostic
    from tilewright.support.location import Location


def message(diagnostics: Iterable[Diagnostic]) -> str:
    """All of them, a line each, with their notes and the calls that led there."""
    return "\n".join(line for diagnostic in diagnostics for line in _lines(diagnostic))


def placed(location: Location, text: str) -> str:
    """A text with the place that it speaks of in front."""
    place = source_place(location)
    if place is not None:
        return f'loc("{place.file}":{place.line}:{place.column}): {text}'
    inner = getattr(location, "location", location)
    # Without debug information an operation is known by its place in the bytecode.
    return f"{text} (byte {inner.offset} of the input)" if isinstance(inner, ByteLoc) else text


def _lines(diagnostic: Diagnostic) -> Iterator[str]:
    yield placed(diagnostic.location, f"{diagnostic.severity.value}: {diagnostic.message}")
    location = diagnostic.location
    while isinstance(location, CallSiteLoc):
        location = location.caller
        if source_place(location) is not None:
            yield placed(location, "note: called from here")
    for note in diagnostic.notes:
        yield from _lines(note)
