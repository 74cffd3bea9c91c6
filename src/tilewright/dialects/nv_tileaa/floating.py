"""Float arithmetic and comparison on tiles, element by element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from tilewright.dialects.arith.attributes import CMPF_PREDICATE, FAST_MATH, NO_FAST_MATH
from tilewright.dialects.arith.comparison import ComparisonOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.attributes import ROUNDING_MODE, RoundingMode
from tilewright.dialects.nv_tileaa.constraints import BOOL_TILE, ELEMENTWISE, FLOAT_TILE
from tilewright.dialects.nv_tileaa.rounding import IEEE, ROUNDING_SYNTAX
from tilewright.dialects.rounding import (
    EXTREMUM_SYNTAX,
    FLUSH_SYNTAX,
    flush_problems,
    rounded_problems,
)
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation
from tilewright.ir.traits import COMMUTATIVE, Effects, SameType

SAME: Final = SameType("lhs", "rhs", "result")


class FloatOp(Operation):
    """Base of all arithmetic on floats; `fastmath` is what it may do although results change."""

    effects = Effects.PURE

    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(FLOAT_TILE)


class UnaryFloat(FloatOp):
    """Base of the operations from one tile of floats to another of its type."""

    traits = (SameType("source", "result"), ELEMENTWISE)
    syntax = "$source attr-dict `:` type($result)"

    source = d.operand(FLOAT_TILE)


class BinaryFloat(FloatOp):
    """Base of the operations from two tiles of floats to one, all of the same type."""

    traits = (SAME, ELEMENTWISE)
    syntax = "$lhs `,` $rhs attr-dict `:` type($result)"

    lhs = d.operand(FLOAT_TILE)
    rhs = d.operand(FLOAT_TILE)


class RoundedFloat(FloatOp):
    """Base of the operations that round as told, and flush subnormal numbers to zero if told.

    `flush_to_zero` takes subnormal operands and gives subnormal results as zeros of their sign.
    """

    roundings: ClassVar[tuple[RoundingMode, ...]] = IEEE
    """The modes that the operation knows."""

    rounding_mode = d.attribute(ROUNDING_MODE, default=RoundingMode.NEAREST_EVEN)
    flush_to_zero = d.flag()

    def verify(self) -> Iterator[str]:
        yield from rounded_problems(
            self.rounding_mode, self.roundings, self.flush_to_zero, element_of(self.result.type)
        )


class RoundedBinaryFloat(RoundedFloat):
    """Base of the four basic operations."""

    traits = (SAME, ELEMENTWISE)
    syntax = f"$lhs `,` $rhs {ROUNDING_SYNTAX} {FLUSH_SYNTAX} attr-dict `:` type($result)"

    lhs = d.operand(FLOAT_TILE)
    rhs = d.operand(FLOAT_TILE)


class FloatExtremum(BinaryFloat):
    """Base of maximum and minimum: positive zero is larger than negative zero.

    If one operand is NaN, the other is the result; with `propagate_nan` it is NaN.
    """

    traits = (SAME, ELEMENTWISE, COMMUTATIVE)
    syntax = EXTREMUM_SYNTAX

    propagate_nan = d.flag()
    flush_to_zero = d.flag()

    def verify(self) -> Iterator[str]:
        yield from flush_problems(self.flush_to_zero, element_of(self.result.type))


class AbsFOp(UnaryFloat):
    """Magnitude: the sign bit is cleared, that of NaN as well."""

    name = "nv_tileaa.absf"


class NegFOp(UnaryFloat):
    """Negation: the sign bit is flipped, that of NaN as well."""

    name = "nv_tileaa.negf"


class AddFOp(RoundedBinaryFloat):
    """Sum: `result[i] = lhs[i] + rhs[i]`."""

    name = "nv_tileaa.addf"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class SubFOp(RoundedBinaryFloat):
    """Difference: `result[i] = lhs[i] - rhs[i]`."""

    name = "nv_tileaa.subf"


class MulFOp(RoundedBinaryFloat):
    """Product: `result[i] = lhs[i] * rhs[i]`."""

    name = "nv_tileaa.mulf"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class DivFOp(RoundedBinaryFloat):
    """Quotient: `result[i] = lhs[i] / rhs[i]`.

    For f32, `approx` multiplies by an approximate reciprocal, which fails for very large
    divisors, and `full` is good to two units in the last place everywhere.
    """

    name = "nv_tileaa.divf"
    roundings = (*IEEE, RoundingMode.APPROX, RoundingMode.FULL)


class FmaOp(RoundedFloat):
    """Product and sum with a single rounding: `result[i] = lhs[i] * rhs[i] + acc[i]`."""

    name = "nv_tileaa.fma"
    traits = (SameType("lhs", "rhs", "acc", "result"), ELEMENTWISE)
    syntax = f"$lhs `,` $rhs `,` $acc {ROUNDING_SYNTAX} {FLUSH_SYNTAX} attr-dict `:` type($result)"

    lhs = d.operand(FLOAT_TILE)
    rhs = d.operand(FLOAT_TILE)
    acc = d.operand(FLOAT_TILE)


class SqrtOp(RoundedFloat):
    """Square root; NaN for negative numbers."""

    name = "nv_tileaa.sqrt"
    traits = (SameType("source", "result"), ELEMENTWISE)
    syntax = f"$source {ROUNDING_SYNTAX} {FLUSH_SYNTAX} attr-dict `:` type($result)"
    roundings = (*IEEE, RoundingMode.APPROX)

    source = d.operand(FLOAT_TILE)


class RemFOp(BinaryFloat):
    """Remainder of the division whose quotient is cut off: it has the sign of `lhs`."""

    name = "nv_tileaa.remf"


class MaxFOp(FloatExtremum):
    """The larger of two numbers."""

    name = "nv_tileaa.maxf"


class MinFOp(FloatExtremum):
    """The smaller of two numbers."""

    name = "nv_tileaa.minf"


class ClampFOp(FloatOp):
    """`min(max(source[i], lower[i]), upper[i])`; NaN becomes `lower`, unless it propagates."""

    name = "nv_tileaa.clampf"
    traits = (SameType("source", "lower", "upper", "result"), ELEMENTWISE)
    syntax = (
        "$source `,` $lower `,` $upper (`propagate_nan` $propagate_nan^)? "
        "attr-dict `:` type($result)"
    )

    source = d.operand(FLOAT_TILE)
    lower = d.operand(FLOAT_TILE)
    upper = d.operand(FLOAT_TILE)
    propagate_nan = d.flag()


class CmpFOp(ComparisonOp):
    """Comparison: true where the predicate holds between `lhs[i]` and `rhs[i]`."""

    name = "nv_tileaa.cmpf"
    traits = (SameType("lhs", "rhs"), ELEMENTWISE)
    syntax = "$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)"

    predicate = d.attribute(CMPF_PREDICATE)
    lhs = d.operand(FLOAT_TILE)
    rhs = d.operand(FLOAT_TILE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(BOOL_TILE)


class CeilOp(UnaryFloat):
    """The least integer that is not smaller."""

    name = "nv_tileaa.ceil"


class FloorOp(UnaryFloat):
    """The greatest integer that is not larger."""

    name = "nv_tileaa.floor"
