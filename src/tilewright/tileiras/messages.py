"""Errors as front ends show them: `loc("file":line:column) in function: error: message`.

This is the form of the original, whose locations name the function too, only shorter. Without the
function cuTile Python 1.7 takes a location for one of its own, and cannot print its error then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tilewright.support.location import ByteLoc, CallSiteLoc, FusedLoc, NameLoc
from tilewright.support.source_place import source_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.support.diagnostics import Diagnostic
    from tilewright.support.location import Location

CALLED: Final = "note: called from here"


def message(diagnostics: Iterable[Diagnostic]) -> str:
    """All of them, a line each, with their notes and the calls that led there."""
    return "\n".join(line for diagnostic in diagnostics for line in _lines(diagnostic))


def placed(location: Location, text: str) -> str:
    """A text with the place that it speaks of in front."""
    place = source_place(location)
    if place is not None:
        function = _function(location)
        inside = f" in {function}" if function else ""
        return f'loc("{place.file}":{place.line}:{place.column}){inside}: {text}'
    inner = getattr(location, "location", location)
    # Without debug information an operation is known by its place in the bytecode.
    return f"{text} (byte {inner.offset} of the input)" if isinstance(inner, ByteLoc) else text


def _function(location: Location) -> str:
    """The function that a place is in, of inlined code the inner one; empty if nothing says it."""
    match location:
        case CallSiteLoc():
            return _function(location.callee)
        case FusedLoc():
            names = map(_function, location.locations)
            return next((name for name in names if name), "")
        case NameLoc():
            return _function(location.child)
        case _:
            scope: Any = getattr(location, "scope", None)
            while scope is not None and not hasattr(scope, "name"):
                scope = scope.scope
            return "" if scope is None else scope.name


def _lines(diagnostic: Diagnostic) -> Iterator[str]:
    yield placed(diagnostic.location, f"{diagnostic.severity.value}: {diagnostic.message}")
    location = diagnostic.location
    while isinstance(location, CallSiteLoc):
        location = location.caller
        if source_place(location) is not None:
            yield placed(location, CALLED)
    for note in diagnostic.notes:
        yield from _lines(note)
