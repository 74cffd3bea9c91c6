"""Functions of integers: bits, extrema, saturating sums, shifts of pairs, overflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.dialects.inference import InferringOp
from tilewright.dialects.llvm.base import BINARY, TERNARY, UNARY, IntrinsicOp
from tilewright.dialects.llvm.constraints import INTEGER, STRUCT
from tilewright.dialects.llvm.types import StructType, condition_type
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ATTR
from tilewright.ir.traits import COMMUTATIVE, Effects, SameType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type


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
