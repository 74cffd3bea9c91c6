"""Matrix multiplication."""

from __future__ import annotations

from tilewright.dialects.nv_tileaa import matrix as d
from tilewright.ir.types import F32, TF32
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.mma import multiply_floats, multiply_integers, multiply_scaled
from tilewright.reference.numerics.integer import read
from tilewright.reference.numerics.rounding import round_to, widen
from tilewright.reference.nv_tileaa.enums import is_signed
from tilewright.reference.tile import Array, element


@evaluator(d.DotOp)
def dot(op: d.DotOp, at: Batch) -> Array:
    """`a @ b + c`, of floats, of scaled floats or of integers."""
    if op.a_scale is not None and op.b_scale is not None:
        return multiply_scaled(op, at, (op.a, op.b), (op.a_scale, op.b_scale), op.c)
    a, b = at[op.a], at[op.b]
    if not op.is_float:
        operands = read(a, is_signed(op.signedness_a)), read(b, is_signed(op.signedness_b))
        return multiply_integers(*operands, at[op.c])
    if op.input_precision == "tf32" and element(op.a) is F32:
        a, b = (round_to(widen(operand, F32), TF32) for operand in (a, b))
    return multiply_floats(a, b, at[op.c], element(op.c))
