"""Elementwise integer arithmetic on tiles.

Integer types are signless: operations whose result depends on the sign have a `signedness`.
Arithmetic wraps around; the `overflow` flags `nsw` and `nuw` assert that it does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.arith.attributes import (
    CMPI_PREDICATE,
    NO_OVERFLOW,
    OVERFLOW,
    OVERFLOW_SYNTAX,
)
from tilewright.dialects.arith.comparison import ComparisonOp
from tilewright.dialects.nv_tileaa.attributes import (
    ROUNDING_MODE,
    SIGNEDNESS,
    RoundingMode,
    Signedness,
)
from tilewright.dialects.nv_tileaa.constraints import BOOL_TILE, INT_TILE
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation
from tilewright.ir.traits import COMMUTATIVE, ELEMENTWISE, Effects, SameType

SAME: Final = SameType("lhs", "rhs", "result")


class UnaryInteger(Operation):
    """Base of the unary operations."""

    effects = Effects.PURE
    traits = (SameType("source", "result"), ELEMENTWISE)
    syntax = "$source attr-dict `:` type($result)"

    source = d.operand(INT_TILE)
    result = d.result(INT_TILE)


class BinaryInteger(Operation):
    """Base of the binary operations."""

    effects = Effects.PURE
    traits = (SAME, ELEMENTWISE)
    syntax = "$lhs `,` $rhs attr-dict `:` type($result)"

    lhs = d.operand(INT_TILE)
    rhs = d.operand(INT_TILE)
    result = d.result(INT_TILE)


class OverflowingInteger(BinaryInteger):
    """Base of the binary operations with overflow flags."""

    syntax = f"$lhs `,` $rhs {OVERFLOW_SYNTAX} attr-dict `:` type($result)"

    overflow = d.attribute(OVERFLOW, default=NO_OVERFLOW)


class SignedInteger(BinaryInteger):
    """Base of the binary operations with a signedness."""

    syntax = "$lhs `,` $rhs $signedness attr-dict `:` type($result)"

    signedness = d.attribute(SIGNEDNESS)


class AbsIOp(UnaryInteger):
    """Absolute value of a signed integer, as an unsigned one: it never overflows."""

    name = "nv_tileaa.absi"


class NegIOp(UnaryInteger):
    """Two's-complement negation: `result[i] = 0 - source[i]`."""

    name = "nv_tileaa.negi"
    syntax = f"$source {OVERFLOW_SYNTAX} attr-dict `:` type($result)"

    overflow = d.attribute(OVERFLOW, default=NO_OVERFLOW)


class AddIOp(OverflowingInteger):
    """Addition: `result[i] = lhs[i] + rhs[i]`."""

    name = "nv_tileaa.addi"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class SubIOp(OverflowingInteger):
    """Subtraction: `result[i] = lhs[i] - rhs[i]`."""

    name = "nv_tileaa.subi"


class MulIOp(OverflowingInteger):
    """Multiplication: `result[i] = lhs[i] * rhs[i]`."""

    name = "nv_tileaa.muli"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class MulHiUIOp(BinaryInteger):
    """High half of an unsigned widening multiplication: for i32, `(lhs[i] * rhs[i]) >> 32`."""

    name = "nv_tileaa.mulhiui"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class DivIOp(SignedInteger):
    """Division, by default rounded toward zero.

    Division by zero is undefined, and so is the least signed value divided by -1: the operation
    must not be speculated.
    """

    name = "nv_tileaa.divi"
    effects = Effects.NONE
    syntax = (
        "$lhs `,` $rhs $signedness (`rounding` `<` $rounding_mode^ `>`)? "
        "attr-dict `:` type($result)"
    )

    rounding_mode = d.attribute(ROUNDING_MODE, default=RoundingMode.ZERO)

    def verify(self) -> Iterator[str]:
        allowed = (RoundingMode.ZERO, RoundingMode.NEGATIVE_INF, RoundingMode.POSITIVE_INF)
        mode = self.rounding_mode
        if mode not in allowed:
            expected = " or ".join(each.keyword for each in allowed)
            yield f"expected rounding mode {expected}, got {mode.keyword}"
        elif mode is RoundingMode.NEGATIVE_INF and self.signedness is Signedness.UNSIGNED:
            yield "expected signed division with rounding mode negative_inf, got unsigned"


class RemIOp(SignedInteger):
    """Remainder of the division that truncates: it has the sign of `lhs`."""

    name = "nv_tileaa.remi"
    effects = Effects.NONE


class AndIOp(BinaryInteger):
    """Bitwise and: `result[i] = lhs[i] & rhs[i]`."""

    name = "nv_tileaa.andi"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class OrIOp(BinaryInteger):
    """Bitwise or: `result[i] = lhs[i] | rhs[i]`."""

    name = "nv_tileaa.ori"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class XOrIOp(BinaryInteger):
    """Bitwise exclusive or: `result[i] = lhs[i] ^ rhs[i]`."""

    name = "nv_tileaa.xori"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class ShLIOp(OverflowingInteger):
    """Left shift by an unsigned count: `result[i] = lhs[i] << rhs[i]`."""

    name = "nv_tileaa.shli"


class ShRIOp(SignedInteger):
    """Right shift by an unsigned count: arithmetic if signed, logical if unsigned."""

    name = "nv_tileaa.shri"


class CmpIOp(ComparisonOp):
    """Comparison: true where the predicate holds between `lhs[i]` and `rhs[i]`."""

    name = "nv_tileaa.cmpi"
    traits = (SameType("lhs", "rhs"), ELEMENTWISE)
    syntax = "$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)"

    predicate = d.attribute(CMPI_PREDICATE)
    lhs = d.operand(INT_TILE)
    rhs = d.operand(INT_TILE)
    result = d.result(BOOL_TILE)
