"""Parse types: builtin ones, those of dialects, and those of unregistered dialects."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tilewright.ir.attributes import OpaqueAttr
from tilewright.ir.types import (
    FLOATS,
    INDEX,
    ComplexType,
    FunctionType,
    IntegerType,
    MemRefType,
    NoneType,
    OpaqueType,
    StridedLayoutAttr,
    TensorType,
    TupleType,
    VectorType,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.text.parser import Parser

Shape = tuple[int, ...]

_SCALARS: Final[dict[str, Type]] = {**FLOATS, "index": INDEX, "none": NoneType()}
_INTEGER: Final = re.compile(r"([su]?)i([1-9][0-9]{0,8})")


def read_type(parser: Parser, dialect: str | None) -> Type:
    """Parse a type; bare names of `dialect`, if given, take precedence over builtin ones."""
    word = parser.tokens[parser.at]
    if dialect is not None:
        known = parser.context.dialect(dialect)
        if known is not None:
            kind = known.types.get(f"{dialect}.{word}") or known.type_spellings.get(word)
            if kind is not None:
                return _parametric(parser, kind)
    if word[:1] == "!":
        return _dialect_type(parser, word)
    if word == "(":
        return function_type(parser)
    return _builtin(parser, word)


def _builtin(parser: Parser, word: str) -> Type:
    scalar = _scalar(parser, word)
    if scalar is not None:
        parser.at += 1
        return scalar
    reader = _READERS.get(word)
    if reader is None:
        parser.unexpected("a type")
    parser.at += 1
    parser.expect("<")
    made = reader(parser)
    parser.expect(">")
    return made


def _scalar(parser: Parser, word: str) -> Type | None:
    """Return the builtin type of a single word, or `None`."""
    named = _SCALARS.get(word)
    if named is not None:
        return named
    match = _INTEGER.fullmatch(word)
    if match is None:
        return None
    return parser.invalid(IntegerType, int(match[2]), match[1], at=parser.at)


def _dialect_type(parser: Parser, word: str) -> Type:
    start = parser.at
    name = word[1:]
    if "." not in name and parser.tokens[start + 1] != "<":
        parser.at += 1
        return parser.aliases.type(word, start)
    known = parser.context.dialect(name.partition(".")[0])
    kind = known.types.get(name) if known is not None else None
    if kind is not None:
        return _parametric(parser, kind)
    if not parser.context.allow_unregistered:
        parser.error(f"unknown type '{word}'")
    return OpaqueType(opaque(parser))


def _parametric(parser: Parser, kind: type[Type]) -> Type:
    """Parse a type of a known class, whose name is the current token."""
    start = parser.at
    parser.at += 1
    read: Callable[[Parser], Type] | None = getattr(kind, "parse", None)
    return (
        parser.invalid(kind, at=start) if read is None else parser.invalid(read, parser, at=start)
    )


def opaque(parser: Parser) -> str:
    """Parse a name with optional angle brackets; return their text."""
    start = parser.at
    if parser.tokens[start + 1] != "<":
        parser.at += 1
        return parser.tokens[start]
    end = parser.closing(start + 1)
    if end < 0:
        parser.error("expected '>' to close this '<'", start + 1)
    if '"' in parser.tokens[start:end]:
        parser.error("a string without end", parser.tokens.index('"', start))
    parser.at = end
    return parser.source_text(start, end)


def function_type(parser: Parser) -> FunctionType:
    """Parse `(i32, f32) -> f32`."""
    inputs = parser.listed(parser.type, "(", ")")
    parser.expect("->")
    if parser.peek() == "(":
        return FunctionType(tuple(inputs), tuple(parser.listed(parser.type, "(", ")")))
    return FunctionType(tuple(inputs), (parser.type(),))


def _tuple(parser: Parser) -> Type:
    if parser.peek() == ">":
        return TupleType(())
    return TupleType(tuple(parser.listed(parser.type)))


def _complex(parser: Parser) -> Type:
    return ComplexType(parser.type())


def _vector(parser: Parser) -> Type:
    start = parser.at
    token = parser.tokens[start]
    if "[" not in token or token[-1] != "x":
        shape, element = parser.shaped()
        return parser.invalid(VectorType, shape, element, at=start)
    extents = token[:-1].split("x")
    shape = tuple([parser.extent(text.strip("[]")) for text in extents])
    parser.at += 1
    scalable = tuple([text[0] == "[" for text in extents])
    return parser.invalid(VectorType, shape, parser.type(), scalable, at=start)


def _maybe_unranked(parser: Parser) -> tuple[Shape | None, Type]:
    return (None, parser.type()) if parser.accept("*x") else parser.shaped()


def _tensor(parser: Parser) -> Type:
    shape, element = _maybe_unranked(parser)
    encoding = parser.attribute() if parser.accept(",") else None
    return TensorType(shape, element, encoding)


def _memref(parser: Parser) -> Type:
    shape, element = _maybe_unranked(parser)
    layout: Attribute | None = None
    space: Attribute | None = None
    while parser.accept(","):
        start = parser.at
        extra = parser.attribute()
        if space is not None or (layout is not None and _is_layout(extra)):
            parser.error("expected at most a layout and a memory space", start)
        if layout is None and (_is_layout(extra) or parser.peek() == ","):
            layout = extra
        else:
            space = extra
    return MemRefType(shape, element, layout, space)


def _is_layout(attribute: Attribute) -> bool:
    """Return whether an attribute of a memref is its layout, not its memory space."""
    text = attribute.text if isinstance(attribute, OpaqueAttr) else ""
    return isinstance(attribute, StridedLayoutAttr) or text.startswith("affine_map<")


_READERS: Final[dict[str, Callable[[Parser], Type]]] = {
    "complex": _complex,
    "memref": _memref,
    "tensor": _tensor,
    "tuple": _tuple,
    "vector": _vector,
}
