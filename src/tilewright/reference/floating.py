"""Floating-point arithmetic and mathematical functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.dialects.cuda_tile import floating as d
from tilewright.dialects.cuda_tile.enums import ComparisonOrdering
from tilewright.ir.operation import Operation
from tilewright.reference.batch import Batch
from tilewright.reference.meanings import meaning
from tilewright.reference.numerics import floating as floats
from tilewright.reference.numerics import functions
from tilewright.reference.numerics.comparison import compare_floats
from tilewright.reference.tile import Array, element, signed


@meaning(d.AbsFOp)
def absf(op: d.AbsFOp, at: Batch) -> Array:
    """The sign bit is cleared."""
    return floats.absolute(at[op.source])


@meaning(d.NegFOp)
def negf(op: d.NegFOp, at: Batch) -> Array:
    """The sign bit is flipped."""
    return floats.negate(at[op.source])


ARITHMETIC: Final[dict[type[Operation], Callable[..., Array]]] = {
    d.AddFOp: floats.add,
    d.SubFOp: floats.subtract,
    d.MulFOp: floats.multiply,
    d.DivFOp: floats.divide,
}


@meaning(*ARITHMETIC)
def arithmetic(op: d.RoundedBinaryFloat, at: Batch) -> Array:
    """Sum, difference, product and quotient, rounded as told."""
    compute = ARITHMETIC[type(op)]
    operands = at[op.lhs], at[op.rhs]
    return compute(*operands, element(op.result), op.rounding_mode, flush=op.flush_to_zero)


@meaning(d.FmaOp)
def fma(op: d.FmaOp, at: Batch) -> Array:
    """Product and sum with a single rounding."""
    operands = at[op.lhs], at[op.rhs], at[op.acc]
    return floats.fma(*operands, element(op.result), op.rounding_mode, flush=op.flush_to_zero)


@meaning(d.SqrtOp)
def sqrt(op: d.SqrtOp, at: Batch) -> Array:
    """The square root, rounded as told."""
    source = at[op.source]
    return floats.sqrt(source, element(op.result), op.rounding_mode, flush=op.flush_to_zero)


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


@meaning(d.CmpFOp)
def cmpf(op: d.CmpFOp, at: Batch) -> Array:
    """Whether a relation holds; `ordered` says no where one side is NaN."""
    ordered = op.comparison_ordering is ComparisonOrdering.ORDERED
    return compare_floats(op.comparison_predicate, at[op.lhs], at[op.rhs], ordered=ordered)


@meaning(d.CeilOp)
def ceil(op: d.CeilOp, at: Batch) -> Array:
    """The least integer that is not smaller."""
    return floats.ceil(at[op.source], element(op.result))


@meaning(d.FloorOp)
def floor(op: d.FloorOp, at: Batch) -> Array:
    """The greatest integer that is not larger."""
    return floats.floor(at[op.source], element(op.result))


FUNCTIONS: Final[dict[type[Operation], Callable[[Array], Array]]] = {
    d.ExpOp: np.exp,
    d.LogOp: np.log,
    d.Log2Op: np.log2,
    d.SinOp: np.sin,
    d.CosOp: np.cos,
    d.TanOp: np.tan,
    d.SinHOp: np.sinh,
    d.CosHOp: np.cosh,
    d.TanHOp: np.tanh,
}
FLUSHABLE: Final[dict[type[Operation], Callable[[Array], Array]]] = {
    d.RsqrtOp: functions.reciprocal_root,
    d.Exp2Op: np.exp2,
}


@meaning(*FUNCTIONS)
def function(op: d.UnaryFloat, at: Batch) -> Array:
    """Functions of one number: the nearest result, also where an approximation would do."""
    return functions.evaluate(FUNCTIONS[type(op)], element(op.result), at[op.source])


@meaning(*FLUSHABLE)
def flushable(op: d.FlushableFloat, at: Batch) -> Array:
    """Functions that flush subnormal numbers to zero if told."""
    compute, type_ = FLUSHABLE[type(op)], element(op.result)
    return functions.evaluate(compute, type_, at[op.source], flush=op.flush_to_zero)


@meaning(d.Atan2Op)
def atan2(op: d.Atan2Op, at: Batch) -> Array:
    """The angle whose tangent is `x / y`."""
    return functions.evaluate(np.arctan2, element(op.result), at[op.x], at[op.y])


@meaning(d.FPowFOp)
def fpowf(op: d.FPowFOp, at: Batch) -> Array:
    """Power with a float exponent."""
    return functions.evaluate(np.power, element(op.result), at[op.source], at[op.exponent])


@meaning(d.FPowIOp)
def fpowi(op: d.FPowIOp, at: Batch) -> Array:
    """Power with a signed integer exponent."""
    return functions.power(at[op.source], signed(at[op.exponent]), element(op.result))
