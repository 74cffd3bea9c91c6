"""The functions of math: of floats, of integers, and questions about floats."""

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
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import I1

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type


class UnaryFloat(Operation):
    """Base of the functions of one float."""

    effects = Effects.PURE
    traits = (SameType("operand", "result"),)
    syntax = f"$operand {FAST_MATH_SYNTAX} attr-dict `:` type($result)"

    operand = d.operand(FLOAT_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(FLOAT_LIKE)


class AbsFOp(UnaryFloat):
    """`|x|`; the sign bit is cleared, also of NaNs."""

    name = "math.absf"


class AcosOp(UnaryFloat):
    """The arc cosine, in 0 to pi."""

    name = "math.acos"


class AcoshOp(UnaryFloat):
    """The inverse hyperbolic cosine."""

    name = "math.acosh"


class AsinOp(UnaryFloat):
    """The arc sine, in -pi/2 to pi/2."""

    name = "math.asin"


class AsinhOp(UnaryFloat):
    """The inverse hyperbolic sine."""

    name = "math.asinh"


class AtanOp(UnaryFloat):
    """The arc tangent, in -pi/2 to pi/2."""

    name = "math.atan"


class AtanhOp(UnaryFloat):
    """The inverse hyperbolic tangent."""

    name = "math.atanh"


class CbrtOp(UnaryFloat):
    """The cube root."""

    name = "math.cbrt"


class CeilOp(UnaryFloat):
    """The smallest integer not below."""

    name = "math.ceil"


class CosOp(UnaryFloat):
    """The cosine."""

    name = "math.cos"


class CoshOp(UnaryFloat):
    """The hyperbolic cosine."""

    name = "math.cosh"


class ErfOp(UnaryFloat):
    """The error function."""

    name = "math.erf"


class ErfcOp(UnaryFloat):
    """One less the error function."""

    name = "math.erfc"


class ExpOp(UnaryFloat):
    """`e**x`."""

    name = "math.exp"


class Exp2Op(UnaryFloat):
    """`2**x`."""

    name = "math.exp2"


class ExpM1Op(UnaryFloat):
    """`e**x - 1`, also near zero."""

    name = "math.expm1"


class FloorOp(UnaryFloat):
    """The largest integer not above."""

    name = "math.floor"


class LogOp(UnaryFloat):
    """The natural logarithm."""

    name = "math.log"


class Log10Op(UnaryFloat):
    """The logarithm to base 10."""

    name = "math.log10"


class Log1pOp(UnaryFloat):
    """The natural logarithm of `1 + x`, also near zero."""

    name = "math.log1p"


class Log2Op(UnaryFloat):
    """The logarithm to base 2."""

    name = "math.log2"


class RoundOp(UnaryFloat):
    """The nearest integer, halves away from zero."""

    name = "math.round"


class RoundEvenOp(UnaryFloat):
    """The nearest integer, halves to even."""

    name = "math.roundeven"


class RsqrtOp(UnaryFloat):
    """One over the square root."""

    name = "math.rsqrt"


class SinOp(UnaryFloat):
    """The sine."""

    name = "math.sin"


class SinhOp(UnaryFloat):
    """The hyperbolic sine."""

    name = "math.sinh"


class SqrtOp(UnaryFloat):
    """The square root."""

    name = "math.sqrt"


class TanOp(UnaryFloat):
    """The tangent."""

    name = "math.tan"


class TanhOp(UnaryFloat):
    """The hyperbolic tangent."""

    name = "math.tanh"


class TruncOp(UnaryFloat):
    """The integer part."""

    name = "math.trunc"


class SinCosOp(Operation):
    """The sine and the cosine of one angle."""

    name = "math.sincos"
    effects = Effects.PURE
    traits = (SameType("operand", "sin", "cos"),)
    syntax = f"$operand {FAST_MATH_SYNTAX} attr-dict `:` type($sin)"

    operand = d.operand(FLOAT_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    sin = d.result(FLOAT_LIKE)
    cos = d.result(FLOAT_LIKE)

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return enumerate(("sin", "cos"))


class BinaryFloat(Operation):
    """Base of the functions of two floats."""

    effects = Effects.PURE
    traits = (SameType("lhs", "rhs", "result"),)
    syntax = f"$lhs `,` $rhs {FAST_MATH_SYNTAX} attr-dict `:` type($result)"

    lhs = d.operand(FLOAT_LIKE)
    rhs = d.operand(FLOAT_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(FLOAT_LIKE)


class Atan2Op(BinaryFloat):
    """The angle of the point (rhs, lhs), in -pi to pi."""

    name = "math.atan2"


class CopySignOp(BinaryFloat):
    """The magnitude of `lhs` with the sign of `rhs`."""

    name = "math.copysign"


class PowFOp(BinaryFloat):
    """`lhs ** rhs`."""

    name = "math.powf"


class FPowIOp(Operation):
    """A float raised to an integer."""

    name = "math.fpowi"
    effects = Effects.PURE
    traits = (SameType("lhs", "result"), SameShape("lhs", "rhs"))
    syntax = f"$lhs `,` $rhs {FAST_MATH_SYNTAX} attr-dict `:` type($lhs) `,` type($rhs)"

    lhs = d.operand(FLOAT_LIKE)
    rhs = d.operand(FIXED_INTEGER_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(FLOAT_LIKE)


class FmaOp(Operation):
    """`a * b + c`, rounded once."""

    name = "math.fma"
    effects = Effects.PURE
    traits = (SameType("a", "b", "c", "result"),)
    syntax = f"$a `,` $b `,` $c {FAST_MATH_SYNTAX} attr-dict `:` type($result)"

    a = d.operand(FLOAT_LIKE)
    b = d.operand(FLOAT_LIKE)
    c = d.operand(FLOAT_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(FLOAT_LIKE)


class ClampFOp(Operation):
    """`value`, but no less than `min` and no more than `max`."""

    name = "math.clampf"
    effects = Effects.PURE
    traits = (SameType("value", "min", "max", "result"),)
    syntax = f"$value `to` ` ` `[` $min `,` $max `]` {FAST_MATH_SYNTAX} attr-dict `:` type($result)"

    value = d.operand(FLOAT_LIKE)
    min = d.operand(FLOAT_LIKE)
    max = d.operand(FLOAT_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(FLOAT_LIKE)


class ClassifyOp(InferringOp):
    """Base of the questions about a float: one i1 for each element."""

    effects = Effects.PURE
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
    """Whether a float is neither infinite nor NaN."""

    name = "math.isfinite"


class IsInfOp(ClassifyOp):
    """Whether a float is infinite."""

    name = "math.isinf"


class IsNaNOp(ClassifyOp):
    """Whether a float is NaN."""

    name = "math.isnan"


class IsNormalOp(ClassifyOp):
    """Whether a float is neither zero, subnormal, infinite nor NaN."""

    name = "math.isnormal"


class UnaryInteger(Operation):
    """Base of the functions of one integer."""

    effects = Effects.PURE
    traits = (SameType("operand", "result"),)
    syntax = "$operand attr-dict `:` type($result)"

    operand = d.operand(INTEGER_LIKE)
    result = d.result(INTEGER_LIKE)


class AbsIOp(UnaryInteger):
    """`|x|` of a signed integer; that of the smallest one is itself."""

    name = "math.absi"


class CtlzOp(UnaryInteger):
    """How many zeros stand above the highest one bit."""

    name = "math.ctlz"


class CttzOp(UnaryInteger):
    """How many zeros stand below the lowest one bit."""

    name = "math.cttz"


class CtPopOp(UnaryInteger):
    """How many bits are set."""

    name = "math.ctpop"


class IPowIOp(Operation):
    """An integer raised to a signed integer."""

    name = "math.ipowi"
    effects = Effects.PURE
    traits = (SameType("lhs", "rhs", "result"),)
    syntax = "$lhs `,` $rhs attr-dict `:` type($result)"

    lhs = d.operand(FIXED_INTEGER_LIKE)
    rhs = d.operand(FIXED_INTEGER_LIKE)
    result = d.result(FIXED_INTEGER_LIKE)
