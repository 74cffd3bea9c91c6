"""Folds of `assume` and of `join_tokens`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.memory import JoinTokensOp, MakeTokenOp
from tilewright.dialects.cuda_tile.misc import AssumeOp
from tilewright.ir.rules import rule

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules


def fold_assume(op: AssumeOp, constants: Constants) -> Folded:
    """Drop an `assume` of a constant, or one that repeats a predicate of the same chain."""
    if constants[0] is not None:
        return op.value
    inner = op.value.defined_by(AssumeOp)
    while inner is not None:
        if inner.predicate is op.predicate:
            return op.value
        inner = inner.value.defined_by(AssumeOp)
    return None


@rule(JoinTokensOp)
def simplify_join_tokens(op: JoinTokensOp, build: Rewriter) -> Replacement:
    """Drop duplicate tokens of a join, and tokens without dependences."""
    distinct = dict.fromkeys(op.tokens)
    kept = [token for token in distinct if token.defined_by(MakeTokenOp) is None]
    kept = kept or list(distinct)[:1]
    if len(kept) == len(op.tokens):
        return None
    if len(kept) == 1:
        return kept[0]
    build.set_operands(op, kept)
    return op


FOLDS: Final[Folds] = {AssumeOp: fold_assume}
RULES: Final[Rules] = (simplify_join_tokens,)
