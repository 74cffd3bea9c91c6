"""Integer and float arithmetic, comparisons and selects, on scalars and vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.dialects.arith.attributes import CMPF_PREDICATE, CMPI_PREDICATE
from tilewright.dialects.inference import InferringOp
from tilewright.dialects.llvm.attributes import (
    FAST_MATH,
    OVERFLOW,
)
from tilewright.dialects.llvm.base import LLVMOp
from tilewright.dialects.llvm.constraints import ANY, CONDITION, FLOAT, INTEGER, POINTERS
from tilewright.dialects.llvm.flags import FastMathFlags, OverflowFlags
from tilewright.dialects.llvm.types import condition_type
from tilewright.ir import declare as d
from tilewright.ir.traits import COMMUTATIVE, Effects, SameType
from tilewright.ir.types import I1

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type

SAME = SameType("lhs", "rhs", "res")


class IntegerBinary(LLVMOp):
    """Base of the binary integer operations."""

    effects = Effects.PURE
    traits = (SAME,)
    syntax = "$lhs `,` $rhs attr-dict `:` type($res)"

    lhs = d.operand(INTEGER)
    rhs = d.operand(INTEGER)
    res = d.result(INTEGER)


class OverflowingBinary(IntegerBinary):
    """Base of the operations with `nsw` and `nuw` flags."""

    syntax = "$lhs `,` $rhs (`overflow` `` $overflow^)? attr-dict `:` type($res)"

    overflow = d.attribute(OVERFLOW, default=OverflowFlags(), spelling="overflowFlags")


class ExactBinary(IntegerBinary):
    """Base of the operations with an `exact` flag."""

    syntax = "(`exact` $exact^)? $lhs `,` $rhs attr-dict `:` type($res)"

    exact = d.flag(spelling="isExact")


class AddOp(OverflowingBinary):
    """Integer addition, wrapping."""

    name = "llvm.add"
    traits = (SAME, COMMUTATIVE)


class SubOp(OverflowingBinary):
    """Integer subtraction, wrapping."""

    name = "llvm.sub"


class MulOp(OverflowingBinary):
    """Integer multiplication, wrapping."""

    name = "llvm.mul"
    traits = (SAME, COMMUTATIVE)


class UDivOp(ExactBinary):
    """Unsigned division; division by zero is undefined."""

    name = "llvm.udiv"
    effects = Effects.NONE


class SDivOp(ExactBinary):
    """Signed division, rounded toward zero; division by zero is undefined."""

    name = "llvm.sdiv"
    effects = Effects.NONE


class URemOp(IntegerBinary):
    """Unsigned remainder."""

    name = "llvm.urem"
    effects = Effects.NONE


class SRemOp(IntegerBinary):
    """Signed remainder, with the sign of the dividend."""

    name = "llvm.srem"
    effects = Effects.NONE


class AndOp(IntegerBinary):
    """Bitwise and."""

    name = "llvm.and"
    traits = (SAME, COMMUTATIVE)


class OrOp(IntegerBinary):
    """Bitwise or; `disjoint` asserts that no bit is set in both operands."""

    name = "llvm.or"
    traits = (SAME, COMMUTATIVE)
    syntax = "(`disjoint` $disjoint^)? $lhs `,` $rhs attr-dict `:` type($res)"

    disjoint = d.flag(spelling="isDisjoint")


class XorOp(IntegerBinary):
    """Bitwise exclusive or."""

    name = "llvm.xor"
    traits = (SAME, COMMUTATIVE)


class ShlOp(OverflowingBinary):
    """Left shift; an amount of at least the width is undefined."""

    name = "llvm.shl"


class LShrOp(ExactBinary):
    """Logical right shift."""

    name = "llvm.lshr"


class AShrOp(ExactBinary):
    """Arithmetic right shift."""

    name = "llvm.ashr"


class FloatBinary(LLVMOp):
    """Base of the binary float operations."""

    effects = Effects.PURE
    traits = (SAME,)
    syntax = "$lhs `,` $rhs attr-dict `:` type($res)"

    lhs = d.operand(FLOAT)
    rhs = d.operand(FLOAT)
    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")
    res = d.result(FLOAT)


class FAddOp(FloatBinary):
    """Float addition, rounded to nearest."""

    name = "llvm.fadd"
    traits = (SAME, COMMUTATIVE)


class FSubOp(FloatBinary):
    """Float subtraction, rounded to nearest."""

    name = "llvm.fsub"


class FMulOp(FloatBinary):
    """Float multiplication, rounded to nearest."""

    name = "llvm.fmul"
    traits = (SAME, COMMUTATIVE)


class FDivOp(FloatBinary):
    """Float division, rounded to nearest; approximate under `afn` and `arcp`."""

    name = "llvm.fdiv"


class FRemOp(FloatBinary):
    """Float remainder, with the sign of the dividend."""

    name = "llvm.frem"


class FNegOp(LLVMOp):
    """Float negation."""

    name = "llvm.fneg"
    effects = Effects.PURE
    traits = (SameType("operand", "res"),)
    syntax = "$operand attr-dict `:` type($res)"

    operand = d.operand(FLOAT)
    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")
    res = d.result(FLOAT)


class Comparison(LLVMOp, InferringOp):
    """Base of the comparisons; the result is i1 or a vector of i1."""

    effects = Effects.PURE
    traits = (SameType("lhs", "rhs"),)
    syntax = "custom<Predicate>($predicate) $lhs `,` $rhs attr-dict `:` type($lhs)"

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        return (condition_type(types["lhs"][0]),)


class ICmpOp(Comparison):
    """Comparison of integers or of addresses."""

    name = "llvm.icmp"

    predicate = d.attribute(CMPI_PREDICATE)
    lhs = d.operand(INTEGER | POINTERS)
    rhs = d.operand(INTEGER | POINTERS)
    res = d.result(CONDITION)


class FCmpOp(Comparison):
    """Comparison of floats."""

    name = "llvm.fcmp"

    predicate = d.attribute(CMPF_PREDICATE)
    lhs = d.operand(FLOAT)
    rhs = d.operand(FLOAT)
    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")
    res = d.result(CONDITION)


class SelectOp(LLVMOp):
    """Select one of two values; a vector condition selects elementwise."""

    name = "llvm.select"
    effects = Effects.PURE
    traits = (SameType("true_value", "false_value", "res"),)
    syntax = (
        "$condition `,` $true_value `,` $false_value attr-dict `:` type($condition) `,` type($res)"
    )

    condition = d.operand(CONDITION)
    true_value = d.operand(ANY)
    false_value = d.operand(ANY)
    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")
    res = d.result(ANY)

    def verify(self) -> Iterator[str]:
        expected = condition_type(self.res.type)
        type = self.condition.type
        if type is not I1 and type is not expected:
            yield f"expected a condition of type 'i1' or '{expected}', got '{type}'"


class FreezeOp(LLVMOp):
    """Freeze undef and poison to an arbitrary but fixed value."""

    name = "llvm.freeze"
    effects = Effects.PURE
    traits = (SameType("val", "res"),)
    syntax = "$val attr-dict `:` type($val)"

    val = d.operand(ANY)
    res = d.result(ANY)
