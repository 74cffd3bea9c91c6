"""Folds of `assume`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.shape import SplatOp
from tilewright.ir.rules import rule

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules


def fold_assume(op: AssumeOp, constants: Constants) -> Folded:
    """Drop an `assume` of a constant, or one that repeats a predicate of the same chain."""
    if constants[0] is not None:
        return op.value
    predicate, inner = op.predicate, op.operands[0].defining_op()
    while isinstance(inner, AssumeOp):
        if inner.predicate is predicate:
            return op.value
        inner = inner.operands[0].defining_op()
    return None


@rule(AssumeOp)
def push_assume_through_splat(op: AssumeOp, build: Rewriter) -> Replacement:
    """`assume p, (splat x)` becomes `splat (assume p, x)` if `p` is elementwise."""
    splat = op.operands[0].defining_op()
    if not isinstance(splat, SplatOp) or not op.predicate.is_elementwise:
        return None
    if op.predicate.value_problem(splat.source.type) is not None:
        return None
    build.fuse(splat)
    scalar = build.create(AssumeOp, value=splat.source, predicate=op.predicate)
    return build.create(SplatOp, source=scalar.result, types=[op.result.type])


FOLDS: Final[Folds] = {AssumeOp: fold_assume}
RULES: Final[Rules] = (push_assume_through_splat,)
