"""Float intrinsics: sqrt, rounding, exponentials, min and max, saturating conversions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.dialects.inference import InferringOp
from tilewright.dialects.llvm.attributes import FAST_MATH
from tilewright.dialects.llvm.base import BINARY, TERNARY, UNARY, IntrinsicOp
from tilewright.dialects.llvm.constraints import CONDITION, FLOAT, INTEGER
from tilewright.dialects.llvm.flags import FastMathFlags
from tilewright.dialects.llvm.types import condition_type
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR
from tilewright.ir.traits import COMMUTATIVE, Effects

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type


class UnaryFloat(IntrinsicOp):
    """Base of the unary float intrinsics."""

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
    """Absolute value."""

    name = "llvm.intr.fabs"


class FloorOp(UnaryFloat):
    """Round down."""

    name = "llvm.intr.floor"


class CeilOp(UnaryFloat):
    """Round up."""

    name = "llvm.intr.ceil"


class FTruncOp(UnaryFloat):
    """Round toward zero."""

    name = "llvm.intr.trunc"


class RintOp(UnaryFloat):
    """Round to the nearest integer, ties to even."""

    name = "llvm.intr.rint"


class NearbyintOp(UnaryFloat):
    """Round to the nearest integer, ties to even, without raising inexact."""

    name = "llvm.intr.nearbyint"


class RoundOp(UnaryFloat):
    """Round to the nearest integer, ties away from zero."""

    name = "llvm.intr.round"


class RoundEvenOp(UnaryFloat):
    """Round to the nearest integer, ties to even."""

    name = "llvm.intr.roundeven"


class ExpOp(UnaryFloat):
    """Exponential; the target has it only in libdevice."""

    name = "llvm.intr.exp"


class Exp2Op(UnaryFloat):
    """Power of two, approximate."""

    name = "llvm.intr.exp2"


class LogOp(UnaryFloat):
    """Natural logarithm; the target has it only in libdevice."""

    name = "llvm.intr.log"


class Log2Op(UnaryFloat):
    """Logarithm to base two; the target has it only in libdevice."""

    name = "llvm.intr.log2"


class Log10Op(UnaryFloat):
    """Logarithm to base ten; the target has it only in libdevice."""

    name = "llvm.intr.log10"


class SinOp(UnaryFloat):
    """Sine; the target has only the approximation, under `afn`."""

    name = "llvm.intr.sin"


class CosOp(UnaryFloat):
    """Cosine; the target has only the approximation, under `afn`."""

    name = "llvm.intr.cos"


class TanhOp(UnaryFloat):
    """Hyperbolic tangent; the target has only the approximation, under `afn`."""

    name = "llvm.intr.tanh"


class BinaryFloat(IntrinsicOp):
    """Base of the binary float intrinsics."""

    effects = Effects.PURE
    traits = (BINARY,)
    syntax = "`(` $lhs `,` $rhs `)` attr-dict `:` custom<FunctionalType>($lhs, $rhs, $res)"

    lhs = d.operand(FLOAT)
    rhs = d.operand(FLOAT)
    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")
    res = d.result(FLOAT)


class MaxNumOp(BinaryFloat):
    """Maximum; if one operand is NaN, the other one."""

    name = "llvm.intr.maxnum"
    traits = (BINARY, COMMUTATIVE)


class MinNumOp(BinaryFloat):
    """Minimum; if one operand is NaN, the other one."""

    name = "llvm.intr.minnum"
    traits = (BINARY, COMMUTATIVE)


class MaximumOp(BinaryFloat):
    """Maximum that propagates NaN."""

    name = "llvm.intr.maximum"
    traits = (BINARY, COMMUTATIVE)


class MinimumOp(BinaryFloat):
    """Minimum that propagates NaN."""

    name = "llvm.intr.minimum"
    traits = (BINARY, COMMUTATIVE)


class CopySignOp(BinaryFloat):
    """The magnitude of the first with the sign of the second."""

    name = "llvm.intr.copysign"


class PowOp(BinaryFloat):
    """Power; the target has it only in libdevice."""

    name = "llvm.intr.pow"


class TernaryFloat(IntrinsicOp):
    """Base of the ternary float intrinsics."""

    effects = Effects.PURE
    traits = (TERNARY,)
    syntax = "`(` $a `,` $b `,` $c `)` attr-dict `:` custom<FunctionalType>($a, $b, $c, $res)"

    a = d.operand(FLOAT)
    b = d.operand(FLOAT)
    c = d.operand(FLOAT)
    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")
    res = d.result(FLOAT)


class FMAOp(TernaryFloat):
    """Fused multiply-add `a * b + c`."""

    name = "llvm.intr.fma"


class FMulAddOp(TernaryFloat):
    """`a * b + c`, fused or not."""

    name = "llvm.intr.fmuladd"


class IsFPClassOp(IntrinsicOp, InferringOp):
    """Test whether a float is in one of the classes of a mask."""

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


class SaturatingConversion(IntrinsicOp):
    """Base of the saturating conversions, which return zero for NaN."""

    effects = Effects.PURE
    syntax = "`(` $operand `)` attr-dict `:` custom<FunctionalType>($operand, $res)"

    operand = d.operand(FLOAT)
    res = d.result(INTEGER)


class FPToSISatOp(SaturatingConversion):
    """Convert to a signed integer, saturating."""

    name = "llvm.intr.fptosi.sat"


class FPToUISatOp(SaturatingConversion):
    """Convert to an unsigned integer, saturating."""

    name = "llvm.intr.fptoui.sat"
