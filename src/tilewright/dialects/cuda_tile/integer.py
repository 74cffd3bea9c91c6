"""Integer arithmetic on tiles, element by element.

Integers have no sign of their own: where the sign matters, the operation says how to read them.
Arithmetic wraps around; an `overflow` attribute is a promise that it does not.
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
    """Base of the operations from one integer tile to another of its type."""

    since = (13, 1)
    effects = Effects.PURE
    traits = (SameType("source", "result"),)
    syntax = "$source attr-dict `:` type($result)"

    source = d.operand(INT_TILE)
    result = d.result(INT_TILE)


class BinaryInteger(TileOp):
    """Base of the operations from two integer tiles to one, all of the same type."""

    since = (13, 1)
    effects = Effects.PURE
    traits = (SAME,)
    syntax = "$lhs `,` $rhs attr-dict `:` type($result)"

    lhs = d.operand(INT_TILE)
    rhs = d.operand(INT_TILE)
    result = d.result(INT_TILE)


class OverflowingInteger(BinaryInteger):
    """Base of the operations that may be promised not to overflow."""

    syntax = "$lhs `,` $rhs (`overflow` `<` $overflow^ `>`)? attr-dict `:` type($result)"

    overflow = d.attribute(OVERFLOW, default=Overflow.NONE)


class SignedInteger(BinaryInteger):
    """Base of the operations whose result depends on how the integers are read."""

    syntax = "$lhs `,` $rhs $signedness attr-dict `:` type($result)"

    signedness = d.attribute(SIGNEDNESS)


class AbsIOp(UnaryInteger):
    """Magnitude of a signed integer, as an unsigned one: that of the least value fits as well."""

    name = "cuda_tile.absi"


class NegIOp(UnaryInteger):
    """Two's-complement negation: `result[i] = 0 - source[i]`."""

    name = "cuda_tile.negi"
    syntax = "$source (`overflow` `<` $overflow^ `>`)? attr-dict `:` type($result)"

    overflow = d.attribute(OVERFLOW, default=Overflow.NONE, since=(13, 2))

    def verify(self) -> Iterator[str]:
        # Negation is signed: an unsigned one would wrap for everything but zero.
        if self.overflow is Overflow.NO_UNSIGNED_WRAP:
            yield "expected overflow none, no_signed_wrap or no_wrap, got no_unsigned_wrap"


class AddIOp(OverflowingInteger):
    """Sum: `result[i] = lhs[i] + rhs[i]`."""

    name = "cuda_tile.addi"
    traits = (SAME, COMMUTATIVE)


class SubIOp(OverflowingInteger):
    """Difference: `result[i] = lhs[i] - rhs[i]`."""

    name = "cuda_tile.subi"


class MulIOp(OverflowingInteger):
    """Low half of the product: `result[i] = lhs[i] * rhs[i]`."""

    name = "cuda_tile.muli"
    traits = (SAME, COMMUTATIVE)


class MulhiIOp(TileOp):
    """High half of the product of unsigned integers: for 32 bits, `(x[i] * y[i]) >> 32`."""

    name = "cuda_tile.mulhii"
    since = (13, 1)
    effects = Effects.PURE
    traits = (SameType("x", "y", "result"), COMMUTATIVE)
    syntax = "$x `,` $y attr-dict `:` type($result)"

    x = d.operand(INT_TILE)
    y = d.operand(INT_TILE)
    result = d.result(INT_TILE)


class DivIOp(SignedInteger):
    """Quotient, rounded toward zero unless told otherwise.

    Division by zero is undefined, and so is that of the least signed value by minus one: the
    operation must not run where the program did not run it.
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
    """Remainder of the division that rounds toward zero: it has the sign of `lhs`."""

    name = "cuda_tile.remi"


class MaxIOp(SignedInteger):
    """The larger of two integers."""

    name = "cuda_tile.maxi"
    traits = (SAME, COMMUTATIVE)


class MinIOp(SignedInteger):
    """The smaller of two integers."""

    name = "cuda_tile.mini"
    traits = (SAME, COMMUTATIVE)


class CmpIOp(TileOp):
    """Comparison: true where the predicate holds between `lhs[i]` and `rhs[i]`.

    The signedness says how to read both; it means nothing for `equal` and `not_equal`.
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
    """Shift to the left by an unsigned count: `result[i] = lhs[i] << rhs[i]`."""

    name = "cuda_tile.shli"


class ShRIOp(SignedInteger):
    """Shift to the right by an unsigned count.

    A signed shift copies the top bit of `lhs`, an unsigned one brings in zeros.
    """

    name = "cuda_tile.shri"
