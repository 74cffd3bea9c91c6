"""Parse numbers as elements of a type, and the data of `dense<...>`."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tilewright.ir.attributes import (
    Attribute,
    DenseArrayAttr,
    DenseElementsAttr,
    FloatAttr,
    IntegerAttr,
    element_bytes,
)
from tilewright.ir.types import F64, I1, I64, FloatType, IndexType, IntegerType
from tilewright.support.bits import mask, to_signed
from tilewright.support.diagnostics import Unsupported
from tilewright.support.float_text import parse_decimal
from tilewright.support.floats import F64 as DOUBLE
from tilewright.support.floats import FORMATS, decode, encode
from tilewright.text.cursor import DIGITS, describe

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.text.parser import Parser

_BOOLEANS = {"true": 1, "false": 0}


def read_number(parser: Parser, type: Type | None) -> Attribute:
    """Parse a number as an attribute; without `type` it may have a suffix, as in `1 : i32`."""
    start = parser.at
    parser.at += 2 if parser.tokens[start] == "-" else 1
    end = parser.at
    if type is None:
        type = _suffix(parser, start)
    after, parser.at = parser.at, start
    bits = read_element(parser, type)
    assert parser.at == end
    parser.at = after
    if isinstance(type, FloatType):
        return FloatAttr(bits, type)
    return IntegerAttr(_value(bits, type), type)


def _suffix(parser: Parser, start: int) -> Type:
    if parser.accept(":"):
        return parser.type()
    is_float = "." in parser.tokens[start] or "." in parser.tokens[parser.at - 1]
    return F64 if is_float else I64


def _value(bits: int, type: Type) -> int:
    """Return the attribute value of a bit pattern."""
    if type is I1 or (isinstance(type, IntegerType) and type.signedness == "u"):
        return bits
    return to_signed(bits, type.width if isinstance(type, IntegerType) else 64)


def read_element(parser: Parser, type: Type) -> int:
    """Parse a number of an integer or float type; return its bit pattern."""
    start = parser.at
    token = parser.tokens[start]
    if token in _BOOLEANS:
        if type is not I1:
            parser.error(f"expected a number of type {type}, got '{token}'")
        parser.at += 1
        return _BOOLEANS[token]
    negative = token == "-"
    if negative:
        token = parser.tokens[start + 1]
    if token[:1] not in DIGITS:
        parser.unexpected(f"a number of type {type}")
    if isinstance(type, FloatType):
        bits = _float(parser, token, negative, type)
    elif isinstance(type, IntegerType | IndexType):
        bits = _integer(parser, token, negative, type)
    else:
        parser.error(f"expected an integer or float type for a number, got {type}")
    parser.at = start + 1 + negative
    return bits


def _integer(parser: Parser, token: str, negative: bool, type: IntegerType | IndexType) -> int:
    if "." in token:
        parser.error(f"expected an integer of type {type}, got {describe(token)}")
    number = parser.number(token, parser.at)
    width = type.width if isinstance(type, IntegerType) else 64
    signless = isinstance(type, IntegerType) and not type.signedness
    unsigned = isinstance(type, IntegerType) and type.signedness == "u"
    largest = mask(width) if signless or unsigned else mask(width - 1)
    smallest = 0 if unsigned else -1 << (width - 1)
    value = -number if negative else number
    if not smallest <= value <= largest:
        parser.error(f"integer out of range for type {type}")
    return value & mask(width)


def _float(parser: Parser, token: str, negative: bool, type: FloatType) -> int:
    if "." in token:
        return _decimal(parser, token, negative, type)
    if token[:2] != "0x":
        parser.error(f"expected a decimal point in a number of type {type}, got {describe(token)}")
    if negative:
        parser.error("a bit pattern has no sign")
    bits = parser.number(token, parser.at)
    if bits >> type.width:
        parser.error(f"bit pattern out of range for type {type}")
    return bits


def _decimal(parser: Parser, token: str, negative: bool, type: FloatType) -> int:
    format = FORMATS.get(type.format)
    if format is None:
        raise Unsupported(f"decimal literals of type {type}", parser.location())
    if negative and not format.signed:
        parser.error(f"negative number for the unsigned type {type}")
    # MLIR reads every literal as f64 first, and what it rounds twice, we round twice.
    double = parse_decimal(f"-{token}" if negative else token, DOUBLE)
    assert double is not None
    return double if format is DOUBLE else encode(decode(double, DOUBLE), format)


def read_dense_array(parser: Parser) -> Attribute:
    """Parse `array<i32: 1, 2>`."""
    parser.at += 1
    parser.expect("<")
    start = parser.at
    element = parser.type()
    if not isinstance(element, IntegerType | FloatType):
        parser.error(f"expected an integer or float type, got {element}", start)
    values: list[int] = []
    if parser.accept(":"):
        values = parser.listed(lambda: read_element(parser, element))
    parser.expect(">")
    if isinstance(element, IntegerType):
        values = [_value(bits, element) for bits in values]
    return DenseArrayAttr(element, tuple(values))


def read_dense(parser: Parser, type: Type | None) -> Attribute:
    """Parse `dense<...> : type`."""
    parser.at += 1
    start = parser.at
    if parser.peek() != "<":
        parser.missing("<")
    end = parser.closing(start)
    if end < 0:
        parser.error("expected '>' to close this '<'")
    parser.at = end
    if type is None:
        parser.expect(":")
        type = parser.type()
    after, parser.at = parser.at, start + 1
    elements = read_elements(parser, type)
    parser.expect(">")
    parser.at = after
    return elements


def read_elements(parser: Parser, type: Type) -> DenseElementsAttr:
    """Parse the elements of a shaped type: a splat, nested lists, or a string of raw bytes."""
    start = parser.at
    shape: tuple[int, ...] | None = getattr(type, "shape", None)
    element: object = getattr(type, "element", None)
    if shape is None or any(extent < 0 for extent in shape):
        parser.error(f"expected a type with a static shape, got {type}")
    if not isinstance(element, IntegerType | FloatType | IndexType):
        raise Unsupported(f"dense elements of type {element}", parser.location())
    size = element_bytes(element)
    token = parser.peek()
    if token == ">":
        values, actual = b"", (0,)
    elif token[:1] == '"':
        return DenseElementsAttr(_bytes(parser, size, prod(shape)), type)
    elif token == "[":
        values, actual = _nested(parser, element, size)
    else:
        return DenseElementsAttr(read_element(parser, element).to_bytes(size, "little"), type)
    if actual != shape and not (token == ">" and 0 in shape):
        parser.error(f"expected elements of shape {_shape(shape)}, got {_shape(actual)}", start)
    return DenseElementsAttr(values, type)


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))})"


def _nested(parser: Parser, element: Type, size: int) -> tuple[bytes, tuple[int, ...]]:
    """Parse nested lists of numbers; return the data and the shape."""
    parser.enter()
    if parser.tokens[parser.at + 1] == "[":
        lists = parser.listed(lambda: _nested(parser, element, size), "[", "]")
        inner = lists[0][1]
        if any(shape != inner for _, shape in lists):
            parser.error("expected lists of the same shape")
        data, shape = b"".join([data for data, _ in lists]), (len(lists), *inner)
    else:
        numbers = parser.listed(lambda: read_element(parser, element), "[", "]")
        data = b"".join([bits.to_bytes(size, "little") for bits in numbers])
        shape = (len(numbers),)
    parser.leave()
    return data, shape


def _bytes(parser: Parser, size: int, count: int) -> bytes:
    """Parse `"0x..."`: the bytes of all elements, or those of a splat."""
    start = parser.at
    text = parser.string()
    try:
        data = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        parser.error("expected hexadecimal digits", start)
    if not text.startswith("0x") or len(data) not in (size, size * count):
        parser.error(f"expected 0x and {size * count} bytes of data, got {len(data)}", start)
    return data
