"""math: functions of floats, computed with extra precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.dialects.math import ops as d
from tilewright.ir.operation import Operation
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.numerics import floating as floats
from tilewright.reference.numerics import functions
from tilewright.reference.numerics import integer as integers
from tilewright.reference.tile import Array, element, signed

UNARY: Final[dict[type[Operation], Callable[[Array], Array]]] = {
    d.AcosOp: np.arccos,
    d.AcoshOp: np.arccosh,
    d.AsinOp: np.arcsin,
    d.AsinhOp: np.arcsinh,
    d.AtanOp: np.arctan,
    d.AtanhOp: np.arctanh,
    d.CbrtOp: np.cbrt,
    d.CosOp: np.cos,
    d.CoshOp: np.cosh,
    d.ExpOp: np.exp,
    d.Exp2Op: np.exp2,
    d.ExpM1Op: np.expm1,
    d.LogOp: np.log,
    d.Log10Op: np.log10,
    d.Log1pOp: np.log1p,
    d.Log2Op: np.log2,
    d.RoundEvenOp: np.rint,
    d.RsqrtOp: functions.rsqrt,
    d.SinOp: np.sin,
    d.SinhOp: np.sinh,
    d.TanOp: np.tan,
    d.TanhOp: np.tanh,
    d.TruncOp: np.trunc,
}
BINARY: Final[dict[type[Operation], Callable[[Array, Array], Array]]] = {
    d.Atan2Op: np.arctan2,
    d.CopySignOp: np.copysign,
    d.PowFOp: np.power,
}
CLASSES: Final[dict[type[Operation], Callable[[Array], Array]]] = {
    d.IsFiniteOp: np.isfinite,
    d.IsInfOp: np.isinf,
    d.IsNaNOp: np.isnan,
}


@evaluator(*UNARY)
def unary(op: d.UnaryFloat, at: Batch) -> Array:
    """Unary functions, correctly rounded."""
    return functions.evaluate(UNARY[type(op)], element(op.result), at[op.operand])


@evaluator(*BINARY)
def binary(op: d.BinaryFloat, at: Batch) -> Array:
    """Binary functions, correctly rounded."""
    return functions.evaluate(BINARY[type(op)], element(op.result), at[op.lhs], at[op.rhs])


@evaluator(*CLASSES)
def classify(op: d.ClassifyOp, at: Batch) -> Array:
    """Classify floats."""
    return CLASSES[type(op)](at[op.operand])


@evaluator(d.AbsFOp)
def absf(op: d.AbsFOp, at: Batch) -> Array:
    """Clear the sign bit."""
    return floats.absolute(at[op.operand])


@evaluator(d.CeilOp)
def ceil(op: d.CeilOp, at: Batch) -> Array:
    """Round up to an integer."""
    return floats.ceil(at[op.operand], element(op.result))


@evaluator(d.FloorOp)
def floor(op: d.FloorOp, at: Batch) -> Array:
    """Round down to an integer."""
    return floats.floor(at[op.operand], element(op.result))


@evaluator(d.SqrtOp)
def sqrt(op: d.SqrtOp, at: Batch) -> Array:
    """The square root."""
    return floats.sqrt(at[op.operand], element(op.result))


@evaluator(d.FmaOp)
def fma(op: d.FmaOp, at: Batch) -> Array:
    """Fused multiply-add with a single rounding."""
    return floats.fma(at[op.a], at[op.b], at[op.c], element(op.result))


@evaluator(d.FPowIOp)
def fpowi(op: d.FPowIOp, at: Batch) -> Array:
    """Power with a signed integer exponent."""
    return functions.power(at[op.lhs], signed(at[op.rhs]), element(op.result))


@evaluator(d.AbsIOp)
def absi(op: d.AbsIOp, at: Batch) -> Array:
    """The absolute value of a signed integer, as an unsigned one."""
    return integers.absolute(at[op.operand], element(op.result))
