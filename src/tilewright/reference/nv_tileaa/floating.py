"""Floats where nv_tileaa says it otherwise: limits, relations, functions of two numbers."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.nv_tileaa import floating as d
from tilewright.dialects.nv_tileaa import functions as f
from tilewright.reference.batch import Batch
from tilewright.reference.meanings import meaning
from tilewright.reference.numerics import floating as floats
from tilewright.reference.numerics import functions
from tilewright.reference.numerics.comparison import float_relation
from tilewright.reference.tile import Array, element


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


@meaning(f.Atan2Op)
def atan2(op: f.Atan2Op, at: Batch) -> Array:
    """The angle whose tangent is `lhs / rhs`."""
    return functions.evaluate(np.arctan2, element(op.result), at[op.lhs], at[op.rhs])


@meaning(f.FPowFOp)
def fpowf(op: f.FPowFOp, at: Batch) -> Array:
    """Power with a float exponent."""
    return functions.evaluate(np.power, element(op.result), at[op.lhs], at[op.rhs])
