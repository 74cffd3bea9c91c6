"""Elementwise conversions between element types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from tilewright.dialects.arith.attributes import NO_OVERFLOW, OVERFLOW, OVERFLOW_SYNTAX
from tilewright.dialects.elements import SameShape, element_of
from tilewright.dialects.nv_tileaa.attributes import ROUNDING_MODE, SIGNEDNESS, RoundingMode
from tilewright.dialects.nv_tileaa.constraints import (
    ANY_FLOAT_TILE,
    ANY_TILE,
    I64_TILE,
    INT_TILE,
    PTR_TILE,
)
from tilewright.dialects.nv_tileaa.rounding import ROUNDING_SYNTAX
from tilewright.dialects.nv_tileaa.types import PtrType
from tilewright.dialects.rounding import conversion_problems
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation
from tilewright.ir.traits import ELEMENTWISE, Effects
from tilewright.ir.types import FloatType, IntegerType
from tilewright.ir.values import Value


def number(value: Value) -> IntegerType | FloatType:
    """The element type of a tile of numbers."""
    return cast("IntegerType | FloatType", element_of(value.type))


class ConversionOp(Operation):
    """Base of the conversions."""

    effects = Effects.PURE
    traits = (SameShape("source", "result"), ELEMENTWISE)
    syntax = "$source attr-dict `:` type($source) `to` type($result)"


class BitcastOp(ConversionOp):
    """Reinterpret the bits as a type of the same width, or pointers as pointers to another type."""

    name = "nv_tileaa.bitcast"

    source = d.operand(ANY_TILE)
    result = d.result(ANY_TILE)

    def verify(self) -> Iterator[str]:
        source, result = element_of(self.source.type), element_of(self.result.type)
        if isinstance(source, PtrType) or isinstance(result, PtrType):
            if not (isinstance(source, PtrType) and isinstance(result, PtrType)):
                yield f"expected pointers on both sides, got '{source}' and '{result}'"
            elif source.space != result.space:
                yield f"expected pointers to space {source.space}, got {result.space}"
            return
        widths = number(self.source).width, number(self.result).width
        if widths[0] != widths[1]:
            yield (
                f"expected elements of {widths[0]} bits like those of {source}, "
                f"got {result} of {widths[1]}"
            )


class ExtIOp(ConversionOp):
    """Extend integers: sign-extend if signed, zero-extend if unsigned."""

    name = "nv_tileaa.exti"
    syntax = "$source $signedness attr-dict `:` type($source) `to` type($result)"

    source = d.operand(INT_TILE)
    signedness = d.attribute(SIGNEDNESS)
    result = d.result(INT_TILE)

    def verify(self) -> Iterator[str]:
        source, result = number(self.source), number(self.result)
        if result.width <= source.width:
            yield f"expected elements wider than {source}, got {result}"


class TruncIOp(ConversionOp):
    """Truncate integers; the `overflow` flags assert that no information is lost."""

    name = "nv_tileaa.trunci"
    syntax = f"$source {OVERFLOW_SYNTAX} attr-dict `:` type($source) `to` type($result)"

    source = d.operand(INT_TILE)
    overflow = d.attribute(OVERFLOW, default=NO_OVERFLOW)
    result = d.result(INT_TILE)

    def verify(self) -> Iterator[str]:
        source, result = number(self.source), number(self.result)
        if result.width >= source.width:
            yield f"expected elements narrower than {source}, got {result}"


class FpToFpOp(ConversionOp):
    """Convert between float types; the supported rounding modes depend on both."""

    name = "nv_tileaa.fp_to_fp"
    syntax = f"$source {ROUNDING_SYNTAX} attr-dict `:` type($source) `to` type($result)"

    source = d.operand(ANY_FLOAT_TILE)
    rounding_mode = d.attribute(ROUNDING_MODE, default=RoundingMode.NEAREST_EVEN)
    result = d.result(ANY_FLOAT_TILE)

    def verify(self) -> Iterator[str]:
        source, result = number(self.source), number(self.result)
        yield from conversion_problems(self.rounding_mode, source, result)


class FToIOp(ConversionOp):
    """Convert floats to integers, truncating toward zero.

    A value out of range is undefined; `saturating` clamps it to the range and converts NaN to
    zero. A conversion to i1 without `saturating` compares with zero.
    """

    name = "nv_tileaa.ftoi"
    syntax = (
        "$source $signedness (`saturating` $saturating^)? "
        "attr-dict `:` type($source) `to` type($result)"
    )

    source = d.operand(ANY_FLOAT_TILE)
    signedness = d.attribute(SIGNEDNESS)
    saturating = d.flag()
    result = d.result(INT_TILE)


class IntToPtrOp(ConversionOp):
    """Convert unsigned integers to pointers."""

    name = "nv_tileaa.int_to_ptr"

    source = d.operand(I64_TILE)
    result = d.result(PTR_TILE)


class PtrToIntOp(ConversionOp):
    """Convert pointers to unsigned integers."""

    name = "nv_tileaa.ptr_to_int"

    source = d.operand(PTR_TILE)
    result = d.result(I64_TILE)
