"""Parsers of attributes by their declared kind, for custom forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tilewright.ir.attribute_kinds import (
    ArrayKind,
    AttributeKind,
    BoolKind,
    EnumKind,
    InstanceKind,
    IntegerArrayKind,
    IntegerKind,
    StringKind,
    SymbolKind,
    TypeKind,
)
from tilewright.ir.attributes import (
    Attribute,
    DenseArrayAttr,
    EnumAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
)
from tilewright.ir.declare import AttributeField
from tilewright.ir.types import I1, IndexType, IntegerType
from tilewright.support.bits import to_signed

if TYPE_CHECKING:
    from tilewright.text.parser import Parser

Reader = Callable[["Parser"], Attribute]


def kind_reader(field: AttributeField[Any], dialect: str | None) -> Reader:
    """Return the parser of `$field`; types of `dialect` may be written without its prefix."""
    match field.kind:
        case EnumKind(enum=enum):
            return _enum_reader(enum)
        case StringKind() if field.spelling == "sym_name":
            return lambda parser: StringAttr(parser.symbol())
        case StringKind():
            return lambda parser: StringAttr(parser.string())
        case SymbolKind():
            return lambda parser: SymbolRefAttr(parser.symbol())
        case IntegerKind(type=type):
            return lambda parser: IntegerAttr(read_integer(parser, type), type)
        case BoolKind():
            return lambda parser: IntegerAttr(read_integer(parser, I1), I1)
        case IntegerArrayKind(element=element):
            return lambda parser: _read_integers(parser, element)
        case TypeKind():
            return lambda parser: TypeAttr(parser.type(dialect))
        case InstanceKind(kind=kind) if kind.mnemonic:
            return _instance_reader(kind, field.kind)
        case kind:
            return lambda parser: _accepted(parser, kind)


def kind_starts(field: AttributeField[Any]) -> Callable[[str], bool]:
    """Return a predicate on the first token of `$field`, for optional groups that start with it."""
    match field.kind:
        case EnumKind(enum=enum):
            return lambda token: enum.from_keyword(token) is not None
        case StringKind() if field.spelling != "sym_name":
            return lambda token: token.startswith('"')
        case StringKind() | SymbolKind():
            return lambda token: token.startswith("@")
        case IntegerKind():
            return lambda token: token == "-" or token[:1].isdigit()
        case BoolKind():
            return lambda token: token in ("true", "false")
        case IntegerArrayKind() | ArrayKind():
            return lambda token: token == "["
        case _:
            return lambda token: token[:1] in ("<", "#", "{", "[")


def _enum_reader(enum: type[EnumAttr]) -> Reader:
    members: dict[str, EnumAttr] = {}

    def read(parser: Parser) -> Attribute:
        token = parser.tokens[parser.at]
        member = members.get(token)
        if member is None:
            member = enum.from_keyword(token)
            if member is None:
                parser.unexpected(_one_of([each.keyword for each in enum]))
            members[token] = member
        parser.at += 1
        return member

    return read


def _one_of(words: list[str]) -> str:
    quoted = [f"'{word}'" for word in words]
    return quoted[0] if len(quoted) == 1 else f"one of {', '.join(quoted)}"


def read_integer(parser: Parser, type: IntegerType | IndexType) -> int:
    """Parse an integer in the signed or unsigned range of a type; `true` or `false` for i1."""
    if type is I1:
        if parser.accept("true"):
            return 1
        if parser.accept("false"):
            return 0
        parser.unexpected("'true' or 'false'")
    at = parser.at
    number = parser.integer()
    if not -(1 << (type.width - 1)) <= number < 1 << type.width:
        parser.error(f"expected an integer that fits '{type}', got {number}", at)
    if isinstance(type, IntegerType) and type.signedness == "u":
        return number
    return to_signed(number % (1 << type.width), type.width)


def _read_integers(parser: Parser, element: IntegerType) -> Attribute:
    values = parser.listed(lambda: read_integer(parser, element), "[", "]")
    return DenseArrayAttr(element, tuple(values))


def _instance_reader(kind: type[Attribute], declared: AttributeKind[Any]) -> Reader:
    """Return the parser of a dialect attribute, in full or by its parameters alone."""
    parse: Callable[[Parser], Attribute] | None = getattr(kind, "parse", None)

    def read(parser: Parser) -> Attribute:
        if parse is None or parser.tokens[parser.at].startswith("#"):
            return _accepted(parser, declared)
        return parse(parser)

    return read


def _accepted(parser: Parser, kind: AttributeKind[Any]) -> Attribute:
    at = parser.at
    attribute = kind.coerce(parser.attribute())
    if not kind.accepts(attribute):
        parser.error(f"expected {kind.description}", at)
    return attribute
