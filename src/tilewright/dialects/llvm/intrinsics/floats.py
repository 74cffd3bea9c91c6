"""Functions of floats: roots, rounding, exponentials, extrema, conversions that saturate."""

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
