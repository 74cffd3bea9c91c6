"""Format diagnostics for front ends: `loc("file":line:column) in function: error: message`.

This abbreviates the form of NVIDIA's compiler, whose locations also name the function. Without
the function, cuTile Python 1.7 mistakes a location for one of its own and fails to print it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.support.location import ByteLoc, CallSiteLoc
from tilewright.support.source_location import function_of, source_location

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.support.diagnostics import Diagnostic
    from tilewright.support.location import Location

CALLED: Final = "note: called from here"


def message(diagnostics: Iterable[Diagnostic]) -> str:
    """Format diagnostics, one per line, with their notes and call stacks."""
    # Loaded only to report something.
    from tilewright.support.quoting import one_line  # noqa: PLC0415

    return "\n".join(one_line(line) for each in diagnostics for line in _lines(each))


def with_location(location: Location, text: str) -> str:
    """Prefix a text with its location."""
    source = source_location(location)
    if source is not None:
        function = function_of(location)
        inside = f" in {function}" if function else ""
        return f'loc("{source.file}":{source.line}:{source.column}){inside}: {text}'
    inner = getattr(location, "location", location)
    # Without debug information, an operation has its byte offset as location.
    return f"{text} (byte {inner.offset} of the input)" if isinstance(inner, ByteLoc) else text


def _lines(diagnostic: Diagnostic) -> Iterator[str]:
    yield with_location(diagnostic.location, f"{diagnostic.severity.value}: {diagnostic.message}")
    location = diagnostic.location
    while isinstance(location, CallSiteLoc):
        location = location.caller
        if source_location(location) is not None:
            yield with_location(location, CALLED)
    for note in diagnostic.notes:
        yield from _lines(note)
