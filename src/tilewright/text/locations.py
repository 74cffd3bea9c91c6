"""Parse locations: `loc(...)` in all of MLIR's forms, and those of dialects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tilewright.ir.attributes import LocationAttr
from tilewright.support.location import (
    MAX_POSITION,
    UNKNOWN,
    CallSiteLoc,
    FileLoc,
    FusedLoc,
    Location,
    NameLoc,
    UnstatedLoc,
)

if TYPE_CHECKING:
    from tilewright.text.parser import Parser


def read_parenthesised(parser: Parser) -> Location:
    """Parse `loc(...)`, which starts at the current token."""
    parser.at += 1
    parser.expect("(")
    location = read_instance(parser)
    parser.expect(")")
    return location


def read_trailing(parser: Parser) -> Location:
    """Parse the trailing `loc(...)` of an operation, with a fast path for known aliases."""
    tokens, at = parser.tokens, parser.at
    if tokens[at + 3] == ")" and tokens[at + 1] == "(":
        known = parser.aliases.locations.get(tokens[at + 2])
        if known is not None:
            parser.at = at + 4
            return known
    return read_parenthesised(parser)


def read_instance(parser: Parser) -> Location:
    """Parse the contents of `loc(...)`, or a nested `loc(...)`."""
    token = parser.tokens[parser.at]
    if token[:1] == "#":
        return _attribute(parser)
    reader = _name_or_file if token[:1] == '"' else _READERS.get(token)
    if reader is None:
        parser.unexpected("a location")
    parser.enter()
    location = reader(parser)
    parser.leave()
    return location


def _part(parser: Parser) -> Location:
    """Parse a location inside another one; if it is unknown, diagnostics show its text location."""
    start = parser.at
    location = read_instance(parser)
    return _unstated(parser, start) if location is UNKNOWN else location


def _unstated(parser: Parser, at: int) -> Location:
    return UnstatedLoc(parser.location(at))


def _attribute(parser: Parser) -> Location:
    """Parse an alias, or a location that a dialect defines."""
    start = parser.at
    attribute = parser.attribute()
    if not isinstance(attribute, LocationAttr):
        parser.error("expected a location", start)
    return attribute.location


def _unknown(parser: Parser) -> Location:
    parser.at += 1
    return UNKNOWN


def _name_or_file(parser: Parser) -> Location:
    start = parser.at
    text = parser.string()
    if "\0" in text:
        parser.error("expected a name without NUL characters", start)
    if parser.accept(":"):
        return _file(parser, text)
    if not parser.accept("("):
        return NameLoc(text, _unstated(parser, start))
    child = _part(parser)
    parser.expect(")")
    return NameLoc(text, child)


def _file(parser: Parser, name: str) -> Location:
    """Parse `line:column` with an optional `to line:column` or `to :column`."""
    line = _position(parser)
    # A line alone is a range that starts at the first column.
    column = _position(parser) if parser.accept(":") else 0
    if not parser.accept("to"):
        return FileLoc(name, line, column)
    end_line = line if parser.peek() == ":" else _position(parser)
    parser.expect(":")
    return FileLoc(name, line, column, (end_line, _position(parser)))


def _position(parser: Parser) -> int:
    start = parser.at
    number = parser.integer()
    if not 0 <= number <= MAX_POSITION:
        parser.error("expected a line or column of at most 32 bits", start)
    return number


def _callsite(parser: Parser) -> Location:
    parser.at += 1
    parser.expect("(")
    callee = _part(parser)
    parser.expect("at")
    caller = _part(parser)
    parser.expect(")")
    return CallSiteLoc(callee, caller)


def _fused(parser: Parser) -> Location:
    parser.at += 1
    metadata = None
    if parser.accept("<"):
        metadata = parser.attribute()
        parser.expect(">")
    return FusedLoc(tuple(parser.listed(lambda: _part(parser), "[", "]")), metadata)


_READERS: Final[dict[str, Callable[[Parser], Location]]] = {
    "callsite": _callsite,
    "fused": _fused,
    "loc": read_parenthesised,
    "unknown": _unknown,
}
