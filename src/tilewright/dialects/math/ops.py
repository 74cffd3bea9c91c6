"""The operations of math: functions of floats and integers, and float classification."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.dialects.arith.attributes import FAST_MATH, FAST_MATH_SYNTAX, NO_FAST_MATH
from tilewright.dialects.elements import (
    BOOL_LIKE,
    FIXED_INTEGER_LIKE,
    FLOAT_LIKE,
    INTEGER_LIKE,
    SameShape,
    with_element,
)
from tilewright.dialects.inference import InferringOp
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation
from tilewright.ir.traits import ELEMENTWISE, Effects, SameType
from tilewright.ir.types import I1

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type


class UnaryFloat(Operation):
    """Base of the unary float functions."""

    effects = Effects.PURE
    traits = (SameType("operand", "result"), ELEMENTWISE)
    syntax = f"$operand {FAST_MATH_SYNTAX} attr-dict `:` type($result)"

    operand = d.operand(FLOAT_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(FLOAT_LIKE)


class AbsFOp(UnaryFloat):
    """Absolute value: clear the sign bit, also of NaN."""

    name = "math.absf"


class AcosOp(UnaryFloat):
    """Arc cosine, in 0 to pi."""

    name = "math.acos"


class AcoshOp(UnaryFloat):
    """Inverse hyperbolic cosine."""

    name = "math.acosh"


class AsinOp(UnaryFloat):
    """Arc sine, in -pi/2 to pi/2."""

    name = "math.asin"


class AsinhOp(UnaryFloat):
    """Inverse hyperbolic sine."""

    name = "math.asinh"


class AtanOp(UnaryFloat):
    """Arc tangent, in -pi/2 to pi/2."""

    name = "math.atan"


class AtanhOp(UnaryFloat):
    """Inverse hyperbolic tangent."""

    name = "math.atanh"


class CbrtOp(UnaryFloat):
    """Cube root."""

    name = "math.cbrt"


class CeilOp(UnaryFloat):
    """Round up to an integer."""

    name = "math.ceil"


class CosOp(UnaryFloat):
    """Cosine."""

    name = "math.cos"


class CoshOp(UnaryFloat):
    """Hyperbolic cosine."""

    name = "math.cosh"


class ErfOp(UnaryFloat):
    """Error function."""

    name = "math.erf"


class ErfcOp(UnaryFloat):
    """Complementary error function: `1 - erf(x)`."""

    name = "math.erfc"


class ExpOp(UnaryFloat):
    """`e**x`."""

    name = "math.exp"


class Exp2Op(UnaryFloat):
    """`2**x`."""

    name = "math.exp2"


class ExpM1Op(UnaryFloat):
    """`e**x - 1`, accurate near zero."""

    name = "math.expm1"


class FloorOp(UnaryFloat):
    """Round down to an integer."""

    name = "math.floor"


class LogOp(UnaryFloat):
    """Natural logarithm."""

    name = "math.log"


class Log10Op(UnaryFloat):
    """Base-10 logarithm."""

    name = "math.log10"


class Log1pOp(UnaryFloat):
    """Natural logarithm of `1 + x`, accurate near zero."""

    name = "math.log1p"


class Log2Op(UnaryFloat):
    """Base-2 logarithm."""

    name = "math.log2"


class RoundOp(UnaryFloat):
    """Round to the nearest integer, ties away from zero."""

    name = "math.round"


class RoundEvenOp(UnaryFloat):
    """Round to the nearest integer, ties to even."""

    name = "math.roundeven"


class RsqrtOp(UnaryFloat):
    """Reciprocal square root."""

    name = "math.rsqrt"


class SinOp(UnaryFloat):
    """Sine."""

    name = "math.sin"


class SinhOp(UnaryFloat):
    """Hyperbolic sine."""

    name = "math.sinh"


class SqrtOp(UnaryFloat):
    """Square root."""

    name = "math.sqrt"


class TanOp(UnaryFloat):
    """Tangent."""

    name = "math.tan"


class TanhOp(UnaryFloat):
    """Hyperbolic tangent."""

    name = "math.tanh"


class TruncOp(UnaryFloat):
    """Round toward zero to an integer."""

    name = "math.trunc"


class SinCosOp(Operation):
    """Sine and cosine of an angle."""

    name = "math.sincos"
    effects = Effects.PURE
    traits = (SameType("operand", "sin", "cos"), ELEMENTWISE)
    syntax = f"$operand {FAST_MATH_SYNTAX} attr-dict `:` type($sin)"

    operand = d.operand(FLOAT_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    sin = d.result(FLOAT_LIKE)
    cos = d.result(FLOAT_LIKE)

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return enumerate(("sin", "cos"))


class BinaryFloat(Operation):
    """Base of the binary float functions."""

    effects = Effects.PURE
    traits = (SameType("lhs", "rhs", "result"), ELEMENTWISE)
    syntax = f"$lhs `,` $rhs {FAST_MATH_SYNTAX} attr-dict `:` type($result)"

    lhs = d.operand(FLOAT_LIKE)
    rhs = d.operand(FLOAT_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(FLOAT_LIKE)


class Atan2Op(BinaryFloat):
    """Two-argument arctangent: the angle of the point (rhs, lhs), in -pi to pi."""

    name = "math.atan2"


class CopySignOp(BinaryFloat):
    """Copy the sign of `rhs` to `lhs`."""

    name = "math.copysign"


class PowFOp(BinaryFloat):
    """`lhs ** rhs`."""

    name = "math.powf"


class FPowIOp(Operation):
    """Raise a float to an integer power."""

    name = "math.fpowi"
    effects = Effects.PURE
    traits = (SameType("lhs", "result"), SameShape("lhs", "rhs"), ELEMENTWISE)
    syntax = f"$lhs `,` $rhs {FAST_MATH_SYNTAX} attr-dict `:` type($lhs) `,` type($rhs)"

    lhs = d.operand(FLOAT_LIKE)
    rhs = d.operand(FIXED_INTEGER_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(FLOAT_LIKE)


class FmaOp(Operation):
    """`a * b + c`, rounded once."""

    name = "math.fma"
    effects = Effects.PURE
    traits = (SameType("a", "b", "c", "result"), ELEMENTWISE)
    syntax = f"$a `,` $b `,` $c {FAST_MATH_SYNTAX} attr-dict `:` type($result)"

    a = d.operand(FLOAT_LIKE)
    b = d.operand(FLOAT_LIKE)
    c = d.operand(FLOAT_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(FLOAT_LIKE)


class ClampFOp(Operation):
    """Clamp `value` to the range from `min` to `max`."""

    name = "math.clampf"
    effects = Effects.PURE
    traits = (SameType("value", "min", "max", "result"), ELEMENTWISE)
    syntax = f"$value `to` ` ` `[` $min `,` $max `]` {FAST_MATH_SYNTAX} attr-dict `:` type($result)"

    value = d.operand(FLOAT_LIKE)
    min = d.operand(FLOAT_LIKE)
    max = d.operand(FLOAT_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(FLOAT_LIKE)


class ClassifyOp(InferringOp):
    """Base of the elementwise float classifications."""

    effects = Effects.PURE
    traits = (ELEMENTWISE,)
    syntax = f"$operand {FAST_MATH_SYNTAX} attr-dict `:` type($operand)"

    operand = d.operand(FLOAT_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(BOOL_LIKE)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        return (with_element(types["operand"][0], I1),)


class IsFiniteOp(ClassifyOp):
    """Return whether a float is finite."""

    name = "math.isfinite"


class IsInfOp(ClassifyOp):
    """Return whether a float is infinite."""

    name = "math.isinf"


class IsNaNOp(ClassifyOp):
    """Return whether a float is NaN."""

    name = "math.isnan"


class IsNormalOp(ClassifyOp):
    """Return whether a float is normal: not zero, subnormal, infinite or NaN."""

    name = "math.isnormal"


class UnaryInteger(Operation):
    """Base of the unary integer functions."""

    effects = Effects.PURE
    traits = (SameType("operand", "result"), ELEMENTWISE)
    syntax = "$operand attr-dict `:` type($result)"

    operand = d.operand(INTEGER_LIKE)
    result = d.result(INTEGER_LIKE)


class AbsIOp(UnaryInteger):
    """Absolute value of a signed integer; wraps for the least one."""

    name = "math.absi"


class CtlzOp(UnaryInteger):
    """Count leading zeros."""

    name = "math.ctlz"


class CttzOp(UnaryInteger):
    """Count trailing zeros."""

    name = "math.cttz"


class CtPopOp(UnaryInteger):
    """Count set bits."""

    name = "math.ctpop"


class IPowIOp(Operation):
    """Raise an integer to a signed integer power."""

    name = "math.ipowi"
    effects = Effects.PURE
    traits = (SameType("lhs", "rhs", "result"), ELEMENTWISE)
    syntax = "$lhs `,` $rhs attr-dict `:` type($result)"

    lhs = d.operand(FIXED_INTEGER_LIKE)
    rhs = d.operand(FIXED_INTEGER_LIKE)
    result = d.result(FIXED_INTEGER_LIKE)
