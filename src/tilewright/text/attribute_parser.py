"""Parse attributes: builtin ones, those of dialects, and unregistered ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from tilewright.ir.attributes import (
    UNIT,
    ArrayAttr,
    Attribute,
    DictionaryAttr,
    EnumAttr,
    IntegerAttr,
    LocationAttr,
    OpaqueAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
)
from tilewright.ir.types import DYNAMIC, I1, StridedLayoutAttr
from tilewright.text.literals import read_dense, read_dense_array, read_number
from tilewright.text.locations import read_parenthesised
from tilewright.text.type_parser import opaque

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.dialect import Dialect
    from tilewright.text.parser import Parser

EnumT = TypeVar("EnumT", bound=EnumAttr)
Reader = Callable[["Parser", "Type | None"], Attribute]


def read_attribute(parser: Parser, type: Type | None) -> Attribute:
    """Parse an attribute; `type` is the default type of numbers and elements."""
    token = parser.tokens[parser.at]
    reader = _BY_WORD.get(token) or _BY_START.get(token[:1], _type)
    return reader(parser, type)


def _type(parser: Parser, type: Type | None) -> Attribute:
    if not parser.peek():
        parser.unexpected("an attribute")
    return TypeAttr(parser.type())


def _boolean(parser: Parser, type: Type | None) -> Attribute:
    start = parser.at
    if type is not None and type is not I1:
        parser.error(f"expected an attribute of type {type}, got '{parser.peek()}'", start)
    value = int(parser.next() == "true")
    return IntegerAttr(value, I1)


def _unit(parser: Parser, type: Type | None) -> Attribute:
    parser.at += 1
    return UNIT


def _string(parser: Parser, type: Type | None) -> Attribute:
    text = parser.string()
    # MLIR allows a type on strings; ours have none.
    if type is None and parser.accept(":"):
        parser.type()
    return StringAttr(text)


def _array(parser: Parser, type: Type | None) -> Attribute:
    parser.enter()
    elements = parser.listed(parser.attribute, "[", "]")
    parser.leave()
    return ArrayAttr(tuple(elements))


def _dictionary(parser: Parser, type: Type | None) -> Attribute:
    parser.enter()
    entries = read_entries(parser)
    parser.leave()
    return DictionaryAttr(entries)


def read_entries(parser: Parser) -> dict[str, Attribute]:
    """Parse `{name = attribute, flag}`."""
    entries: dict[str, Attribute] = {}
    parser.expect("{")
    if parser.accept("}"):
        return entries
    tokens = parser.tokens
    while True:
        start = parser.at
        name = parser.string() if tokens[start][:1] == '"' else parser.keyword()
        if name in entries:
            parser.error(f"duplicate key '{name}' in dictionary attribute", start)
        entries[name] = parser.attribute() if parser.accept("=") else UNIT
        if tokens[parser.at] != ",":
            break
        parser.at += 1
    parser.expect("}")
    return entries


def _symbol(parser: Parser, type: Type | None) -> Attribute:
    path = [parser.symbol()]
    while parser.accept("::"):
        path.append(parser.symbol())
    return SymbolRefAttr(*path)


def _hash(parser: Parser, type: Type | None) -> Attribute:
    """Parse `#alias`, `#dialect.name<...>` or `#dialect<...>`."""
    start = parser.at
    token = parser.tokens[start]
    name = token[1:]
    if "." not in name and parser.tokens[start + 1] != "<":
        parser.at += 1
        return parser.aliases.attribute(token, start)
    dialect = parser.context.dialect(name.partition(".")[0])
    if dialect is not None:
        wrapped = "." not in name
        known = (_wrapped if wrapped else _dialect_attribute)(parser, dialect, name)
        if known is not None:
            return known
    if not parser.context.allow_unregistered:
        parser.error(f"unknown attribute '{token}'")
    return OpaqueAttr(opaque(parser))


def _dialect_attribute(parser: Parser, dialect: Dialect, name: str) -> Attribute | None:
    start = parser.at
    kind = dialect.attributes.get(name)
    if kind is None:
        return None
    parser.at += 1
    if issubclass(kind, EnumAttr):
        return _enum(parser, kind)
    read: Callable[[Parser], Attribute] | None = getattr(kind, "parse", None)
    parser.enter()
    made = (
        parser.invalid(kind, at=start) if read is None else parser.invalid(read, parser, at=start)
    )
    parser.leave()
    return made


def _wrapped(parser: Parser, dialect: Dialect, name: str) -> Attribute | None:
    """Parse `#dialect<name keyword>`, MLIR's form of enumerations without brackets of their own."""
    kind = dialect.attributes.get(f"{name}.{parser.tokens[parser.at + 2]}")
    if kind is None or not issubclass(kind, EnumAttr):
        return None
    parser.at += 3
    member = read_member(parser, kind)
    parser.expect(">")
    return member


def _enum(parser: Parser, kind: type[EnumAttr]) -> Attribute:
    parser.expect("<")
    member = read_member(parser, kind)
    parser.expect(">")
    return member


def read_member(parser: Parser, kind: type[EnumT]) -> EnumT:
    """Parse the keyword of a member of an enumeration."""
    member = kind.from_keyword(parser.peek())
    if member is None:
        parser.unexpected(f"one of {', '.join(each.keyword for each in kind)}")
    parser.at += 1
    return member


def _location(parser: Parser, type: Type | None) -> Attribute:
    return LocationAttr(read_parenthesised(parser))


def _affine(parser: Parser, type: Type | None) -> Attribute:
    """Parse `affine_map<...>` or `affine_set<...>` as text with normalized spaces."""
    start = parser.at
    opaque(parser)
    text = " ".join(parser.tokens[start : parser.at])
    for pattern, replacement in _SPACES:
        text = re.sub(pattern, replacement, text)
    return OpaqueAttr(text)


_SPACES: Final = (
    ("= =", "=="),
    (r" ([,)\]]|>(?!=))", r"\1"),
    (r"([(\[<]) ", r"\1"),
    (r"^(\w+) <", r"\1<"),
    (r"\) \[", ")["),
    (r"([(,] ?)- ", r"\1-"),
)
"""Replacements that turn single spaces between all tokens into MLIR's spacing."""


def _strided(parser: Parser, type: Type | None) -> Attribute:
    """Parse `strided<[8, 1], offset: ?>`."""
    start = parser.at
    parser.at += 1
    parser.expect("<")
    strides = parser.listed(lambda: _step(parser), "[", "]")
    offset = 0
    if parser.accept(","):
        parser.expect("offset")
        parser.expect(":")
        offset = _step(parser)
    parser.expect(">")
    return parser.invalid(StridedLayoutAttr, tuple(strides), offset, at=start)


def _step(parser: Parser) -> int:
    return DYNAMIC if parser.accept("?") else parser.integer()


def _with_type(parser: Parser, type: Type | None) -> Attribute:
    """Parse `dense_resource<...> : type` or `sparse<...> : type` as text."""
    text = opaque(parser)
    if type is None:
        parser.expect(":")
        type = parser.type()
    return OpaqueAttr(f"{text} : {type}")


def _distinct(parser: Parser, type: Type | None) -> Attribute:
    """Parse `distinct[0]<attribute>` as text."""
    start = parser.at
    parser.at += 1
    parser.expect("[")
    parser.integer()
    parser.expect("]")
    parser.expect("<")
    if parser.peek() != ">":
        parser.attribute()
    parser.expect(">")
    return OpaqueAttr(parser.source_text(start, parser.at))


def _dense_array(parser: Parser, type: Type | None) -> Attribute:
    return read_dense_array(parser)


_BY_WORD: Final[dict[str, Reader]] = {
    "affine_map": _affine,
    "affine_set": _affine,
    "array": _dense_array,
    "dense": read_dense,
    "dense_resource": _with_type,
    "distinct": _distinct,
    "false": _boolean,
    "loc": _location,
    "sparse": _with_type,
    "strided": _strided,
    "true": _boolean,
    "unit": _unit,
}

_BY_START: Final[dict[str, Reader]] = {
    **dict.fromkeys("-0123456789", read_number),
    '"': _string,
    "[": _array,
    "{": _dictionary,
    "@": _symbol,
    "#": _hash,
}
