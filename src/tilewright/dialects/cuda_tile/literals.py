"""The elements of constants as text: `1`, `true`, `0x7F800000`, `[[1.0, 2.0], [3.0, 4.0]]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.types import TileType, element_count
from tilewright.ir.attributes import DenseElementsAttr, Type, element_bytes
from tilewright.ir.types import I1, FloatType, IntegerType
from tilewright.support.bits import to_signed, to_unsigned
from tilewright.support.float_text import parse_decimal, print_decimal
from tilewright.support.floats import FORMATS

if TYPE_CHECKING:
    from tilewright.text.parser import Parser

MOST_LISTED: Final = 100
"""Constants with more different elements than this print as the hexadecimal of their bytes."""

MAX_DEPTH: Final = 128
"""How deep lists may be nested."""


def print_elements(value: DenseElementsAttr) -> str:
    """The elements as NVIDIA's tools print them: one for a splat, nested lists, or all bytes."""
    tile = value.type
    assert isinstance(tile, TileType)
    if value.is_splat:
        return print_element(value.elements()[0], tile.element)
    if tile.count > MOST_LISTED:
        return f'"0x{value.data.hex().upper()}"'
    texts = [print_element(pattern, tile.element) for pattern in value.elements()]
    for extent in reversed(tile.shape):
        rows = range(0, len(texts), extent)
        texts = [f"[{', '.join(texts[row : row + extent])}]" for row in rows]
    return texts[0]


def print_element(pattern: int, element: Type) -> str:
    """One element, from its bit pattern."""
    if isinstance(element, FloatType):
        return print_decimal(pattern, FORMATS[element.format])
    assert isinstance(element, IntegerType)
    if element is I1:
        return "true" if pattern else "false"
    return str(to_signed(pattern, element.width))


class Literal:
    """The elements of a constant as read: their bytes, and the shape that brackets gave them."""

    __slots__ = ("data", "shape")

    def __init__(self, data: bytes, shape: tuple[int, ...] | None) -> None:
        self.data = data
        self.shape = shape
        """Nothing where the text does not tell: for a string of bytes."""


def parse_literal(parser: Parser, element: Type) -> Literal:
    """Read elements of a type that constants may have."""
    if parser.peek().startswith('"'):
        return _parse_bytes(parser, element)
    patterns: list[int] = []
    shape = _parse_nested(parser, element, patterns, 0)
    size = element_bytes(element)
    return Literal(b"".join([n.to_bytes(size, "little") for n in patterns]), shape)


def _parse_nested(
    parser: Parser, element: Type, patterns: list[int], depth: int
) -> tuple[int, ...]:
    """Read an element or a list; gives its shape, and adds the elements to `patterns`."""
    at = parser.at
    if parser.peek() != "[":
        patterns.append(parse_element(parser, element))
        return ()
    if depth == MAX_DEPTH:
        parser.error(f"expected at most {MAX_DEPTH} levels of lists")
    inner = parser.listed(lambda: _parse_nested(parser, element, patterns, depth + 1), "[", "]")
    if not inner:
        parser.error("expected at least one element in a list", at)
    if any(shape != inner[0] for shape in inner):
        parser.error("expected the elements of a list to have the same shape", at)
    return (len(inner), *inner[0])


def _parse_bytes(parser: Parser, element: Type) -> Literal:
    at = parser.at
    text = parser.string()
    try:
        data = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        data = b""
    if not text.startswith("0x") or not data or len(data) % element_bytes(element):
        parser.error(f"expected the hexadecimal bytes of '{element}' elements", at)
    size = element_bytes(element)
    assert isinstance(element, IntegerType | FloatType)
    unused = 8 * size - element.width
    # The last byte of an element holds what is above its width, and that must be nothing.
    if unused and max(data[size - 1 :: size]) >> (8 - unused):
        parser.error(f"expected no bits above the {element.width} of '{element}'", at)
    return Literal(data, None)


def parse_element(parser: Parser, element: Type) -> int:
    """Read one element; gives its bit pattern."""
    if isinstance(element, FloatType):
        return _parse_float(parser, element)
    assert isinstance(element, IntegerType)
    at = parser.at
    if element is I1 and parser.accept("true"):
        return 1
    if element is I1 and parser.accept("false"):
        return 0
    number = parser.integer()
    width = element.width
    # NVIDIA's parser reads 64-bit integers as signed and the others either way.
    most = 1 << (63 if width == 64 else width)
    if not -(1 << (width - 1)) <= number < most:
        parser.error(f"expected an integer that fits '{element}', got {number}", at)
    return to_unsigned(number, width)


def _parse_float(parser: Parser, element: FloatType) -> int:
    at = parser.at
    negative = parser.accept("-")
    text = parser.next()
    if text.startswith("0x"):
        return _parse_pattern(parser, text, negative, element, at)
    if "." not in text or not text[0].isdigit():
        parser.error(f"expected a number with a decimal point, or its bits, got '{text}'", at)
    pattern = parse_decimal(f"-{text}" if negative else text, FORMATS[element.format])
    if pattern is None:
        parser.error(f"expected a number without sign, since '{element}' has none", at)
    return pattern


def _parse_pattern(parser: Parser, text: str, negative: bool, element: FloatType, at: int) -> int:
    pattern = int(text, 16)
    if negative:
        parser.error("expected no sign in front of the bits of a float", at)
    if pattern >> element.width:
        parser.error(f"expected at most {element.width} bits for '{element}', got {text}", at)
    return pattern


def literal_problem(literal: Literal, type: TileType) -> str | None:
    """Why a literal cannot be a constant of that type, or nothing."""
    shape = literal.shape
    if shape is None:
        expected = element_count(type.shape) * element_bytes(type.element)
        if len(literal.data) in (expected, element_bytes(type.element)):
            return None
        return f"expected {expected} bytes of elements for '{type}', got {len(literal.data)}"
    if shape in ((), type.shape):
        return None
    found = "x".join(map(str, shape))
    return f"expected a literal of the shape of '{type}', got {found}"
