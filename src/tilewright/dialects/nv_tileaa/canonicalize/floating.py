"""Folds of float arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith import folds as arith_folds
from tilewright.dialects.arith.literals import elementwise
from tilewright.dialects.folding.floats import FloatFolds, format_of, roundings_of
from tilewright.dialects.nv_tileaa import floating as ops
from tilewright.dialects.nv_tileaa.attributes import RoundingMode
from tilewright.dialects.nv_tileaa.floating import ClampFOp, CmpFOp
from tilewright.support.numerics import floating

if TYPE_CHECKING:
    from tilewright.ir.rules import Constants, Folded, Folds

ROUNDINGS: Final = roundings_of(RoundingMode)
FLOATS: Final = FloatFolds(ops, ROUNDINGS, approximates=lambda op: "afn" in op.fastmath)


def fold_clamp(op: ClampFOp, constants: Constants) -> Folded:
    """Compute on constants."""
    if None in constants:
        return None
    format, propagate = format_of(op.result.type), op.propagate_nan

    def clamp(a: int, lower: int, upper: int) -> int:
        above = floating.maximum(a, lower, format, propagate_nan=propagate)
        return floating.minimum(above, upper, format, propagate_nan=propagate)

    return elementwise(clamp, op.result.type, constants)


def fold_comparison(op: CmpFOp, constants: Constants) -> Folded:
    """Compare constants."""
    return arith_folds.fold_floats(op.predicate, op, constants)


FOLDS: Final[Folds] = {
    **FLOATS.folds(),
    ClampFOp: fold_clamp,
    CmpFOp: fold_comparison,
}
