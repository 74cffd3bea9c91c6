"""Folds of float arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith import folds as arith_folds
from tilewright.dialects.arith.literals import elementwise
from tilewright.dialects.folding.floats import FloatFolds, format_of
from tilewright.dialects.nv_tileaa.attributes import RoundingMode
from tilewright.dialects.nv_tileaa.floating import (
    AbsFOp,
    AddFOp,
    CeilOp,
    ClampFOp,
    CmpFOp,
    DivFOp,
    FloorOp,
    FmaOp,
    MaxFOp,
    MinFOp,
    MulFOp,
    NegFOp,
    RemFOp,
    SqrtOp,
    SubFOp,
)
from tilewright.ir.attributes import EnumAttr
from tilewright.support.floats import Rounding
from tilewright.support.numerics import floating

if TYPE_CHECKING:
    from tilewright.ir.rules import Constants, Folded, Folds

ROUNDINGS: Final[dict[EnumAttr, Rounding]] = {
    RoundingMode.NEAREST_EVEN: Rounding.NEAREST_EVEN,
    RoundingMode.ZERO: Rounding.ZERO,
    RoundingMode.NEGATIVE_INF: Rounding.NEGATIVE_INF,
    RoundingMode.POSITIVE_INF: Rounding.POSITIVE_INF,
    RoundingMode.NEAREST_AWAY: Rounding.NEAREST_AWAY,
}
"""The modes that define a result; `approx` and `full` leave a choice."""

FLOATS: Final = FloatFolds(
    {
        AddFOp: floating.add,
        SubFOp: floating.subtract,
        MulFOp: floating.multiply,
        DivFOp: floating.divide,
        FmaOp: floating.fma,
        SqrtOp: floating.sqrt,
        MaxFOp: floating.maximum,
        MinFOp: floating.minimum,
        RemFOp: floating.remainder,
        AbsFOp: floating.absolute,
        NegFOp: floating.negate,
        CeilOp: floating.ceil,
        FloorOp: floating.floor,
    },
    ROUNDINGS,
    approximates=lambda op: "afn" in op.fastmath,
)


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
