"""Float arithmetic."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.arith.attributes import (
    FAST_MATH,
    FAST_MATH_SYNTAX,
    NO_FAST_MATH,
    ROUNDING,
)
from tilewright.dialects.elements import FLOAT_LIKE
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation
from tilewright.ir.traits import COMMUTATIVE, ELEMENTWISE, Effects, SameType

SAME: Final = SameType("lhs", "rhs", "result")


class BinaryFloat(Operation):
    """Base of the elementwise binary operations."""

    effects = Effects.PURE
    traits = (SAME, ELEMENTWISE)
    syntax = f"$lhs `,` $rhs {FAST_MATH_SYNTAX} attr-dict `:` type($result)"

    lhs = d.operand(FLOAT_LIKE)
    rhs = d.operand(FLOAT_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(FLOAT_LIKE)


class RoundedBinaryFloat(BinaryFloat):
    """Base of add, sub, mul and div, by default rounded to nearest even."""

    syntax = f"$lhs `,` $rhs ($rounding^)? {FAST_MATH_SYNTAX} attr-dict `:` type($result)"

    rounding = d.optional_attribute(ROUNDING, spelling="roundingmode")


class AddFOp(RoundedBinaryFloat):
    """`lhs + rhs`."""

    name = "arith.addf"
    traits = (SAME, COMMUTATIVE, ELEMENTWISE)


class SubFOp(RoundedBinaryFloat):
    """`lhs - rhs`."""

    name = "arith.subf"


class MulFOp(RoundedBinaryFloat):
    """`lhs * rhs`."""

    name = "arith.mulf"
    traits = (SAME, COMMUTATIVE, ELEMENTWISE)


class DivFOp(RoundedBinaryFloat):
    """`lhs / rhs`."""

    name = "arith.divf"


class RemFOp(BinaryFloat):
    """Exact remainder of the truncated division, with the sign of `lhs`."""

    name = "arith.remf"


class ExtremeFloat(BinaryFloat):
    """Base of maximum and minimum."""

    traits = (SAME, COMMUTATIVE, ELEMENTWISE)


class MaximumFOp(ExtremeFloat):
    """Maximum, where -0 < +0; NaN if an operand is NaN."""

    name = "arith.maximumf"


class MinimumFOp(ExtremeFloat):
    """Minimum, where -0 < +0; NaN if an operand is NaN."""

    name = "arith.minimumf"


class MaxNumFOp(ExtremeFloat):
    """Maximum; the other operand if one is NaN."""

    name = "arith.maxnumf"


class MinNumFOp(ExtremeFloat):
    """Minimum; the other operand if one is NaN."""

    name = "arith.minnumf"


class NegFOp(Operation):
    """Negation, also of zeros and NaNs."""

    name = "arith.negf"
    effects = Effects.PURE
    traits = (SameType("operand", "result"), ELEMENTWISE)
    syntax = f"$operand {FAST_MATH_SYNTAX} attr-dict `:` type($result)"

    operand = d.operand(FLOAT_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(FLOAT_LIKE)
