"""Conversions between element types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from tilewright.dialects.arith.attributes import (
    FAST_MATH,
    FAST_MATH_SYNTAX,
    NO_OVERFLOW,
    OVERFLOW,
    OVERFLOW_SYNTAX,
    ROUNDING,
)
from tilewright.dialects.elements import (
    BITS_LIKE,
    FIXED_INTEGER_LIKE,
    FLOAT_LIKE,
    INTEGER_LIKE,
    SameShape,
    element_of,
    width_of,
)
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects
from tilewright.ir.types import INDEX

SHAPES: Final = (SameShape("source", "result"),)


class CastOp(Operation):
    """Base of the conversions: one element becomes one element."""

    effects = Effects.PURE
    traits = SHAPES
    syntax = "$source attr-dict `:` type($source) `to` type($result)"

    direction: ClassVar[int] = 0
    """1 if the result must have more bits than the source, -1 if it must have fewer."""

    def verify(self) -> Iterator[str]:
        source, result = self.operands[0].type, self.results[0].type
        growth = width_of(result) - width_of(source)
        if self.direction and growth * self.direction <= 0:
            wanted = "wider" if self.direction > 0 else "narrower"
            yield f"expected a result {wanted} than '{source}', got '{result}'"


class IntegerCast(CastOp):
    """Base of the conversions between integers."""

    source = d.operand(FIXED_INTEGER_LIKE)
    result = d.result(FIXED_INTEGER_LIKE)


class ExtSIOp(IntegerCast):
    """More bits, copies of the sign."""

    name = "arith.extsi"
    direction = 1


class ExtUIOp(IntegerCast):
    """More bits, all zero."""

    name = "arith.extui"
    direction = 1


class TruncIOp(IntegerCast):
    """The low bits."""

    name = "arith.trunci"
    direction = -1
    syntax = f"$source {OVERFLOW_SYNTAX} attr-dict `:` type($source) `to` type($result)"

    overflow = d.attribute(OVERFLOW, default=NO_OVERFLOW, spelling="overflowFlags")


class FloatCast(CastOp):
    """Base of the conversions between floats."""

    source = d.operand(FLOAT_LIKE)
    result = d.result(FLOAT_LIKE)


class ExtFOp(FloatCast):
    """The same number in a wider type."""

    name = "arith.extf"
    direction = 1
    syntax = f"$source {FAST_MATH_SYNTAX} attr-dict `:` type($source) `to` type($result)"

    fastmath = d.optional_attribute(FAST_MATH)


class TruncFOp(FloatCast):
    """The number rounded to a narrower type: to nearest even, unless a mode says otherwise."""

    name = "arith.truncf"
    direction = -1
    syntax = (
        f"$source ($rounding^)? {FAST_MATH_SYNTAX} attr-dict `:` type($source) `to` type($result)"
    )

    rounding = d.optional_attribute(ROUNDING, spelling="roundingmode")
    fastmath = d.optional_attribute(FAST_MATH)


class ConvertFOp(FloatCast):
    """The number in another type of the same width, such as bf16 for f16."""

    name = "arith.convertf"
    syntax = TruncFOp.syntax

    rounding = d.optional_attribute(ROUNDING, spelling="roundingmode")
    fastmath = d.optional_attribute(FAST_MATH)

    def verify(self) -> Iterator[str]:
        source, result = self.source.type, self.result.type
        if source is result or width_of(source) != width_of(result):
            yield f"expected another type of the width of '{source}', got '{result}'"


class FromInteger(CastOp):
    """Base of the conversions from integers to floats, rounded to nearest even."""

    source = d.operand(FIXED_INTEGER_LIKE)
    result = d.result(FLOAT_LIKE)


class SIToFPOp(FromInteger):
    """The float of a signed integer."""

    name = "arith.sitofp"


class UIToFPOp(FromInteger):
    """The float of an unsigned integer."""

    name = "arith.uitofp"


class ToInteger(CastOp):
    """Base of the conversions from floats to integers; what does not fit is undefined."""

    source = d.operand(FLOAT_LIKE)
    result = d.result(FIXED_INTEGER_LIKE)


class FPToSIOp(ToInteger):
    """The integer part, signed."""

    name = "arith.fptosi"


class FPToUIOp(ToInteger):
    """The integer part, unsigned."""

    name = "arith.fptoui"


class IndexConversion(CastOp):
    """Base of the conversions between `index` and integers of any width."""

    source = d.operand(INTEGER_LIKE)
    result = d.result(INTEGER_LIKE)

    def verify(self) -> Iterator[str]:
        source, result = element_of(self.source.type), element_of(self.result.type)
        if (source is INDEX) == (result is INDEX):
            yield f"expected one of the types to be index, got '{source}' and '{result}'"


class IndexCastOp(IndexConversion):
    """Between index and an integer, signed."""

    name = "arith.index_cast"


class IndexCastUIOp(IndexConversion):
    """Between index and an integer, unsigned."""

    name = "arith.index_castui"


class BitcastOp(CastOp):
    """The same bits, read as another type."""

    name = "arith.bitcast"

    source = d.operand(BITS_LIKE)
    result = d.result(BITS_LIKE)

    def verify(self) -> Iterator[str]:
        source, result = self.source.type, self.result.type
        if width_of(source) != width_of(result):
            yield f"expected a result of {width_of(source)} bits like '{source}', got '{result}'"
