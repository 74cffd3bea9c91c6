"""Folds and rules of float arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile import floating
from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.dialects.cuda_tile.floating import AbsFOp, AddFOp, MulFOp, NegFOp
from tilewright.dialects.folding.floats import FloatFolds, roundings_of
from tilewright.ir.rules import rule

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Folds, Replacement, Rules

ROUNDINGS: Final = roundings_of(Rounding)
FLOATS: Final = FloatFolds(floating, ROUNDINGS, approximates=lambda op: False)


@rule(AddFOp)
def mul_to_lhs(op: AddFOp, build: Rewriter) -> Replacement:
    """`c + a * b` becomes `a * b + c`, where FMA fusion looks for a multiplication."""
    if op.rhs.defined_by(MulFOp) is None or op.lhs.defined_by(MulFOp) is not None:
        return None
    build.set_operands(op, (op.rhs, op.lhs))
    return op


@rule(AbsFOp)
def abs_of_neg(op: AbsFOp, build: Rewriter) -> Replacement:
    """`|-x|` becomes `|x|`."""
    if (negation := op.source.defined_by(NegFOp)) is None:
        return None
    build.set_operands(op, (negation.source,))
    return op


FOLDS: Final[Folds] = FLOATS.folds()
RULES: Final[Rules] = (mul_to_lhs, abs_of_neg)
