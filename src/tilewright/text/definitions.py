"""Aliases: `#name = attribute` and `!name = type`, defined before or after they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.ir.attributes import Attribute, LocationAttr, Type

if TYPE_CHECKING:
    from tilewright.support.location import Location
    from tilewright.text.parser import Parser


class _Alias:
    """What an alias stands for, how deep that nests, and where its definition ends."""

    __slots__ = ("depth", "end", "value")

    def __init__(self, value: Attribute, depth: int, end: int) -> None:
        self.value = value
        self.depth = depth
        self.end = end


class Aliases:
    """The aliases of one text. One that is not known yet is looked for in the rest of the text."""

    __slots__ = ("_defined", "_found", "_open", "_parser", "_places", "locations")

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._found: dict[str, _Alias] = {}
        self._defined: set[str] = set()
        """Those whose definition the cursor has passed."""
        self._open: set[str] = set()
        """Those whose definitions are being read."""
        self._places: dict[str, int] | None = None
        self.locations: dict[str, Location] = {}
        """What the aliases of locations stand for, as far as they have been read."""

    def define(self) -> None:
        """Take a definition, whose name is the current token."""
        parser = self._parser
        start = parser.at
        name = parser.tokens[start]
        if name in self._defined:
            parser.error(f"redefinition of alias '{name}'")
        if "." in name:
            parser.error("alias names have no '.'")
        self._defined.add(name)
        alias = self._found.get(name) or self._read(name, start)
        parser.at = alias.end

    def attribute(self, name: str, at: int) -> Attribute:
        """What `#name`, used at a token, stands for."""
        return self._value(name, at)

    def type(self, name: str, at: int) -> Type:
        """What `!name`, used at a token, stands for."""
        value = self._value(name, at)
        assert isinstance(value, Type)
        return value

    def _value(self, name: str, at: int) -> Attribute:
        alias = self._found.get(name)
        if alias is None:
            alias = self._ahead(name, at)
        parser = self._parser
        if parser.depth + alias.depth > parser.deepest:
            parser.reach(parser.depth + alias.depth)
        return alias.value

    def _ahead(self, name: str, at: int) -> _Alias:
        """An alias that is used before its definition."""
        parser = self._parser
        if self._places is None:
            self._places = _definitions(parser.tokens)
        place = self._places.get(name)
        if place is None:
            parser.error(f"undefined alias '{name}'", at)
        if name in self._open:
            parser.error(f"alias '{name}' is defined by itself", at)
        back = parser.at
        alias = self._read(name, place)
        parser.at = back
        return alias

    def _read(self, name: str, start: int) -> _Alias:
        parser = self._parser
        self._open.add(name)
        before = parser.deepest
        parser.deepest = parser.depth
        parser.enter()
        parser.at = start + 1
        parser.expect("=")
        value = parser.type() if name[0] == "!" else parser.attribute()
        parser.leave()
        alias = _Alias(value, parser.deepest - parser.depth, parser.at)
        parser.deepest = max(before, parser.deepest)
        self._open.remove(name)
        self._found[name] = alias
        if isinstance(value, LocationAttr):
            self.locations[name] = value.location
        return alias


def _definitions(tokens: list[str]) -> dict[str, int]:
    """Where `#name =` or `!name =` stands."""
    equals = [at for at, token in enumerate(tokens) if token == "="]
    starts = (at - 1 for at in reversed(equals) if at)
    return {tokens[at]: at for at in starts if tokens[at][:1] in ("#", "!")}
