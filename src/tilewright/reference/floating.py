"""Floating-point arithmetic and math functions of cuda_tile, and those nv_tileaa shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.dialects.cuda_tile import floating as d
from tilewright.dialects.cuda_tile.enums import ComparisonOrdering, Rounding
from tilewright.dialects.nv_tileaa import floating as lower
from tilewright.dialects.nv_tileaa import functions as f
from tilewright.ir.attributes import EnumAttr
from tilewright.ir.operation import Operation
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.numerics import floating as floats
from tilewright.reference.numerics import functions
from tilewright.reference.numerics.comparison import compare_floats
from tilewright.reference.nv_tileaa.enums import ROUNDINGS
from tilewright.reference.tile import Array, element, signed

Compute = Callable[..., Array]
MODES: Final[dict[EnumAttr, Rounding]] = {**{mode: mode for mode in Rounding}, **ROUNDINGS}
"""The rounding modes of cuda_tile and nv_tileaa as those of the numerics."""


def _by_kind(table: dict[tuple[type[Operation], ...], Compute]) -> dict[type[Operation], Compute]:
    return {kind: compute for kinds, compute in table.items() for kind in kinds}


@evaluator(d.AbsFOp, lower.AbsFOp)
def absf(op: d.AbsFOp | lower.AbsFOp, at: Batch) -> Array:
    """Clear the sign bit."""
    return floats.absolute(at[op.source])


@evaluator(d.NegFOp, lower.NegFOp)
def negf(op: d.NegFOp | lower.NegFOp, at: Batch) -> Array:
    """Flip the sign bit."""
    return floats.negate(at[op.source])


ARITHMETIC: Final = _by_kind(
    {
        (d.AddFOp, lower.AddFOp): floats.add,
        (d.SubFOp, lower.SubFOp): floats.subtract,
        (d.MulFOp, lower.MulFOp): floats.multiply,
        (d.DivFOp, lower.DivFOp): floats.divide,
    }
)


@evaluator(*ARITHMETIC)
def arithmetic(op: d.RoundedBinaryFloat | lower.RoundedBinaryFloat, at: Batch) -> Array:
    """Add, subtract, multiply, divide with a rounding mode."""
    mode, flush = MODES[op.rounding_mode], op.flush_to_zero
    return ARITHMETIC[type(op)](at[op.lhs], at[op.rhs], element(op.result), mode, flush=flush)


@evaluator(d.FmaOp, lower.FmaOp)
def fma(op: d.FmaOp | lower.FmaOp, at: Batch) -> Array:
    """Fused multiply-add with a single rounding."""
    operands, mode = (at[op.lhs], at[op.rhs], at[op.acc]), MODES[op.rounding_mode]
    return floats.fma(*operands, element(op.result), mode, flush=op.flush_to_zero)


@evaluator(d.SqrtOp, lower.SqrtOp)
def sqrt(op: d.SqrtOp | lower.SqrtOp, at: Batch) -> Array:
    """The square root with a rounding mode."""
    mode, flush = MODES[op.rounding_mode], op.flush_to_zero
    return floats.sqrt(at[op.source], element(op.result), mode, flush=flush)


@evaluator(d.RemFOp, lower.RemFOp)
def remf(op: d.RemFOp | lower.RemFOp, at: Batch) -> Array:
    """The exact remainder of truncated division."""
    return floats.remainder(at[op.lhs], at[op.rhs], element(op.result))


@evaluator(d.MaxFOp, lower.MaxFOp)
def maxf(op: d.MaxFOp | lower.MaxFOp, at: Batch) -> Array:
    """Maximum."""
    nan, flush = op.propagate_nan, op.flush_to_zero
    return floats.maximum(at[op.lhs], at[op.rhs], propagate_nan=nan, flush=flush)


@evaluator(d.MinFOp, lower.MinFOp)
def minf(op: d.MinFOp | lower.MinFOp, at: Batch) -> Array:
    """Minimum."""
    nan, flush = op.propagate_nan, op.flush_to_zero
    return floats.minimum(at[op.lhs], at[op.rhs], propagate_nan=nan, flush=flush)


@evaluator(d.CmpFOp)
def cmpf(op: d.CmpFOp, at: Batch) -> Array:
    """Compare; ordered comparisons with NaN are false."""
    ordered = op.comparison_ordering is ComparisonOrdering.ORDERED
    return compare_floats(op.comparison_predicate, at[op.lhs], at[op.rhs], ordered=ordered)


@evaluator(d.CeilOp, lower.CeilOp)
def ceil(op: d.CeilOp | lower.CeilOp, at: Batch) -> Array:
    """Round up to an integer."""
    return floats.ceil(at[op.source], element(op.result))


@evaluator(d.FloorOp, lower.FloorOp)
def floor(op: d.FloorOp | lower.FloorOp, at: Batch) -> Array:
    """Round down to an integer."""
    return floats.floor(at[op.source], element(op.result))


FUNCTIONS: Final = _by_kind(
    {
        (d.ExpOp, f.ExpOp): np.exp,
        (d.LogOp, f.LogOp): np.log,
        (d.Log2Op, f.Log2Op): np.log2,
        (d.SinOp, f.SinOp): np.sin,
        (d.CosOp, f.CosOp): np.cos,
        (d.TanOp, f.TanOp): np.tan,
        (d.SinHOp, f.SinHOp): np.sinh,
        (d.CosHOp, f.CosHOp): np.cosh,
        (d.TanHOp, f.TanHOp): np.tanh,
    }
)
FLUSHABLE: Final = _by_kind(
    {
        (d.RsqrtOp, f.RsqrtOp): functions.rsqrt,
        (d.Exp2Op, f.Exp2Op): np.exp2,
    }
)


@evaluator(*FUNCTIONS)
def function(op: d.UnaryFloat | lower.UnaryFloat, at: Batch) -> Array:
    """Unary functions, correctly rounded also where an approximation is allowed."""
    return functions.evaluate(FUNCTIONS[type(op)], element(op.result), at[op.source])


@evaluator(*FLUSHABLE)
def flushable(op: d.FlushableFloat | f.FlushableFloat, at: Batch) -> Array:
    """Unary functions with optional flushing of subnormal numbers."""
    compute, type_ = FLUSHABLE[type(op)], element(op.result)
    return functions.evaluate(compute, type_, at[op.source], flush=op.flush_to_zero)


@evaluator(d.Atan2Op)
def atan2(op: d.Atan2Op, at: Batch) -> Array:
    """The angle whose tangent is `x / y`."""
    return functions.evaluate(np.arctan2, element(op.result), at[op.x], at[op.y])


@evaluator(d.FPowFOp)
def fpowf(op: d.FPowFOp, at: Batch) -> Array:
    """Power with a float exponent."""
    return functions.evaluate(np.power, element(op.result), at[op.source], at[op.exponent])


@evaluator(d.FPowIOp, f.FPowIOp)
def fpowi(op: d.FPowIOp | f.FPowIOp, at: Batch) -> Array:
    """Power with a signed integer exponent."""
    return functions.power(at[op.source], signed(at[op.exponent]), element(op.result))
