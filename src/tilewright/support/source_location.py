"""Resolve locations to files, lines and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.support.location import (
    UNKNOWN,
    CallSiteLoc,
    FileLoc,
    FusedLoc,
    NameLoc,
    TextLoc,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilewright.support.location import Location


def source_location(location: Location) -> FileLoc | None:
    """Return the file, line and column of a location; for inlined code, of the callee."""
    return _resolve(location, lambda call: (call.callee, call.caller))


def caller_location(location: Location) -> FileLoc | None:
    """Return the file, line and column of a location; for inlined code, of the outermost caller."""
    return _resolve(location, lambda call: (call.caller,))


def _resolve(
    location: Location, candidates: Callable[[CallSiteLoc], tuple[Location, ...]]
) -> FileLoc | None:
    """Return the first file position in a location; a call site is searched in the given order."""
    match location:
        case FileLoc():
            return location
        case TextLoc():
            return location.resolve()
        case NameLoc():
            return _resolve(location.child, candidates)
        case CallSiteLoc():
            parts = candidates(location)
        case FusedLoc():
            parts = location.locations
        case _:
            # A location attribute of a dialect wraps another location.
            inner: Location | None = getattr(location, "location", None)
            return None if inner is None else _resolve(inner, candidates)
    resolved = (_resolve(part, candidates) for part in parts)
    return next((position for position in resolved if position is not None), None)


def call_sites(location: Location) -> list[CallSiteLoc]:
    """Return the call sites through which a location was inlined, outermost first."""
    match location:
        case NameLoc():
            return call_sites(location.child)
        case FusedLoc():
            resolved = (each for each in location.locations if source_location(each) is not None)
            return call_sites(next(resolved, UNKNOWN))
        case CallSiteLoc(callee=CallSiteLoc(callee=inner, caller=middle), caller=outer):
            return call_sites(CallSiteLoc(inner, CallSiteLoc(middle, outer)))
        case CallSiteLoc() if source_location(location.callee) is not None:
            return [*call_sites(location.caller), location]
        case _:
            return []
