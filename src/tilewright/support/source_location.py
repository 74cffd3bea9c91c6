"""Resolve locations to files, lines and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilewright.support.location import (
    MAX_CALL_SITES,
    CallSiteLoc,
    FileLoc,
    FusedLoc,
    NameLoc,
    TextLoc,
    callee_parts,
    caller_parts,
    first,
)

if TYPE_CHECKING:
    from tilewright.support.location import Location


def source_location(location: Location) -> FileLoc | None:
    """Return the file, line and column of a location; for inlined code, of the callee."""
    return first(location, _position)


def caller_location(location: Location) -> FileLoc | None:
    """Return the file, line and column of a location; for inlined code, of the outermost caller."""
    return first(location, _position, caller_parts)


def function_of(location: Location) -> str:
    """Return the function of a location, for inlined code the callee; empty if unknown."""
    return first(location, _function_of_scope, callee_parts) or ""


def _function_of_scope(location: Location) -> str | None:
    scope: Any = getattr(location, "scope", None)
    while scope is not None and not hasattr(scope, "name"):
        scope = scope.scope
    return None if scope is None else scope.name or None


def _position(location: Location) -> FileLoc | None:
    if isinstance(location, TextLoc):
        return location.resolve()
    return location if isinstance(location, FileLoc) else None


def _resolved(location: Location) -> Location | None:
    is_known = not isinstance(location, NameLoc | FusedLoc) and source_location(location)
    return location if is_known else None


def _members(location: Location) -> tuple[Location, ...]:
    return location.parts() if isinstance(location, NameLoc | FusedLoc) else ()


def call_sites(location: Location | None) -> list[CallSiteLoc]:
    """Return the call sites through which a location was inlined, outermost first.

    Of more than `MAX_CALL_SITES`, the innermost are returned.
    """
    sites: list[CallSiteLoc] = []
    while len(sites) < MAX_CALL_SITES:
        match location:
            case NameLoc() | FusedLoc():
                location = first(location, _resolved, _members)
            case CallSiteLoc(callee=CallSiteLoc(callee=inner, caller=middle), caller=outer):
                location = CallSiteLoc(inner, CallSiteLoc(middle, outer))
            case CallSiteLoc() if source_location(location.callee) is not None:
                sites.append(location)
                location = location.caller
            case _:
                break
    return sites[::-1]
