"""Integer arithmetic: add, sub, mul, div, rem, shifts, bitwise operations, max and min."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tilewright.dialects.arith.attributes import NO_OVERFLOW, OVERFLOW, OVERFLOW_SYNTAX
from tilewright.dialects.elements import BOOL_LIKE, INTEGER_LIKE, SameShape, with_element
from tilewright.dialects.inference import InferringOp
from tilewright.ir import declare as d
from tilewright.ir.attributes import Attribute, Type
from tilewright.ir.operation import Operation
from tilewright.ir.traits import COMMUTATIVE, ELEMENTWISE, Effects, SameType
from tilewright.ir.types import I1

SAME = SameType("lhs", "rhs", "result")


class BinaryInteger(Operation):
    """Base of the elementwise binary operations."""

    effects = Effects.PURE
    traits = (SAME, ELEMENTWISE)
    syntax = "$lhs `,` $rhs attr-dict `:` type($result)"

    lhs = d.operand(INTEGER_LIKE)
    rhs = d.operand(INTEGER_LIKE)
    result = d.result(INTEGER_LIKE)


class OverflowingInteger(BinaryInteger):
    """Base of the binary operations with overflow flags; they wrap without flags."""

    syntax = f"$lhs `,` $rhs {OVERFLOW_SYNTAX} attr-dict `:` type($result)"

    overflow = d.attribute(OVERFLOW, default=NO_OVERFLOW, spelling="overflowFlags")


class ExactInteger(BinaryInteger):
    """Base of the binary operations with an `exact` flag: no remainder, no lost bits."""

    syntax = "$lhs `,` $rhs (`exact` $is_exact^)? attr-dict `:` type($result)"

    is_exact = d.flag(spelling="isExact")


class AddIOp(OverflowingInteger):
    """`lhs + rhs`, modulo a power of two."""

    name = "arith.addi"
    traits = (SAME, COMMUTATIVE, ELEMENTWISE)


class SubIOp(OverflowingInteger):
    """`lhs - rhs`, modulo a power of two."""

    name = "arith.subi"


class MulIOp(OverflowingInteger):
    """`lhs * rhs`, modulo a power of two."""

    name = "arith.muli"
    traits = (SAME, COMMUTATIVE, ELEMENTWISE)


class ShLIOp(OverflowingInteger):
    """Left shift; undefined unless the amount is below the width."""

    name = "arith.shli"


class DivSIOp(ExactInteger):
    """Signed division, rounded toward zero; undefined for zero and for overflow."""

    name = "arith.divsi"
    effects = Effects.NONE


class DivUIOp(ExactInteger):
    """Unsigned division, rounded toward zero; undefined for zero."""

    name = "arith.divui"
    effects = Effects.NONE


class FloorDivSIOp(BinaryInteger):
    """Signed division, rounded down; undefined for zero and for overflow."""

    name = "arith.floordivsi"
    effects = Effects.NONE


class CeilDivSIOp(BinaryInteger):
    """Signed division, rounded up; undefined for zero and for overflow."""

    name = "arith.ceildivsi"
    effects = Effects.NONE


class CeilDivUIOp(BinaryInteger):
    """Unsigned division, rounded up; undefined for zero."""

    name = "arith.ceildivui"
    effects = Effects.NONE


class RemSIOp(BinaryInteger):
    """Remainder of `divsi`, with the sign of `lhs`."""

    name = "arith.remsi"
    effects = Effects.NONE


class RemUIOp(BinaryInteger):
    """Remainder of `divui`."""

    name = "arith.remui"
    effects = Effects.NONE


class ShRSIOp(ExactInteger):
    """Arithmetic right shift; undefined unless the amount is below the width."""

    name = "arith.shrsi"


class ShRUIOp(ExactInteger):
    """Logical right shift; undefined unless the amount is below the width."""

    name = "arith.shrui"


class CommutativeInteger(BinaryInteger):
    """Base of the commutative operations."""

    traits = (SAME, COMMUTATIVE, ELEMENTWISE)


class AndIOp(CommutativeInteger):
    """Bitwise and."""

    name = "arith.andi"


class OrIOp(CommutativeInteger):
    """Bitwise or."""

    name = "arith.ori"


class XOrIOp(CommutativeInteger):
    """Bitwise exclusive or."""

    name = "arith.xori"


class MaxSIOp(CommutativeInteger):
    """Signed maximum."""

    name = "arith.maxsi"


class MaxUIOp(CommutativeInteger):
    """Unsigned maximum."""

    name = "arith.maxui"


class MinSIOp(CommutativeInteger):
    """Signed minimum."""

    name = "arith.minsi"


class MinUIOp(CommutativeInteger):
    """Unsigned minimum."""

    name = "arith.minui"


class AddUIExtendedOp(InferringOp):
    """Unsigned addition with carry out."""

    name = "arith.addui_extended"
    effects = Effects.PURE
    traits = (SameType("lhs", "rhs", "sum"), SameShape("lhs", "overflow"), COMMUTATIVE, ELEMENTWISE)
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


class ExtendedMulOp(InferringOp):
    """Base of the widening multiplications, which return the low and the high half."""

    effects = Effects.PURE
    traits = (SameType("lhs", "rhs", "low", "high"), COMMUTATIVE, ELEMENTWISE)
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


class MulSIExtendedOp(ExtendedMulOp):
    """Signed widening multiplication."""

    name = "arith.mulsi_extended"


class MulUIExtendedOp(ExtendedMulOp):
    """Unsigned widening multiplication."""

    name = "arith.mului_extended"
