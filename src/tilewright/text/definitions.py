"""Alias definitions, `#name = attribute` and `!name = type`, before or after their uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

from tilewright.ir.attributes import Attribute, LocationAttr, Parametric, Type

if TYPE_CHECKING:
    from tilewright.support.location import Location
    from tilewright.text.parser import Parser


MAX_TREE_SIZE: Final = 4096
MAX_REPETITION: Final = 8
"""The attributes for each token of a long definition."""


class _Alias:
    """The value of an alias, its nesting, and the end of its definition."""

    __slots__ = ("end", "nesting", "value")

    def __init__(self, value: Attribute, nesting: int, end: int) -> None:
        self.value = value
        self.nesting = nesting
        self.end = end


class Aliases:
    """The aliases of one text; forward references are resolved in the rest of the text."""

    __slots__ = (
        "_defined",
        "_offsets",
        "_open",
        "_parsed",
        "_parser",
        "_sizes",
        "_unread",
        "locations",
    )

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._parsed: dict[str, _Alias] = {}
        self._defined: set[str] = set()
        """Aliases whose definition the cursor has passed."""
        self._open: set[str] = set()
        """Aliases whose definition is being parsed."""
        self._offsets: dict[str, int] | None = None
        self._unread: Iterator[tuple[str, int]] = iter(())
        """The definitions after the first forward reference, in the order of the text."""
        self._sizes: dict[Parametric, int] = {}
        """The sizes as trees of attributes in definitions."""
        self.locations: dict[str, Location] = {}
        """The values of parsed location aliases."""

    def define(self) -> None:
        """Parse a definition, whose name is the current token."""
        parser = self._parser
        start = parser.at
        name = parser.tokens[start]
        if name in self._defined:
            parser.error(f"redefinition of alias '{name}'")
        if "." in name:
            parser.error("alias names have no '.'")
        self._defined.add(name)
        alias = self._parsed.get(name) or self._read(name, start)
        parser.at = alias.end

    def attribute(self, name: str, at: int) -> Attribute:
        """Return the attribute of `#name`, used at a token."""
        return self._value(name, at)

    def type(self, name: str, at: int) -> Type:
        """Return the type of `!name`, used at a token."""
        value = self._value(name, at)
        assert isinstance(value, Type)
        return value

    def parsed(self, name: str) -> Attribute | None:
        """Return the value of an alias whose definition has been parsed."""
        alias = self._parsed.get(name)
        return None if alias is None else alias.value

    def _value(self, name: str, at: int) -> Attribute:
        alias = self._parsed.get(name)
        if alias is None:
            alias = self._forward_reference(name, at)
        parser = self._parser
        if parser.nesting + alias.nesting > parser.max_nesting:
            parser.reach(parser.nesting + alias.nesting)
        return alias.value

    def _forward_reference(self, name: str, at: int) -> _Alias:
        """Resolve an alias that is used before its definition."""
        parser = self._parser
        if self._offsets is None:
            self._offsets = alias_definitions(parser.tokens)
            self._unread = iter(sorted(self._offsets.items(), key=lambda item: item[1]))
        offset = self._offsets.get(name)
        if offset is None:
            parser.error(f"undefined alias '{name}'", at)
        if name in self._open:
            parser.error(f"alias '{name}' is defined by itself", at)
        back = parser.at
        try:
            if not self._open:
                self._read_until(offset)
            return self._parsed.get(name) or self._read(name, offset)
        finally:
            parser.at = back

    def forget_open(self) -> None:
        """Forget which definitions are being parsed, after an error in one."""
        self._open.clear()

    def _read_until(self, last: int) -> None:
        """Parse the definitions before a token, so that none recurses into those before it.

        Printed texts have the definitions of locations at the end, each after those that it uses.
        """
        parser = self._parser
        nesting, deepest = parser.nesting, parser.max_nesting
        parser.nesting = 0
        for name, offset in self._unread:
            if name not in self._parsed:
                self._read(name, offset)
            if offset >= last:
                break
        parser.nesting, parser.max_nesting = nesting, deepest

    def _read(self, name: str, start: int) -> _Alias:
        parser = self._parser
        self._open.add(name)
        before = parser.max_nesting
        parser.max_nesting = parser.nesting
        parser.enter()
        parser.at = start + 1
        parser.expect("=")
        value = parser.type() if name[0] == "!" else parser.attribute()
        parser.leave()
        self._check_size(name, value, start)
        # The alias itself is no level of the value.
        alias = _Alias(value, parser.max_nesting - parser.nesting - 1, parser.at)
        parser.max_nesting = max(before, parser.max_nesting)
        self._open.remove(name)
        self._parsed[name] = alias
        if isinstance(value, LocationAttr):
            self.locations[name] = value.location
        return alias

    def _check_size(self, name: str, value: Attribute, start: int) -> None:
        """Reject an alias that is too large as a tree, which is how texts and diagnostics print it.

        Aliases that use others twice double in size with each definition.
        """
        parser = self._parser
        limit = max(MAX_TREE_SIZE, MAX_REPETITION * (parser.at - start))
        size = _tree_size(value, self._sizes)
        if size > limit:
            parser.error(
                f"alias '{name}': expected at most {limit} nested attributes and types, found "
                f"{size} where those that are used repeatedly are counted each time",
                start,
            )


def _tree_size(value: object, known: dict[Parametric, int]) -> int:
    """The number of attributes and types in a value as a tree; locations are printed by alias."""
    if isinstance(value, tuple):
        members = cast("tuple[object, ...]", value)
        if members and isinstance(members[-1], int):
            return 0  # an array of numbers, which may be long
        return sum([_tree_size(member, known) for member in members])
    if not isinstance(value, Parametric):
        return 0
    size = known.get(value)
    if size is None:
        sizes = [_tree_size(parameter, known) for parameter in value.parameters]
        size = known[value] = 1 + sum(sizes)
    return size


def alias_definitions(tokens: list[str]) -> dict[str, int]:
    """Return the token indices of all alias definitions."""
    equals = [at for at, token in enumerate(tokens) if token == "="]
    starts = (at - 1 for at in reversed(equals) if at)
    return {tokens[at]: at for at in starts if tokens[at][:1] in ("#", "!")}
