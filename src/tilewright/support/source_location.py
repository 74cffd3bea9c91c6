"""The place in a file that a location stands for."""

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
    """The file, line and column of a location; of inlined code those of the inner place."""
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
            places = map(source_location, location.locations)
            return next((place for place in places if place is not None), None)
        case _:
            # A dialect's own location is a place with more about it.
            inner: Location | None = getattr(location, "location", None)
            return None if inner is None else source_location(inner)


def call_sites(location: Location) -> list[CallSiteLoc]:
    """The calls that the code of a place was inlined for, the outermost first."""
    match location:
        case NameLoc():
            return call_sites(location.child)
        case FusedLoc():
            places = (each for each in location.locations if source_location(each) is not None)
            return call_sites(next(places, UNKNOWN))
        case CallSiteLoc(callee=CallSiteLoc(callee=inner, caller=middle), caller=outer):
            return call_sites(CallSiteLoc(inner, CallSiteLoc(middle, outer)))
        case CallSiteLoc() if source_location(location.callee) is not None:
            return [*call_sites(location.caller), location]
        case _:
            return []
