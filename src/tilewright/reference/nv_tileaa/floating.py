"""Floating-point arithmetic and mathematical functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.dialects.nv_tileaa import floating as d
from tilewright.dialects.nv_tileaa import functions as f
from tilewright.ir.operation import Operation
from tilewright.reference.batch import Batch
from tilewright.reference.meanings import meaning
from tilewright.reference.numerics import floating as floats
from tilewright.reference.numerics import functions
from tilewright.reference.numerics.comparison import float_relation
from tilewright.reference.nv_tileaa.enums import ROUNDINGS
from tilewright.reference.tile import Array, element, signed

ARITHMETIC: Final[dict[type[Operation], Callable[..., Array]]] = {
    d.AddFOp: floats.add,
    d.SubFOp: floats.subtract,
    d.MulFOp: floats.multiply,
    d.DivFOp: floats.divide,
}


@meaning(*ARITHMETIC)
def arithmetic(op: d.RoundedBinaryFloat, at: Batch) -> Array:
    """Sum, difference, product and quotient, rounded as told."""
    mode, flush = ROUNDINGS[op.rounding_mode], op.flush_to_zero
    return ARITHMETIC[type(op)](at[op.lhs], at[op.rhs], element(op.result), mode, flush=flush)


@meaning(d.FmaOp)
def fma(op: d.FmaOp, at: Batch) -> Array:
    """Product and sum with a single rounding."""
    operands, mode = (at[op.lhs], at[op.rhs], at[op.acc]), ROUNDINGS[op.rounding_mode]
    return floats.fma(*operands, element(op.result), mode, flush=op.flush_to_zero)


@meaning(d.SqrtOp)
def sqrt(op: d.SqrtOp, at: Batch) -> Array:
    """The square root, rounded as told."""
    mode, flush = ROUNDINGS[op.rounding_mode], op.flush_to_zero
    return floats.sqrt(at[op.source], element(op.result), mode, flush=flush)


@meaning(d.AbsFOp)
def absf(op: d.AbsFOp, at: Batch) -> Array:
    """The sign bit is cleared."""
    return floats.absolute(at[op.source])


@meaning(d.NegFOp)
def negf(op: d.NegFOp, at: Batch) -> Array:
    """The sign bit is flipped."""
    return floats.negate(at[op.source])


@meaning(d.RemFOp)
def remf(op: d.RemFOp, at: Batch) -> Array:
    """The remainder of the division that cuts off, exactly."""
    return floats.remainder(at[op.lhs], at[op.rhs], element(op.result))


@meaning(d.MaxFOp)
def maxf(op: d.MaxFOp, at: Batch) -> Array:
    """The larger of two."""
    nan, flush = op.propagate_nan, op.flush_to_zero
    return floats.maximum(at[op.lhs], at[op.rhs], propagate_nan=nan, flush=flush)


@meaning(d.MinFOp)
def minf(op: d.MinFOp, at: Batch) -> Array:
    """The smaller of two."""
    nan, flush = op.propagate_nan, op.flush_to_zero
    return floats.minimum(at[op.lhs], at[op.rhs], propagate_nan=nan, flush=flush)


@meaning(d.ClampFOp)
def clampf(op: d.ClampFOp, at: Batch) -> Array:
    """Not below one number, and not above another."""
    nan = op.propagate_nan
    raised = floats.maximum(at[op.source], at[op.lower], propagate_nan=nan)
    return floats.minimum(raised, at[op.upper], propagate_nan=nan)


@meaning(d.CmpFOp)
def cmpf(op: d.CmpFOp, at: Batch) -> Array:
    """Whether a relation holds."""
    return float_relation(op.predicate, at[op.lhs], at[op.rhs])


@meaning(d.CeilOp)
def ceil(op: d.CeilOp, at: Batch) -> Array:
    """The least integer that is not smaller."""
    return floats.ceil(at[op.source], element(op.result))


@meaning(d.FloorOp)
def floor(op: d.FloorOp, at: Batch) -> Array:
    """The greatest integer that is not larger."""
    return floats.floor(at[op.source], element(op.result))


FUNCTIONS: Final[dict[type[Operation], Callable[[Array], Array]]] = {
    f.ExpOp: np.exp,
    f.LogOp: np.log,
    f.Log2Op: np.log2,
    f.SinOp: np.sin,
    f.CosOp: np.cos,
    f.TanOp: np.tan,
    f.SinHOp: np.sinh,
    f.CosHOp: np.cosh,
    f.TanHOp: np.tanh,
}
FLUSHABLE: Final[dict[type[Operation], Callable[[Array], Array]]] = {
    f.RsqrtOp: functions.reciprocal_root,
    f.Exp2Op: np.exp2,
}


@meaning(*FUNCTIONS)
def function(op: d.UnaryFloat, at: Batch) -> Array:
    """Functions of one number: the nearest result, also where an approximation would do."""
    return functions.evaluate(FUNCTIONS[type(op)], element(op.result), at[op.source])


@meaning(*FLUSHABLE)
def flushable(op: f.FlushableFloat, at: Batch) -> Array:
    """Functions that flush subnormal numbers to zero if told."""
    compute, type_ = FLUSHABLE[type(op)], element(op.result)
    return functions.evaluate(compute, type_, at[op.source], flush=op.flush_to_zero)


@meaning(f.Atan2Op)
def atan2(op: f.Atan2Op, at: Batch) -> Array:
    """The angle whose tangent is `lhs / rhs`."""
    return functions.evaluate(np.arctan2, element(op.result), at[op.lhs], at[op.rhs])


@meaning(f.FPowFOp)
def fpowf(op: f.FPowFOp, at: Batch) -> Array:
    """Power with a float exponent."""
    return functions.evaluate(np.power, element(op.result), at[op.lhs], at[op.rhs])


@meaning(f.FPowIOp)
def fpowi(op: f.FPowIOp, at: Batch) -> Array:
    """Power with a signed integer exponent."""
    return functions.power(at[op.source], signed(at[op.exponent]), element(op.result))
