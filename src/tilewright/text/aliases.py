"""Aliases: long attributes and locations, defined once and referred to by name.

The text is printed in one pass, before alias names are assigned. Until then a reference is an
index between two NULs, which cannot occur elsewhere.
"""

from __future__ import annotations

from typing import Final

from tilewright.ir.attributes import Attribute, DenseElementsAttr
from tilewright.ir.dialect import Dialect
from tilewright.support.location import UNKNOWN, ByteLoc, Location
from tilewright.support.stack import DeepRecursion
from tilewright.text.attribute_printer import AttributePrinter, dense_text

_MARK: Final = "\0"
_LEVELS: Final = 32
"""Levels of nesting after which the recursion limit is raised again."""
_FRAMES: Final = 20
"""Python frames of one level: an attribute or location inside of another one, at most."""
_ALLOWED: Final = "$_-"


class _Symbol:
    """An attribute or location that was printed; `prefix` is empty if it has no alias."""

    __slots__ = ("children", "deferrable", "level", "prefix", "reference", "text")

    def __init__(self, prefix: str, deferrable: bool, number: int) -> None:
        self.prefix = prefix
        self.level = 1 if prefix else 0
        """The nesting level of aliases inside, so that definitions precede uses."""
        self.deferrable = deferrable
        """Whether the definition may follow the operations: it is used only in locations."""
        self.children: list[_Symbol] = []
        self.text = ""
        self.reference = f"{_MARK}{number}{_MARK}"

    def pin(self) -> None:
        """Define the alias, and the aliases it uses, before the operations."""
        if self.deferrable:
            self.deferrable = False
            for child in self.children:
                child.pin()


class AliasPrinter(AttributePrinter):
    """Prints attributes and locations by alias, and collects the definitions."""

    __slots__ = ("_known", "_nesting", "_open", "_stripped", "_symbols")

    def __init__(self) -> None:
        self._symbols: dict[Attribute | Location, _Symbol] = {}
        self._open: _Symbol | None = None
        """The symbol being printed, the parent of symbols visited meanwhile."""
        self._nesting = 0
        """How many symbols are being printed."""
        self._known: dict[Attribute, str] = {}
        """The text of attributes that were printed before."""
        self._stripped: dict[Attribute, str] = {}
        """The text of attributes printed without name and type."""

    def attribute(self, attribute: Attribute) -> str:
        if self._open is not None:
            return self._visit(attribute, self._open.deferrable).reference
        text = self._known.get(attribute)
        if text is None:
            text = self._known[attribute] = self._visit(attribute, False).reference
        return text

    def parameters(self, attribute: Attribute) -> str:
        if self._open is not None:
            return super().parameters(attribute)
        text = self._stripped.get(attribute)
        if text is None:
            text = self._stripped[attribute] = super().parameters(attribute)
        return text

    def dense(self, attribute: DenseElementsAttr) -> str:
        text = self._stripped.get(attribute)
        if text is None:
            text = self._stripped[attribute] = dense_text(attribute)
        return text

    def location(self, location: Location) -> str:
        return self.visit_location(location, self._open is not None and self._open.deferrable)

    def nested_location(self, location: Location) -> str:
        return self.location(location)

    def visit_location(self, location: Location, deferrable: bool) -> str:
        """Return the alias reference of a location."""
        if isinstance(location, ByteLoc):
            location = UNKNOWN
        return self._visit(location, deferrable).reference

    def _visit(self, key: Attribute | Location, deferrable: bool) -> _Symbol:
        symbol = self._symbols.get(key)
        if symbol is None:
            symbol = _Symbol(_prefix(key), deferrable, len(self._symbols))
            self._symbols[key] = symbol
            self._define(symbol, key)
        elif not deferrable:
            symbol.pin()
        if self._open is not None:
            self._open.children.append(symbol)
        return symbol

    def _define(self, symbol: _Symbol, key: Attribute | Location) -> None:
        outer, self._open = self._open, symbol
        if self._nesting % _LEVELS == 0:
            DeepRecursion.need(_FRAMES * (self._nesting + _LEVELS) + 1000)
        self._nesting += 1
        symbol.text = self.spell(key) if isinstance(key, Attribute) else super().location(key)
        self._nesting -= 1
        self._open = outer
        deepest = max([child.level for child in symbol.children], default=0)
        if deepest:
            symbol.level = deepest + 1
        if not symbol.prefix:
            symbol.reference = symbol.text

    def resolve(self, text: str) -> str:
        """Add the definitions and replace references by alias names."""
        symbols = [symbol for symbol in self._symbols.values() if symbol.prefix]
        if not symbols:
            return text
        symbols.sort(key=lambda symbol: (symbol.level, symbol.prefix))
        names = _unique_names([symbol.prefix for symbol in symbols])
        numbers = {
            symbol.reference.strip(_MARK): f"#{name}"
            for symbol, name in zip(symbols, names, strict=True)
        }
        early = [f"{s.reference} = {s.text}\n" for s in symbols if not s.deferrable]
        late = [f"{s.reference} = {s.text}\n" for s in symbols if s.deferrable]
        parts = "".join([*early, text, *late]).split(_MARK)
        parts[1::2] = [numbers[number] for number in parts[1::2]]
        return "".join(parts)


def _prefix(key: Attribute | Location) -> str:
    if isinstance(key, Location):
        return "loc"
    dialect = Dialect.beside(type(key), key.mnemonic) if "." in key.mnemonic else None
    name = dialect.alias(key) if dialect is not None else None
    return sanitized(name, _ALLOWED) if name else ""


def _unique_names(prefixes: list[str]) -> list[str]:
    used: set[str] = set()
    counts: dict[str, int] = {}
    return [_unique_name(prefix, used, counts) for prefix in prefixes]


def _unique_name(prefix: str, used: set[str], counts: dict[str, int]) -> str:
    name = prefix
    stem = f"{prefix}_" if prefix[-1].isdigit() else prefix
    while name in used:
        counts[stem] = counts.get(stem, 0) + 1
        name = f"{stem}{counts[stem]}"
    used.add(name)
    return name


def sanitized(name: str, allowed: str = "$._-") -> str:
    """Convert a name to an identifier: invalid characters become hexadecimal, spaces `_`.

    >>> sanitized("a b+c"), sanitized("1x")
    ('a_b2Bc', '_1x')
    """
    characters = [
        char
        if (char.isascii() and char.isalnum()) or char in allowed
        else "_"
        if char == " "
        else char.encode("utf-8", "surrogateescape").hex().upper()
        for char in name
    ]
    first = name[0]
    odd = not (first.isascii() and first.isalnum()) and first not in allowed and first != " "
    return f"_{''.join(characters)}" if odd or first.isdigit() else "".join(characters)
