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
    from tilewright.support.location import Location


def source_location(location: Location) -> FileLoc | None:
    """Return the file, line and column of a location; for inlined code, of the callee."""
    match location:
        case FileLoc():
            return location
        case TextLoc():
            return location.resolve()
        case NameLoc():
            return source_location(location.child)
        case CallSiteLoc():
            return source_location(location.callee) or source_location(location.caller)
        case FusedLoc():
            resolved = map(source_location, location.locations)
            return next(
                (file_location for file_location in resolved if file_location is not None), None
            )
        case _:
            # A location attribute of a dialect wraps another location.
            inner: Location | None = getattr(location, "location", None)
            return None if inner is None else source_location(inner)


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
