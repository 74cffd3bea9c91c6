"""Elementwise float arithmetic and comparison on tiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from tilewright.dialects.arith.attributes import CMPF_PREDICATE, FAST_MATH, NO_FAST_MATH
from tilewright.dialects.arith.comparison import ComparisonOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.attributes import ROUNDING_MODE, RoundingMode
from tilewright.dialects.nv_tileaa.constraints import BOOL_TILE, FLOAT_TILE
from tilewright.dialects.nv_tileaa.rounding import IEEE, ROUNDING_SYNTAX
from tilewright.dialects.rounding import (
    EXTREMUM_SYNTAX,
    FLUSH_SYNTAX,
    flush_problems,
    rounded_problems,
)
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation
from tilewright.ir.traits import COMMUTATIVE, ELEMENTWISE, Effects, SameType

SAME: Final = SameType("lhs", "rhs", "result")


class FloatOp(Operation):
    """Base of float arithmetic; `fastmath` are the value-changing optimizations it permits."""

    effects = Effects.PURE

    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(FLOAT_TILE)


class UnaryFloat(FloatOp):
    """Base of the unary operations."""

    traits = (SameType("source", "result"), ELEMENTWISE)
    syntax = "$source attr-dict `:` type($result)"

    source = d.operand(FLOAT_TILE)


class BinaryFloat(FloatOp):
    """Base of the binary operations."""

    traits = (SAME, ELEMENTWISE)
    syntax = "$lhs `,` $rhs attr-dict `:` type($result)"

    lhs = d.operand(FLOAT_TILE)
    rhs = d.operand(FLOAT_TILE)


class RoundedFloat(FloatOp):
    """Base of the operations with a rounding mode and a `flush_to_zero` flag.

    `flush_to_zero` replaces subnormal operands and results by zeros of the same sign.
    """

    roundings: ClassVar[tuple[RoundingMode, ...]] = IEEE
    """The rounding modes that the operation supports."""

    rounding_mode = d.attribute(ROUNDING_MODE, default=RoundingMode.NEAREST_EVEN)
    flush_to_zero = d.flag()

    def verify(self) -> Iterator[str]:
        yield from rounded_problems(
            self.rounding_mode, self.roundings, self.flush_to_zero, element_of(self.result.type)
        )


class RoundedBinaryFloat(RoundedFloat):
    """Base of add, sub, mul and div."""

    traits = (SAME, ELEMENTWISE)
    syntax = f"$lhs `,` $rhs {ROUNDING_SYNTAX} {FLUSH_SYNTAX} attr-dict `:` type($result)"

    lhs = d.operand(FLOAT_TILE)
    rhs = d.operand(FLOAT_TILE)


class FloatExtremum(BinaryFloat):
    """Base of maximum and minimum, which order -0.0 before +0.0.

    If one operand is NaN, the result is the other one, or NaN with `propagate_nan`.
    """

    traits = (SAME, ELEMENTWISE, COMMUTATIVE)
    syntax = EXTREMUM_SYNTAX

    propagate_nan = d.flag()
    flush_to_zero = d.flag()

    def verify(self) -> Iterator[str]:
        yield from flush_problems(self.flush_to_zero, element_of(self.result.type))


class AbsFOp(UnaryFloat):
    """Absolute value: clear the sign bit, also of NaN."""

    name = "nv_tileaa.absf"


class NegFOp(UnaryFloat):
    """Negation: flip the sign bit, also of NaN."""

    name = "nv_tileaa.negf"


class AddFOp(RoundedBinaryFloat):
    """Addition: `result[i] = lhs[i] + rhs[i]`."""

    name = "nv_tileaa.addf"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class SubFOp(RoundedBinaryFloat):
    """Subtraction: `result[i] = lhs[i] - rhs[i]`."""

    name = "nv_tileaa.subf"


class MulFOp(RoundedBinaryFloat):
    """Multiplication: `result[i] = lhs[i] * rhs[i]`."""

    name = "nv_tileaa.mulf"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class DivFOp(RoundedBinaryFloat):
    """Division: `result[i] = lhs[i] / rhs[i]`.

    For f32, `approx` multiplies by an approximate reciprocal, which is inaccurate for very large
    divisors; `full` has a maximum error of 2 ulp over the full range.
    """

    name = "nv_tileaa.divf"
    roundings = (*IEEE, RoundingMode.APPROX, RoundingMode.FULL)


class FmaOp(RoundedFloat):
    """Fused multiply-add, rounded once: `result[i] = lhs[i] * rhs[i] + acc[i]`."""

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
    """Remainder of the truncated division: it has the sign of `lhs`."""

    name = "nv_tileaa.remf"


class MaxFOp(FloatExtremum):
    """Maximum."""

    name = "nv_tileaa.maxf"


class MinFOp(FloatExtremum):
    """Minimum."""

    name = "nv_tileaa.minf"


class ClampFOp(FloatOp):
    """`min(max(source[i], lower[i]), upper[i])`; NaN gives `lower`, or NaN with `propagate_nan`."""

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
    """Round up to an integer."""

    name = "nv_tileaa.ceil"


class FloorOp(UnaryFloat):
    """Round down to an integer."""

    name = "nv_tileaa.floor"
