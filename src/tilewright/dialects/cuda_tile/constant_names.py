"""SSA names of constants: `%cst_42_i32`, `%true`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, cast

from tilewright.ir.types import I1, FloatType, IntegerType
from tilewright.support.bits import to_signed
from tilewright.support.floats import FORMATS, decode

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.types import TileType
    from tilewright.ir.attributes import DenseElementsAttr


@lru_cache(maxsize=1024)
def constant_name(value: DenseElementsAttr, style: str) -> str:
    """The SSA name of a constant; in style "tileiras" without the element type."""
    element = cast("TileType", value.type).element
    if element is I1:
        return _truth_name(value)
    number = _spell_splat(value)
    if style == "tileiras":
        is_named = isinstance(element, IntegerType) or number == "NaN"
        return f"cst_{number}" if number and is_named else "cst"
    return f"cst_{number}_{element}" if number else f"cst_{element}"


def _truth_name(value: DenseElementsAttr) -> str:
    if not value.is_splat:
        return "cst_i1"
    return "true" if value.data[0] else "false"


def _spell_splat(value: DenseElementsAttr) -> str:
    """The element of a splat, if it is NaN or an integer that fits a name."""
    if not value.is_splat:
        return ""
    (pattern,) = value.elements()
    element = cast("TileType", value.type).element
    if isinstance(element, IntegerType):
        return str(to_signed(pattern, element.width))
    assert isinstance(element, FloatType)
    return _spell_float(pattern, element)


def _spell_float(pattern: int, type: FloatType) -> str:
    exact = decode(pattern, FORMATS[type.format])
    if exact.is_nan:
        return "NaN"
    # Names contain unsigned 64-bit integers, so negative zero has none.
    if exact.is_infinite or exact.negative or exact.exponent >= 64:
        return ""
    scaled = exact.significand << max(exact.exponent, 0)
    whole = scaled >> max(-exact.exponent, 0)
    is_whole = whole << max(-exact.exponent, 0) == scaled
    return str(whole) if is_whole and whole < 1 << 64 else ""
