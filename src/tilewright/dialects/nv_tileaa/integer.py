"""Integer arithmetic on tiles, element by element.

Integers have no sign of their own: where the sign matters, the operation says how to read them.
Arithmetic wraps around; `overflow` is a promise that it does not.
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
from tilewright.dialects.nv_tileaa.constraints import BOOL_TILE, ELEMENTWISE, INT_TILE
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation
from tilewright.ir.traits import COMMUTATIVE, Effects, SameType

SAME: Final = SameType("lhs", "rhs", "result")


class UnaryInteger(Operation):
    """Base of the operations from one tile of integers to another of its type."""

    effects = Effects.PURE
    traits = (SameType("source", "result"), ELEMENTWISE)
    syntax = "$source attr-dict `:` type($result)"

    source = d.operand(INT_TILE)
    result = d.result(INT_TILE)


class BinaryInteger(Operation):
    """Base of the operations from two tiles of integers to one, all of the same type."""

    effects = Effects.PURE
    traits = (SAME, ELEMENTWISE)
    syntax = "$lhs `,` $rhs attr-dict `:` type($result)"

    lhs = d.operand(INT_TILE)
    rhs = d.operand(INT_TILE)
    result = d.result(INT_TILE)


class OverflowingInteger(BinaryInteger):
    """Base of the operations that may be promised not to overflow."""

    syntax = f"$lhs `,` $rhs {OVERFLOW_SYNTAX} attr-dict `:` type($result)"

    overflow = d.attribute(OVERFLOW, default=NO_OVERFLOW)


class SignedInteger(BinaryInteger):
    """Base of the operations whose result depends on how the integers are read."""

    syntax = "$lhs `,` $rhs $signedness attr-dict `:` type($result)"

    signedness = d.attribute(SIGNEDNESS)


class AbsIOp(UnaryInteger):
    """Magnitude of a signed integer, as an unsigned one: that of the least value fits as well."""

    name = "nv_tileaa.absi"


class NegIOp(UnaryInteger):
    """Two's-complement negation: `result[i] = 0 - source[i]`."""

    name = "nv_tileaa.negi"
    syntax = f"$source {OVERFLOW_SYNTAX} attr-dict `:` type($result)"

    overflow = d.attribute(OVERFLOW, default=NO_OVERFLOW)


class AddIOp(OverflowingInteger):
    """Sum: `result[i] = lhs[i] + rhs[i]`."""

    name = "nv_tileaa.addi"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class SubIOp(OverflowingInteger):
    """Difference: `result[i] = lhs[i] - rhs[i]`."""

    name = "nv_tileaa.subi"


class MulIOp(OverflowingInteger):
    """Low half of the product: `result[i] = lhs[i] * rhs[i]`."""

    name = "nv_tileaa.muli"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class MulHiUIOp(BinaryInteger):
    """High half of the product of unsigned integers: for 32 bits, `(lhs[i] * rhs[i]) >> 32`."""

    name = "nv_tileaa.mulhiui"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class DivIOp(SignedInteger):
    """Quotient, rounded toward zero unless told otherwise.

    Division by zero is undefined, and so is that of the least signed value by minus one: the
    operation must not run where the program did not run it.
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
    """Remainder of the division that rounds toward zero: it has the sign of `lhs`."""

    name = "nv_tileaa.remi"
    effects = Effects.NONE


class AndIOp(BinaryInteger):
    """Bits that are set in both: `result[i] = lhs[i] & rhs[i]`."""

    name = "nv_tileaa.andi"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class OrIOp(BinaryInteger):
    """Bits that are set in at least one: `result[i] = lhs[i] | rhs[i]`."""

    name = "nv_tileaa.ori"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class XOrIOp(BinaryInteger):
    """Bits that are set in exactly one: `result[i] = lhs[i] ^ rhs[i]`."""

    name = "nv_tileaa.xori"
    traits = (SAME, ELEMENTWISE, COMMUTATIVE)


class ShLIOp(OverflowingInteger):
    """Shift to the left by an unsigned count: `result[i] = lhs[i] << rhs[i]`."""

    name = "nv_tileaa.shli"


class ShRIOp(SignedInteger):
    """Shift to the right by an unsigned count.

    A signed shift copies the top bit of `lhs`, an unsigned one brings in zeros.
    """

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
