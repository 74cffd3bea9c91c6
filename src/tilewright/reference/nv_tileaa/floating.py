"""Float operations specific to nv_tileaa: clamp, compare, binary functions."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.nv_tileaa import floating as d
from tilewright.dialects.nv_tileaa import functions as f
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.numerics import floating as floats
from tilewright.reference.numerics import functions
from tilewright.reference.numerics.comparison import float_relation
from tilewright.reference.tile import Array, element


@evaluator(d.ClampFOp)
def clampf(op: d.ClampFOp, at: Batch) -> Array:
    """Clamp to a lower and an upper bound."""
    nan = op.propagate_nan
    raised = floats.maximum(at[op.source], at[op.lower], propagate_nan=nan)
    return floats.minimum(raised, at[op.upper], propagate_nan=nan)


@evaluator(d.CmpFOp)
def cmpf(op: d.CmpFOp, at: Batch) -> Array:
    """Compare."""
    return float_relation(op.predicate, at[op.lhs], at[op.rhs])


@evaluator(f.Atan2Op)
def atan2(op: f.Atan2Op, at: Batch) -> Array:
    """The angle whose tangent is `lhs / rhs`."""
    return functions.evaluate(np.arctan2, element(op.result), at[op.lhs], at[op.rhs])


@evaluator(f.FPowFOp)
def fpowf(op: f.FPowFOp, at: Batch) -> Array:
    """Power with a float exponent."""
    return functions.evaluate(np.power, element(op.result), at[op.lhs], at[op.rhs])
