"""Elementwise conversions between element types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.cuda_tile.constraints import (
    ANY_FLOAT_TILE,
    I64_TILE,
    INT4_TILE,
    INT_TILE,
    NUMBER_TILE,
    PTR_TILE,
)
from tilewright.dialects.cuda_tile.enums import Overflow, Rounding
from tilewright.dialects.cuda_tile.kinds import OVERFLOW, ROUNDING, ROUNDING_SYNTAX, SIGNEDNESS
from tilewright.dialects.cuda_tile.traits import same_shape, tile
from tilewright.dialects.rounding import conversion_problems, rounding_problems
from tilewright.ir import declare as d
from tilewright.ir.traits import Effects
from tilewright.ir.types import F8E8M0FNU, FloatType, IntegerType
from tilewright.ir.values import Value


def number(value: Value) -> IntegerType | FloatType:
    """The element type of a tile of numbers."""
    return cast("IntegerType | FloatType", tile(value).element)


class ConversionOp(TileOp):
    """Base of the conversions."""

    since = (13, 1)
    effects = Effects.PURE
    traits = (same_shape("source", "result"),)
    syntax = "$source attr-dict `:` type($source) `->` type($result)"


class BitcastOp(ConversionOp):
    """Reinterpret the bits as a type of the same width."""

    name = "cuda_tile.bitcast"

    source = d.operand(NUMBER_TILE)
    result = d.result(NUMBER_TILE)

    def verify(self) -> Iterator[str]:
        source, result = number(self.source), number(self.result)
        if source.width != result.width:
            yield (
                f"expected elements of {source.width} bits like those of {source}, "
                f"got {result} of {result.width}"
            )


class ExtIOp(ConversionOp):
    """Extend integers: sign-extend if signed, zero-extend if unsigned."""

    name = "cuda_tile.exti"
    syntax = "$source $signedness attr-dict `:` type($source) `->` type($result)"

    source = d.operand(INT4_TILE)
    signedness = d.attribute(SIGNEDNESS)
    result = d.result(INT4_TILE)

    def verify(self) -> Iterator[str]:
        source, result = number(self.source), number(self.result)
        if result.width <= source.width:
            yield f"expected elements wider than {source}, got {result}"


class TruncIOp(ConversionOp):
    """Truncate integers; `overflow` asserts that no information is lost."""

    name = "cuda_tile.trunci"
    syntax = (
        "$source (`overflow` `<` $overflow^ `>`)? attr-dict `:` type($source) `->` type($result)"
    )

    source = d.operand(INT4_TILE)
    overflow = d.attribute(OVERFLOW, default=Overflow.NONE)
    result = d.result(INT4_TILE)

    def verify(self) -> Iterator[str]:
        source, result = number(self.source), number(self.result)
        if result.width >= source.width:
            yield f"expected elements narrower than {source}, got {result}"


class FToFOp(ConversionOp):
    """Convert between float types; the supported rounding modes depend on both."""

    name = "cuda_tile.ftof"
    syntax = f"$source {ROUNDING_SYNTAX} attr-dict `:` type($source) `->` type($result)"

    source = d.operand(ANY_FLOAT_TILE)
    rounding_mode = d.attribute(ROUNDING, default=Rounding.NEAREST_EVEN)
    result = d.result(ANY_FLOAT_TILE)

    def verify(self) -> Iterator[str]:
        source, result = number(self.source), number(self.result)
        yield from conversion_problems(self.rounding_mode, source, result)


class FToIOp(ConversionOp):
    """Convert floats to integers, truncating toward zero.

    A value out of range is undefined; `saturating` clamps it to the range and converts NaN to
    zero. A conversion to i1 without `saturating` compares with zero.
    """

    name = "cuda_tile.ftoi"
    syntax = (
        f"$source $signedness {ROUNDING_SYNTAX} (`saturating` $saturating^)? "
        "attr-dict `:` type($source) `->` type($result)"
    )

    source = d.operand(ANY_FLOAT_TILE)
    signedness = d.attribute(SIGNEDNESS)
    rounding_mode = d.attribute(ROUNDING, default=Rounding.NEAREST_INT_TO_ZERO)
    saturating = d.flag(since=(13, 4))
    result = d.result(INT_TILE)

    def verify(self) -> Iterator[str]:
        yield from rounding_problems(self.rounding_mode, (Rounding.NEAREST_INT_TO_ZERO,))


class IToFOp(ConversionOp):
    """Convert integers to floats, rounding to nearest even."""

    name = "cuda_tile.itof"
    syntax = f"$source $signedness {ROUNDING_SYNTAX} attr-dict `:` type($source) `->` type($result)"

    source = d.operand(INT_TILE)
    signedness = d.attribute(SIGNEDNESS)
    rounding_mode = d.attribute(ROUNDING, default=Rounding.NEAREST_EVEN)
    result = d.result(ANY_FLOAT_TILE)

    def verify(self) -> Iterator[str]:
        yield from rounding_problems(self.rounding_mode, (Rounding.NEAREST_EVEN,))
        if number(self.result) is F8E8M0FNU:
            yield "expected another float type than f8E8M0FNU, which `ftof` can convert to it"


class IntToPtrOp(ConversionOp):
    """Convert unsigned integers to pointers."""

    name = "cuda_tile.int_to_ptr"

    source = d.operand(I64_TILE)
    result = d.result(PTR_TILE)


class PtrToIntOp(ConversionOp):
    """Convert pointers to unsigned integers."""

    name = "cuda_tile.ptr_to_int"

    source = d.operand(PTR_TILE)
    result = d.result(I64_TILE)


class PtrToPtrOp(ConversionOp):
    """Convert pointers to pointers to another type."""

    name = "cuda_tile.ptr_to_ptr"

    source = d.operand(PTR_TILE)
    result = d.result(PTR_TILE)
