"""Elementwise integer arithmetic on tiles.

Integer types are signless: operations whose result depends on the sign have a `signedness`.
Arithmetic wraps around; an `overflow` attribute asserts that it does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.cuda_tile.constraints import BOOL_TILE, INT_TILE
from tilewright.dialects.cuda_tile.enums import Overflow, Rounding, Signedness
from tilewright.dialects.cuda_tile.kinds import (
    COMPARISON_PREDICATE,
    OVERFLOW,
    ROUNDING,
    SIGNEDNESS,
)
from tilewright.dialects.cuda_tile.traits import same_shape
from tilewright.dialects.rounding import rounding_problems
from tilewright.ir import declare as d
from tilewright.ir.traits import COMMUTATIVE, Effects, SameType

SAME = SameType("lhs", "rhs", "result")


class UnaryInteger(TileOp):
    """Base of the unary operations."""

    since = (13, 1)
    effects = Effects.PURE
    traits = (SameType("source", "result"),)
    syntax = "$source attr-dict `:` type($result)"

    source = d.operand(INT_TILE)
    result = d.result(INT_TILE)


class BinaryInteger(TileOp):
    """Base of the binary operations."""

    since = (13, 1)
    effects = Effects.PURE
    traits = (SAME,)
    syntax = "$lhs `,` $rhs attr-dict `:` type($result)"

    lhs = d.operand(INT_TILE)
    rhs = d.operand(INT_TILE)
    result = d.result(INT_TILE)


class OverflowingInteger(BinaryInteger):
    """Base of the binary operations with overflow flags."""

    syntax = "$lhs `,` $rhs (`overflow` `<` $overflow^ `>`)? attr-dict `:` type($result)"

    overflow = d.attribute(OVERFLOW, default=Overflow.NONE)


class SignedInteger(BinaryInteger):
    """Base of the binary operations with a signedness."""

    syntax = "$lhs `,` $rhs $signedness attr-dict `:` type($result)"

    signedness = d.attribute(SIGNEDNESS)


class AbsIOp(UnaryInteger):
    """Absolute value of a signed integer, as an unsigned one: it never overflows."""

    name = "cuda_tile.absi"


class NegIOp(UnaryInteger):
    """Two's-complement negation: `result[i] = 0 - source[i]`."""

    name = "cuda_tile.negi"
    syntax = "$source (`overflow` `<` $overflow^ `>`)? attr-dict `:` type($result)"

    overflow = d.attribute(OVERFLOW, default=Overflow.NONE, since=(13, 2))

    def verify(self) -> Iterator[str]:
        # An unsigned negation wraps for all operands but zero.
        if self.overflow is Overflow.NO_UNSIGNED_WRAP:
            yield "expected overflow none, no_signed_wrap or no_wrap, got no_unsigned_wrap"


class AddIOp(OverflowingInteger):
    """Addition: `result[i] = lhs[i] + rhs[i]`."""

    name = "cuda_tile.addi"
    traits = (SAME, COMMUTATIVE)


class SubIOp(OverflowingInteger):
    """Subtraction: `result[i] = lhs[i] - rhs[i]`."""

    name = "cuda_tile.subi"


class MulIOp(OverflowingInteger):
    """Multiplication: `result[i] = lhs[i] * rhs[i]`."""

    name = "cuda_tile.muli"
    traits = (SAME, COMMUTATIVE)


class MulhiIOp(TileOp):
    """High half of an unsigned widening multiplication: for i32, `(x[i] * y[i]) >> 32`."""

    name = "cuda_tile.mulhii"
    since = (13, 1)
    effects = Effects.PURE
    traits = (SameType("x", "y", "result"), COMMUTATIVE)
    syntax = "$x `,` $y attr-dict `:` type($result)"

    x = d.operand(INT_TILE)
    y = d.operand(INT_TILE)
    result = d.result(INT_TILE)


class DivIOp(SignedInteger):
    """Division, by default rounded toward zero.

    Division by zero is undefined, and so is the least signed value divided by -1: the operation
    must not be speculated.
    """

    name = "cuda_tile.divi"
    effects = Effects.NONE
    syntax = (
        "$lhs `,` $rhs $signedness (`rounding` `<` $rounding^ `>`)? attr-dict `:` type($result)"
    )

    rounding = d.attribute(ROUNDING, default=Rounding.ZERO)

    def verify(self) -> Iterator[str]:
        allowed = (Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF)
        yield from rounding_problems(self.rounding, allowed)
        if self.rounding is Rounding.NEGATIVE_INF and self.signedness is Signedness.UNSIGNED:
            yield "expected signed division with rounding mode negative_inf, got unsigned"


class RemIOp(SignedInteger):
    """Remainder of the division that truncates: it has the sign of `lhs`."""

    name = "cuda_tile.remi"


class MaxIOp(SignedInteger):
    """Maximum."""

    name = "cuda_tile.maxi"
    traits = (SAME, COMMUTATIVE)


class MinIOp(SignedInteger):
    """Minimum."""

    name = "cuda_tile.mini"
    traits = (SAME, COMMUTATIVE)


class CmpIOp(TileOp):
    """Comparison: true where the predicate holds between `lhs[i]` and `rhs[i]`.

    The signedness is irrelevant for `equal` and `not_equal`.
    """

    name = "cuda_tile.cmpi"
    since = (13, 1)
    effects = Effects.PURE
    traits = (SameType("lhs", "rhs"), same_shape("lhs", "result"))
    syntax = (
        "$comparison_predicate $lhs `,` $rhs `,` $signedness attr-dict "
        "`:` type($lhs) `->` type($result)"
    )

    comparison_predicate = d.attribute(COMPARISON_PREDICATE)
    lhs = d.operand(INT_TILE)
    rhs = d.operand(INT_TILE)
    signedness = d.attribute(SIGNEDNESS)
    result = d.result(BOOL_TILE)


class ShLIOp(OverflowingInteger):
    """Left shift by an unsigned count: `result[i] = lhs[i] << rhs[i]`."""

    name = "cuda_tile.shli"


class ShRIOp(SignedInteger):
    """Right shift by an unsigned count: arithmetic if signed, logical if unsigned."""

    name = "cuda_tile.shri"
