"""Integer intrinsics: bit counts, min and max, saturation, funnel shifts, overflow."""

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
    """Base of the unary integer intrinsics."""

    effects = Effects.PURE
    traits = (UNARY,)
    syntax = "`(` $operand `)` attr-dict `:` custom<FunctionalType>($operand, $res)"

    operand = d.operand(INTEGER)
    res = d.result(INTEGER)


class CtPopOp(UnaryInteger):
    """Population count."""

    name = "llvm.intr.ctpop"


class BitReverseOp(UnaryInteger):
    """Reverse the bits."""

    name = "llvm.intr.bitreverse"


class ByteSwapOp(UnaryInteger):
    """Reverse the bytes."""

    name = "llvm.intr.bswap"


class CountZeros(IntrinsicOp):
    """Base of the counts of zero bits."""

    effects = Effects.PURE
    traits = (UNARY,)

    operand = d.operand(INTEGER)
    is_zero_poison = d.attribute(BOOL_ATTR)
    res = d.result(INTEGER)


class CountLeadingZerosOp(CountZeros):
    """Count leading zeros."""

    name = "llvm.intr.ctlz"


class CountTrailingZerosOp(CountZeros):
    """Count trailing zeros."""

    name = "llvm.intr.cttz"


class AbsOp(IntrinsicOp):
    """Absolute value of a signed integer."""

    name = "llvm.intr.abs"
    effects = Effects.PURE
    traits = (UNARY,)

    operand = d.operand(INTEGER)
    is_int_min_poison = d.attribute(BOOL_ATTR)
    res = d.result(INTEGER)


class BinaryInteger(IntrinsicOp):
    """Base of the binary integer intrinsics."""

    effects = Effects.PURE
    traits = (BINARY, COMMUTATIVE)
    syntax = "`(` $lhs `,` $rhs `)` attr-dict `:` custom<FunctionalType>($lhs, $rhs, $res)"

    lhs = d.operand(INTEGER)
    rhs = d.operand(INTEGER)
    res = d.result(INTEGER)


class SMaxOp(BinaryInteger):
    """Signed maximum."""

    name = "llvm.intr.smax"


class SMinOp(BinaryInteger):
    """Signed minimum."""

    name = "llvm.intr.smin"


class UMaxOp(BinaryInteger):
    """Unsigned maximum."""

    name = "llvm.intr.umax"


class UMinOp(BinaryInteger):
    """Unsigned minimum."""

    name = "llvm.intr.umin"


class SAddSatOp(BinaryInteger):
    """Signed saturating addition."""

    name = "llvm.intr.sadd.sat"


class UAddSatOp(BinaryInteger):
    """Unsigned saturating addition."""

    name = "llvm.intr.uadd.sat"


class SSubSatOp(BinaryInteger):
    """Signed saturating subtraction."""

    name = "llvm.intr.ssub.sat"
    traits = (BINARY,)


class USubSatOp(BinaryInteger):
    """Unsigned saturating subtraction."""

    name = "llvm.intr.usub.sat"
    traits = (BINARY,)


class FunnelShift(IntrinsicOp):
    """Base of the funnel shifts."""

    effects = Effects.PURE
    traits = (TERNARY,)
    syntax = "`(` $a `,` $b `,` $c `)` attr-dict `:` custom<FunctionalType>($a, $b, $c, $res)"

    a = d.operand(INTEGER)
    b = d.operand(INTEGER)
    c = d.operand(INTEGER)
    res = d.result(INTEGER)


class FshlOp(FunnelShift):
    """The high half of `a:b << c`."""

    name = "llvm.intr.fshl"


class FshrOp(FunnelShift):
    """The low half of `a:b >> c`."""

    name = "llvm.intr.fshr"


class WithOverflow(IntrinsicOp, InferringOp):
    """Base of the arithmetic that also returns whether it overflowed."""

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
    """Signed addition with overflow."""

    name = "llvm.intr.sadd.with.overflow"


class UAddWithOverflowOp(WithOverflow):
    """Unsigned addition with overflow."""

    name = "llvm.intr.uadd.with.overflow"


class SSubWithOverflowOp(WithOverflow):
    """Signed subtraction with overflow."""

    name = "llvm.intr.ssub.with.overflow"


class USubWithOverflowOp(WithOverflow):
    """Unsigned subtraction with overflow."""

    name = "llvm.intr.usub.with.overflow"


class SMulWithOverflowOp(WithOverflow):
    """Signed multiplication with overflow."""

    name = "llvm.intr.smul.with.overflow"


class UMulWithOverflowOp(WithOverflow):
    """Unsigned multiplication with overflow."""

    name = "llvm.intr.umul.with.overflow"
