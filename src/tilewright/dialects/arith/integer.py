"""Integer arithmetic: sums, products, quotients, shifts, bits, extremes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tilewright.dialects.arith.attributes import NO_OVERFLOW, OVERFLOW, OVERFLOW_SYNTAX
from tilewright.dialects.elements import BOOL_LIKE, INTEGER_LIKE, SameShape, with_element
from tilewright.dialects.inference import InferringOp
from tilewright.ir import declare as d
from tilewright.ir.attributes import Attribute, Type
from tilewright.ir.operation import Operation
from tilewright.ir.traits import COMMUTATIVE, Effects, SameType
from tilewright.ir.types import I1

SAME = SameType("lhs", "rhs", "result")


class BinaryInteger(Operation):
    """Base of the operations on two integers of one type, element by element."""

    effects = Effects.PURE
    traits = (SAME,)
    syntax = "$lhs `,` $rhs attr-dict `:` type($result)"

    lhs = d.operand(INTEGER_LIKE)
    rhs = d.operand(INTEGER_LIKE)
    result = d.result(INTEGER_LIKE)


class OverflowingInteger(BinaryInteger):
    """Base of those that wrap, unless they promise not to."""

    syntax = f"$lhs `,` $rhs {OVERFLOW_SYNTAX} attr-dict `:` type($result)"

    overflow = d.attribute(OVERFLOW, default=NO_OVERFLOW, spelling="overflowFlags")


class ExactInteger(BinaryInteger):
    """Base of those that may promise to leave no remainder."""

    syntax = "$lhs `,` $rhs (`exact` $is_exact^)? attr-dict `:` type($result)"

    is_exact = d.flag(spelling="isExact")


class AddIOp(OverflowingInteger):
    """`lhs + rhs`, modulo a power of two."""

    name = "arith.addi"
    traits = (SAME, COMMUTATIVE)


class SubIOp(OverflowingInteger):
    """`lhs - rhs`, modulo a power of two."""

    name = "arith.subi"


class MulIOp(OverflowingInteger):
    """`lhs * rhs`, modulo a power of two."""

    name = "arith.muli"
    traits = (SAME, COMMUTATIVE)


class ShLIOp(OverflowingInteger):
    """`lhs * 2**rhs`; undefined unless the amount is below the width."""

    name = "arith.shli"


class DivSIOp(ExactInteger):
    """The signed quotient, rounded to zero; undefined for zero and for overflow."""

    name = "arith.divsi"
    effects = Effects.NONE


class DivUIOp(ExactInteger):
    """The unsigned quotient, rounded to zero; undefined for zero."""

    name = "arith.divui"
    effects = Effects.NONE


class FloorDivSIOp(BinaryInteger):
    """The signed quotient, rounded down; undefined for zero and for overflow."""

    name = "arith.floordivsi"
    effects = Effects.NONE


class CeilDivSIOp(BinaryInteger):
    """The signed quotient, rounded up; undefined for zero and for overflow."""

    name = "arith.ceildivsi"
    effects = Effects.NONE


class CeilDivUIOp(BinaryInteger):
    """The unsigned quotient, rounded up; undefined for zero."""

    name = "arith.ceildivui"
    effects = Effects.NONE


class RemSIOp(BinaryInteger):
    """What `divsi` leaves, with the sign of `lhs`."""

    name = "arith.remsi"
    effects = Effects.NONE


class RemUIOp(BinaryInteger):
    """What `divui` leaves."""

    name = "arith.remui"
    effects = Effects.NONE


class ShRSIOp(ExactInteger):
    """`lhs / 2**rhs` rounded down, signed; undefined unless the amount is below the width."""

    name = "arith.shrsi"


class ShRUIOp(ExactInteger):
    """`lhs / 2**rhs` rounded down, unsigned; undefined unless the amount is below the width."""

    name = "arith.shrui"


class CommutativeInteger(BinaryInteger):
    """Base of the operations whose operands may change places."""

    traits = (SAME, COMMUTATIVE)


class AndIOp(CommutativeInteger):
    """Bits that are set in both."""

    name = "arith.andi"


class OrIOp(CommutativeInteger):
    """Bits that are set in at least one."""

    name = "arith.ori"


class XOrIOp(CommutativeInteger):
    """Bits that are set in exactly one."""

    name = "arith.xori"


class MaxSIOp(CommutativeInteger):
    """The larger of two signed integers."""

    name = "arith.maxsi"


class MaxUIOp(CommutativeInteger):
    """The larger of two unsigned integers."""

    name = "arith.maxui"


class MinSIOp(CommutativeInteger):
    """The smaller of two signed integers."""

    name = "arith.minsi"


class MinUIOp(CommutativeInteger):
    """The smaller of two unsigned integers."""

    name = "arith.minui"


class AddUIExtendedOp(InferringOp):
    """The unsigned sum, and whether it did not fit."""

    name = "arith.addui_extended"
    effects = Effects.PURE
    traits = (SameType("lhs", "rhs", "sum"), SameShape("lhs", "overflow"), COMMUTATIVE)
    syntax = "$lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow)"

    lhs = d.operand(INTEGER_LIKE)
    rhs = d.operand(INTEGER_LIKE)
    sum = d.result(INTEGER_LIKE)
    overflow = d.result(BOOL_LIKE)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        (type,) = types["lhs"]
        return (type, with_element(type, I1))

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return enumerate(("sum", "overflow"))


class WideProduct(InferringOp):
    """Base of the products whose high halves are kept."""

    effects = Effects.PURE
    traits = (SameType("lhs", "rhs", "low", "high"), COMMUTATIVE)
    syntax = "$lhs `,` $rhs attr-dict `:` type($lhs)"

    lhs = d.operand(INTEGER_LIKE)
    rhs = d.operand(INTEGER_LIKE)
    low = d.result(INTEGER_LIKE)
    high = d.result(INTEGER_LIKE)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        return (*types["lhs"], *types["lhs"])

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return enumerate(("low", "high"))


class MulSIExtendedOp(WideProduct):
    """Both halves of the signed product."""

    name = "arith.mulsi_extended"


class MulUIExtendedOp(WideProduct):
    """Both halves of the unsigned product."""

    name = "arith.mului_extended"
