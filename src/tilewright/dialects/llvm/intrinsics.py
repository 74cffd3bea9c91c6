"""LLVM's own intrinsics, each an operation: `llvm.intr.sqrt` calls `llvm.sqrt`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.dialects.elements import element_of
from tilewright.dialects.inference import InferringOp
from tilewright.dialects.llvm.attributes import FAST_MATH
from tilewright.dialects.llvm.base import LLVMOp
from tilewright.dialects.llvm.constraints import (
    ANY,
    BOOL,
    CONDITION,
    FLOAT,
    INT8,
    INTEGER,
    POINTER,
    SCALAR_INTEGER,
    STRUCT,
    VECTOR,
)
from tilewright.dialects.llvm.flags import FastMathFlags
from tilewright.dialects.llvm.types import StructType, condition_type
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ATTR, I32_ATTR
from tilewright.ir.traits import COMMUTATIVE, Effects, SameType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type

UNARY = SameType("operand", "res")
BINARY = SameType("lhs", "rhs", "res")
TERNARY = SameType("a", "b", "c", "res")


class IntrinsicOp(LLVMOp):
    """Base of all of them."""

    @property
    def intrinsic(self) -> str:
        """What LLVM calls it, without the types that it is overloaded for."""
        return f"llvm.{self.name.removeprefix('llvm.intr.')}"


class UnaryFloat(IntrinsicOp):
    """Base of the functions of one float."""

    effects = Effects.PURE
    traits = (UNARY,)
    syntax = "`(` $operand `)` attr-dict `:` custom<FunctionalType>($operand, $res)"

    operand = d.operand(FLOAT)
    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")
    res = d.result(FLOAT)


class SqrtOp(UnaryFloat):
    """Square root, rounded to nearest; approximate under `afn`."""

    name = "llvm.intr.sqrt"


class FAbsOp(UnaryFloat):
    """Magnitude."""

    name = "llvm.intr.fabs"


class FloorOp(UnaryFloat):
    """Rounded down."""

    name = "llvm.intr.floor"


class CeilOp(UnaryFloat):
    """Rounded up."""

    name = "llvm.intr.ceil"


class FTruncOp(UnaryFloat):
    """Rounded toward zero."""

    name = "llvm.intr.trunc"


class RintOp(UnaryFloat):
    """Rounded to the nearest integer, ties to even."""

    name = "llvm.intr.rint"


class NearbyintOp(UnaryFloat):
    """Rounded to the nearest integer, ties to even, without a trace."""

    name = "llvm.intr.nearbyint"


class RoundOp(UnaryFloat):
    """Rounded to the nearest integer, ties away from zero."""

    name = "llvm.intr.round"


class RoundEvenOp(UnaryFloat):
    """Rounded to the nearest integer, ties to even."""

    name = "llvm.intr.roundeven"


class ExpOp(UnaryFloat):
    """Exponential; the target has it from libdevice alone."""

    name = "llvm.intr.exp"


class Exp2Op(UnaryFloat):
    """Power of two, approximate."""

    name = "llvm.intr.exp2"


class LogOp(UnaryFloat):
    """Natural logarithm; the target has it from libdevice alone."""

    name = "llvm.intr.log"


class Log2Op(UnaryFloat):
    """Logarithm to base two; the target has it from libdevice alone."""

    name = "llvm.intr.log2"


class Log10Op(UnaryFloat):
    """Logarithm to base ten; the target has it from libdevice alone."""

    name = "llvm.intr.log10"


class SinOp(UnaryFloat):
    """Sine; the target has the approximate one, under `afn`."""

    name = "llvm.intr.sin"


class CosOp(UnaryFloat):
    """Cosine; the target has the approximate one, under `afn`."""

    name = "llvm.intr.cos"


class TanhOp(UnaryFloat):
    """Hyperbolic tangent; the target has the approximate one, under `afn`."""

    name = "llvm.intr.tanh"


class BinaryFloat(IntrinsicOp):
    """Base of the functions of two floats."""

    effects = Effects.PURE
    traits = (BINARY,)
    syntax = "`(` $lhs `,` $rhs `)` attr-dict `:` custom<FunctionalType>($lhs, $rhs, $res)"

    lhs = d.operand(FLOAT)
    rhs = d.operand(FLOAT)
    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")
    res = d.result(FLOAT)


class MaxNumOp(BinaryFloat):
    """The greater one; a NaN loses."""

    name = "llvm.intr.maxnum"
    traits = (BINARY, COMMUTATIVE)


class MinNumOp(BinaryFloat):
    """The lesser one; a NaN loses."""

    name = "llvm.intr.minnum"
    traits = (BINARY, COMMUTATIVE)


class MaximumOp(BinaryFloat):
    """The greater one; a NaN wins."""

    name = "llvm.intr.maximum"
    traits = (BINARY, COMMUTATIVE)


class MinimumOp(BinaryFloat):
    """The lesser one; a NaN wins."""

    name = "llvm.intr.minimum"
    traits = (BINARY, COMMUTATIVE)


class CopySignOp(BinaryFloat):
    """The magnitude of the first with the sign of the second."""

    name = "llvm.intr.copysign"


class PowOp(BinaryFloat):
    """Power; the target has it from libdevice alone."""

    name = "llvm.intr.pow"


class TernaryFloat(IntrinsicOp):
    """Base of the functions of three floats."""

    effects = Effects.PURE
    traits = (TERNARY,)
    syntax = "`(` $a `,` $b `,` $c `)` attr-dict `:` custom<FunctionalType>($a, $b, $c, $res)"

    a = d.operand(FLOAT)
    b = d.operand(FLOAT)
    c = d.operand(FLOAT)
    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")
    res = d.result(FLOAT)


class FMAOp(TernaryFloat):
    """`a * b + c`, rounded once."""

    name = "llvm.intr.fma"


class FMulAddOp(TernaryFloat):
    """`a * b + c`, rounded once or twice."""

    name = "llvm.intr.fmuladd"


class IsFPClassOp(IntrinsicOp, InferringOp):
    """Whether a float is of one of the classes that the bits name."""

    name = "llvm.intr.is.fpclass"
    effects = Effects.PURE
    syntax = "`(` $operand `)` attr-dict `:` custom<FunctionalType>($operand, $res)"

    operand = d.operand(FLOAT)
    bit = d.attribute(I32_ATTR)
    res = d.result(CONDITION)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        return (condition_type(types["operand"][0]),)


class UnaryInteger(IntrinsicOp):
    """Base of the functions of one integer."""

    effects = Effects.PURE
    traits = (UNARY,)
    syntax = "`(` $operand `)` attr-dict `:` custom<FunctionalType>($operand, $res)"

    operand = d.operand(INTEGER)
    res = d.result(INTEGER)


class CtPopOp(UnaryInteger):
    """How many bits are set."""

    name = "llvm.intr.ctpop"


class BitReverseOp(UnaryInteger):
    """The bits from the other end."""

    name = "llvm.intr.bitreverse"


class ByteSwapOp(UnaryInteger):
    """The bytes from the other end."""

    name = "llvm.intr.bswap"


class CountZeros(IntrinsicOp):
    """Base of the counts of zeros before the first bit that is set."""

    effects = Effects.PURE
    traits = (UNARY,)

    operand = d.operand(INTEGER)
    is_zero_poison = d.attribute(BOOL_ATTR)
    res = d.result(INTEGER)


class CountLeadingZerosOp(CountZeros):
    """Zeros from the top."""

    name = "llvm.intr.ctlz"


class CountTrailingZerosOp(CountZeros):
    """Zeros from the bottom."""

    name = "llvm.intr.cttz"


class AbsOp(IntrinsicOp):
    """Magnitude of a signed integer."""

    name = "llvm.intr.abs"
    effects = Effects.PURE
    traits = (UNARY,)

    operand = d.operand(INTEGER)
    is_int_min_poison = d.attribute(BOOL_ATTR)
    res = d.result(INTEGER)


class BinaryInteger(IntrinsicOp):
    """Base of the functions of two integers."""

    effects = Effects.PURE
    traits = (BINARY, COMMUTATIVE)
    syntax = "`(` $lhs `,` $rhs `)` attr-dict `:` custom<FunctionalType>($lhs, $rhs, $res)"

    lhs = d.operand(INTEGER)
    rhs = d.operand(INTEGER)
    res = d.result(INTEGER)


class SMaxOp(BinaryInteger):
    """The greater signed integer."""

    name = "llvm.intr.smax"


class SMinOp(BinaryInteger):
    """The lesser signed integer."""

    name = "llvm.intr.smin"


class UMaxOp(BinaryInteger):
    """The greater integer without a sign."""

    name = "llvm.intr.umax"


class UMinOp(BinaryInteger):
    """The lesser integer without a sign."""

    name = "llvm.intr.umin"


class SAddSatOp(BinaryInteger):
    """Sum of signed integers that stops at the ends."""

    name = "llvm.intr.sadd.sat"


class UAddSatOp(BinaryInteger):
    """Sum of integers without a sign that stops at the end."""

    name = "llvm.intr.uadd.sat"


class SSubSatOp(BinaryInteger):
    """Difference of signed integers that stops at the ends."""

    name = "llvm.intr.ssub.sat"
    traits = (BINARY,)


class USubSatOp(BinaryInteger):
    """Difference of integers without a sign that stops at zero."""

    name = "llvm.intr.usub.sat"
    traits = (BINARY,)


class FunnelShift(IntrinsicOp):
    """Base of the shifts of two integers taken as one of twice the width."""

    effects = Effects.PURE
    traits = (TERNARY,)
    syntax = "`(` $a `,` $b `,` $c `)` attr-dict `:` custom<FunctionalType>($a, $b, $c, $res)"

    a = d.operand(INTEGER)
    b = d.operand(INTEGER)
    c = d.operand(INTEGER)
    res = d.result(INTEGER)


class FshlOp(FunnelShift):
    """The upper half of `a:b << c`."""

    name = "llvm.intr.fshl"


class FshrOp(FunnelShift):
    """The lower half of `a:b >> c`."""

    name = "llvm.intr.fshr"


class WithOverflow(IntrinsicOp, InferringOp):
    """Base of the arithmetic that tells whether it overflowed."""

    effects = Effects.PURE
    traits = (SameType("lhs", "rhs"),)

    lhs = d.operand(INTEGER)
    rhs = d.operand(INTEGER)
    res = d.result(STRUCT)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        type = types["lhs"][0]
        return (StructType((type, condition_type(type))),)


class SAddWithOverflowOp(WithOverflow):
    """Sum of signed integers."""

    name = "llvm.intr.sadd.with.overflow"


class UAddWithOverflowOp(WithOverflow):
    """Sum of integers without a sign."""

    name = "llvm.intr.uadd.with.overflow"


class SSubWithOverflowOp(WithOverflow):
    """Difference of signed integers."""

    name = "llvm.intr.ssub.with.overflow"


class USubWithOverflowOp(WithOverflow):
    """Difference of integers without a sign."""

    name = "llvm.intr.usub.with.overflow"


class SMulWithOverflowOp(WithOverflow):
    """Product of signed integers."""

    name = "llvm.intr.smul.with.overflow"


class UMulWithOverflowOp(WithOverflow):
    """Product of integers without a sign."""

    name = "llvm.intr.umul.with.overflow"


class SaturatingConversion(IntrinsicOp):
    """Base of the conversions that give the nearest integer there is, and zero for NaN."""

    effects = Effects.PURE
    syntax = "`(` $operand `)` attr-dict `:` custom<FunctionalType>($operand, $res)"

    operand = d.operand(FLOAT)
    res = d.result(INTEGER)


class FPToSISatOp(SaturatingConversion):
    """A float as a signed integer."""

    name = "llvm.intr.fptosi.sat"


class FPToUISatOp(SaturatingConversion):
    """A float as an integer without a sign."""

    name = "llvm.intr.fptoui.sat"


class VectorReduction(IntrinsicOp, InferringOp):
    """Base of the reductions of a vector to one element."""

    effects = Effects.PURE

    operand = d.operand(VECTOR)
    res = d.result(ANY)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        return (element_of(types["operand"][0]),)


class ReduceAddOp(VectorReduction):
    """Sum of integers."""

    name = "llvm.intr.vector.reduce.add"


class ReduceMulOp(VectorReduction):
    """Product of integers."""

    name = "llvm.intr.vector.reduce.mul"


class ReduceAndOp(VectorReduction):
    """Bits that all have."""

    name = "llvm.intr.vector.reduce.and"


class ReduceOrOp(VectorReduction):
    """Bits that one has."""

    name = "llvm.intr.vector.reduce.or"


class ReduceXorOp(VectorReduction):
    """Bits that an odd number has."""

    name = "llvm.intr.vector.reduce.xor"


class ReduceSMaxOp(VectorReduction):
    """The greatest signed integer."""

    name = "llvm.intr.vector.reduce.smax"


class ReduceSMinOp(VectorReduction):
    """The least signed integer."""

    name = "llvm.intr.vector.reduce.smin"


class ReduceUMaxOp(VectorReduction):
    """The greatest integer without a sign."""

    name = "llvm.intr.vector.reduce.umax"


class ReduceUMinOp(VectorReduction):
    """The least integer without a sign."""

    name = "llvm.intr.vector.reduce.umin"


class FloatReduction(VectorReduction):
    """Base of the reductions of floats that may come in any order."""

    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")


class ReduceFMaxOp(FloatReduction):
    """The greatest float; NaNs lose."""

    name = "llvm.intr.vector.reduce.fmax"


class ReduceFMinOp(FloatReduction):
    """The least float; NaNs lose."""

    name = "llvm.intr.vector.reduce.fmin"


class ReduceFMaximumOp(FloatReduction):
    """The greatest float; a NaN wins."""

    name = "llvm.intr.vector.reduce.fmaximum"


class ReduceFMinimumOp(FloatReduction):
    """The least float; a NaN wins."""

    name = "llvm.intr.vector.reduce.fminimum"


class OrderedReduction(IntrinsicOp):
    """Base of the reductions of floats from a start on, in order unless `reassoc` allows any."""

    effects = Effects.PURE
    traits = (SameType("start_value", "res"),)

    start_value = d.operand(FLOAT)
    input = d.operand(VECTOR)
    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")
    res = d.result(FLOAT)


class ReduceFAddOp(OrderedReduction):
    """Sum of floats."""

    name = "llvm.intr.vector.reduce.fadd"


class ReduceFMulOp(OrderedReduction):
    """Product of floats."""

    name = "llvm.intr.vector.reduce.fmul"


class Transfer(IntrinsicOp):
    """Base of the copies of bytes."""

    dst = d.operand(POINTER)
    src = d.operand(POINTER)
    len = d.operand(SCALAR_INTEGER)
    is_volatile = d.attribute(BOOL_ATTR, spelling="isVolatile")


class MemcpyOp(Transfer):
    """Copies bytes between places that do not overlap."""

    name = "llvm.intr.memcpy"


class MemmoveOp(Transfer):
    """Copies bytes between places that may overlap."""

    name = "llvm.intr.memmove"


class MemsetOp(IntrinsicOp):
    """Fills memory with one byte."""

    name = "llvm.intr.memset"

    dst = d.operand(POINTER)
    val = d.operand(INT8)
    len = d.operand(SCALAR_INTEGER)
    is_volatile = d.attribute(BOOL_ATTR, spelling="isVolatile")


class AssumeOp(IntrinsicOp):
    """Promises that a condition holds."""

    name = "llvm.intr.assume"
    syntax = "$cond attr-dict `:` type($cond)"

    cond = d.operand(BOOL)


class ExpectOp(IntrinsicOp):
    """The value, which is mostly the other one."""

    name = "llvm.intr.expect"
    effects = Effects.PURE
    traits = (SameType("val", "expected", "res"),)
    syntax = "$val `,` $expected attr-dict `:` type($val)"

    val = d.operand(SCALAR_INTEGER)
    expected = d.operand(SCALAR_INTEGER)
    res = d.result(SCALAR_INTEGER)


class TrapOp(IntrinsicOp):
    """Ends the program with an error."""

    name = "llvm.intr.trap"
    syntax = "attr-dict"


class DebugTrapOp(IntrinsicOp):
    """Stops for the debugger."""

    name = "llvm.intr.debugtrap"
    syntax = "attr-dict"
