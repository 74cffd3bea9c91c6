"""Folds and rules of float arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.dialects.cuda_tile.floating import (
    AbsFOp,
    AddFOp,
    CeilOp,
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
from tilewright.dialects.folding.floats import FloatFolds
from tilewright.ir.attributes import EnumAttr
from tilewright.ir.rules import rule
from tilewright.support import floats
from tilewright.support.numerics import floating

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Folds, Replacement, Rules

ROUNDINGS: Final[dict[EnumAttr, floats.Rounding]] = {
    Rounding.NEAREST_EVEN: floats.Rounding.NEAREST_EVEN,
    Rounding.ZERO: floats.Rounding.ZERO,
    Rounding.NEGATIVE_INF: floats.Rounding.NEGATIVE_INF,
    Rounding.POSITIVE_INF: floats.Rounding.POSITIVE_INF,
    Rounding.NEAREST_AWAY: floats.Rounding.NEAREST_AWAY,
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
    approximates=lambda op: False,
)


@rule(AddFOp)
def product_on_the_left(op: AddFOp, build: Rewriter) -> Replacement:
    """`c + a * b` becomes `a * b + c`: sums commute, and fusion looks for a product there."""
    if op.rhs.defined_by(MulFOp) is None or op.lhs.defined_by(MulFOp) is not None:
        return None
    build.set_operands(op, (op.rhs, op.lhs))
    return op


@rule(AbsFOp)
def magnitude_of_negation(op: AbsFOp, build: Rewriter) -> Replacement:
    """`|-x|` becomes `|x|`: the sign goes in any case."""
    if (negation := op.source.defined_by(NegFOp)) is None:
        return None
    build.set_operands(op, (negation.source,))
    return op


FOLDS: Final[Folds] = FLOATS.folds()
RULES: Final[Rules] = (product_on_the_left, magnitude_of_negation)
