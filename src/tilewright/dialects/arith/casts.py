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
from tilewright.ir.traits import ELEMENTWISE, Effects
from tilewright.ir.types import INDEX

TRAITS: Final = (SameShape("source", "result"), ELEMENTWISE)


class CastOp(Operation):
    """Base of the elementwise conversions."""

    effects = Effects.PURE
    traits = TRAITS
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
    """Sign-extend."""

    name = "arith.extsi"
    direction = 1


class ExtUIOp(IntegerCast):
    """Zero-extend."""

    name = "arith.extui"
    direction = 1


class TruncIOp(IntegerCast):
    """Truncate to the low bits."""

    name = "arith.trunci"
    direction = -1
    syntax = f"$source {OVERFLOW_SYNTAX} attr-dict `:` type($source) `to` type($result)"

    overflow = d.attribute(OVERFLOW, default=NO_OVERFLOW, spelling="overflowFlags")


class FloatCast(CastOp):
    """Base of the conversions between floats."""

    source = d.operand(FLOAT_LIKE)
    result = d.result(FLOAT_LIKE)


class ExtFOp(FloatCast):
    """Extend to a wider type."""

    name = "arith.extf"
    direction = 1
    syntax = f"$source {FAST_MATH_SYNTAX} attr-dict `:` type($source) `to` type($result)"

    fastmath = d.optional_attribute(FAST_MATH)


class TruncFOp(FloatCast):
    """Round to a narrower type, by default to nearest even."""

    name = "arith.truncf"
    direction = -1
    syntax = (
        f"$source ($rounding^)? {FAST_MATH_SYNTAX} attr-dict `:` type($source) `to` type($result)"
    )

    rounding = d.optional_attribute(ROUNDING, spelling="roundingmode")
    fastmath = d.optional_attribute(FAST_MATH)


class ConvertFOp(FloatCast):
    """Convert to another type of the same width, such as f16 to bf16."""

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
    """Convert a signed integer to a float."""

    name = "arith.sitofp"


class UIToFPOp(FromInteger):
    """Convert an unsigned integer to a float."""

    name = "arith.uitofp"


class ToInteger(CastOp):
    """Base of the conversions from floats to integers; a value out of range is undefined."""

    source = d.operand(FLOAT_LIKE)
    result = d.result(FIXED_INTEGER_LIKE)


class FPToSIOp(ToInteger):
    """Truncate to a signed integer."""

    name = "arith.fptosi"


class FPToUIOp(ToInteger):
    """Truncate to an unsigned integer."""

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
    """Convert between index and a signed integer."""

    name = "arith.index_cast"


class IndexCastUIOp(IndexConversion):
    """Convert between index and an unsigned integer."""

    name = "arith.index_castui"


class BitcastOp(CastOp):
    """Reinterpret the bits as another type."""

    name = "arith.bitcast"

    source = d.operand(BITS_LIKE)
    result = d.result(BITS_LIKE)

    def verify(self) -> Iterator[str]:
        source, result = self.source.type, self.result.type
        if width_of(source) != width_of(result):
            yield f"expected a result of {width_of(source)} bits like '{source}', got '{result}'"
