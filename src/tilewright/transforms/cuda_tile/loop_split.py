"""Splitting of loops where a condition on the counter changes its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.aggregate import ReduceOp
from tilewright.dialects.cuda_tile.bitwise import AndIOp, OrIOp
from tilewright.dialects.cuda_tile.control_flow import ForOp, IfOp
from tilewright.dialects.cuda_tile.core import ConstantOp
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate
from tilewright.dialects.cuda_tile.integer import CmpIOp
from tilewright.dialects.cuda_tile.memory import LoadPtrTkoOp, StorePtrTkoOp
from tilewright.dialects.cuda_tile.mma import MmaOp
from tilewright.dialects.cuda_tile.simplify.branches import take_branch
from tilewright.dialects.cuda_tile.simplify.constants import splat
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.dialects.cuda_tile.view import LoadViewTkoOp, StoreViewTkoOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.passes import Pass, option, statistic
from tilewright.ir.rewriter import Rewriter
from tilewright.transforms.cuda_tile.split_point import loop_signedness, split_bounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

HINT: Final = "cuda_tile.loop_split"
"""The attribute of an `if`, a loop or a kernel that sets the threshold for what it holds."""

_HEAVY: Final = (
    LoadPtrTkoOp, LoadViewTkoOp, StorePtrTkoOp, StoreViewTkoOp, MmaOp, ReduceOp, IfOp, ForOp,
)  # fmt: skip
"""Operations that justify a split on their own."""

_COMBINING: Final = (AndIOp, OrIOp)

_MIRRORED: Final = {
    ComparisonPredicate.LESS_THAN: ComparisonPredicate.GREATER_THAN,
    ComparisonPredicate.LESS_THAN_OR_EQUAL: ComparisonPredicate.GREATER_THAN_OR_EQUAL,
    ComparisonPredicate.GREATER_THAN: ComparisonPredicate.LESS_THAN,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: ComparisonPredicate.LESS_THAN_OR_EQUAL,
}
"""The predicate with swapped operands; the others are symmetric."""

_HOLDS_FIRST: Final = (ComparisonPredicate.LESS_THAN, ComparisonPredicate.LESS_THAN_OR_EQUAL)
_INCLUSIVE: Final = (ComparisonPredicate.LESS_THAN_OR_EQUAL, ComparisonPredicate.GREATER_THAN)


_MOST_PARTS: Final = 4
"""Of a loop with an `if` on several comparisons, as at both ends of a window: each is compiled."""


class LoopSplit(Pass):
    """Make two loops of one with an `if` on its counter: each runs one branch alone.

    The innermost loops come first, and each is split at most once; with `ori` or `andi` of
    comparisons, once for each. The threshold is the least number of operations in a branch that
    pays, unless it holds a heavy one: 1 splits always, 0 never.
    """

    name = "loop-split"
    split_threshold: int = option(default=1, doc="least size of a branch that pays; 0 for never")
    split = statistic("loops split in two")

    def run(self, op: Operation, sink: Sink) -> None:
        for loop in [inner for inner in op.walk_post_order() if isinstance(inner, ForOp)]:
            pending, parts = [loop], 1
            while pending and parts < _MOST_PARTS:
                part = pending.pop()
                comparison = self._find(part)
                if comparison is None:
                    continue
                is_combined = any(isinstance(user, _COMBINING) for user in comparison.result.users)
                parts += 1
                # Of a combined condition, a part may depend on the other comparisons still.
                split = _split(part, comparison)
                pending += split if is_combined else ()
                self.split.add(sink)

    def _find(self, loop: ForOp) -> CmpIOp | None:
        """The first comparison at which a split is possible and pays."""
        for branch in loop.body.walk():
            if not isinstance(branch, IfOp):
                continue
            threshold = _threshold(branch, loop, self.split_threshold)
            for comparison in _comparisons(branch.condition, loop):
                if _normalized(comparison, loop) is not None and _pays(comparison, threshold):
                    return comparison
        return None


def _comparisons(condition: Value, loop: ForOp) -> Iterator[CmpIOp]:
    """The comparisons inside of a loop that a condition is, or combines."""
    op = condition.defining_op() if condition.is_inside(loop) else None
    if isinstance(op, CmpIOp):
        yield op
    elif isinstance(op, _COMBINING):
        for operand in op.operands:
            yield from _comparisons(operand, loop)


def _threshold(branch: IfOp, loop: ForOp, default: int) -> int:
    """The threshold for an `if`: its own, that of the loop, of the kernel, or of the pass."""
    kernel = next((op for op in loop.ancestors() if isinstance(op, EntryOp)), loop)
    for op in (branch, loop, kernel):
        hint = op.attributes.get(HINT)
        if isinstance(hint, IntegerAttr):
            return hint.value
    return default


def _pays(comparison: CmpIOp, threshold: int) -> bool:
    if threshold == 0:
        return False
    return threshold == 1 or any(_is_large(branch, threshold) for branch in _branches(comparison))


def _branches(condition: Operation) -> Iterator[IfOp]:
    """The branches on a condition, or on one that it is combined to."""
    for user in condition.results[0].users:
        if isinstance(user, IfOp):
            yield user
        elif isinstance(user, _COMBINING):
            yield from _branches(user)


def _is_large(branch: IfOp, threshold: int) -> bool:
    for region in branch.regions:
        ops = [op for block in region.blocks for op in block]
        if len(ops) > threshold or any(isinstance(op, _HEAVY) for op in ops):
            return True
    return False


def _normalized(comparison: CmpIOp, loop: ForOp) -> tuple[ComparisonPredicate, Value] | None:
    """The predicate on the counter, and the bound: a value defined outside the loop."""
    if comparison.signedness is not loop_signedness(loop):
        return None
    predicate, bound = comparison.comparison_predicate, comparison.rhs
    if predicate not in _MIRRORED:
        return None
    counter = loop.induction_variable
    if comparison.rhs is counter:
        predicate, bound = _MIRRORED[predicate], comparison.lhs
    elif comparison.lhs is not counter:
        return None
    return None if bound.is_inside(loop) else (predicate, bound)


def _split(loop: ForOp, comparison: CmpIOp) -> tuple[ForOp, ForOp]:
    """Replace a loop by one up to where the condition changes, and one from there on."""
    normalized = _normalized(comparison, loop)
    assert normalized is not None
    predicate, bound = normalized
    build = Rewriter.at(loop)
    upper, lower = split_bounds(loop, bound, predicate in _INCLUSIVE, build)
    holds_first = predicate in _HOLDS_FIRST
    step = loop.step
    first = _copy(loop, (loop.lower_bound, upper, step, *loop.init_values), comparison, holds_first)
    second = _copy(
        loop, (lower, loop.upper_bound, step, *first.results), comparison, not holds_first
    )
    build.replace(loop, *second.results)
    return first, second


def _copy(loop: ForOp, operands: tuple[Value, ...], comparison: CmpIOp, answer: bool) -> ForOp:
    """A copy of a loop, in front of it, in which the answer of a comparison is known."""
    values: dict[Value, Value] = {}
    build = Rewriter.at(loop)
    copy = build.clone(loop, values)
    copy.set_operands(operands)
    twin = values[comparison.result].defined_by(CmpIOp)
    assert twin is not None
    type = twin.result.type
    constant = build.replace_with(twin, ConstantOp, value=splat(answer, type))
    _fold_combined(constant.result, answer, build)
    body = copy.body.block
    direct = [u for u in constant.result.users if isinstance(u, IfOp) and u.parent is body]
    for branch in direct:
        # One before it may have left the iteration, so that this one is gone.
        if branch.parent is body:
            build.replace(branch, *take_branch(branch, answer, build))
    if not constant.result.users:
        build.erase(constant)
    return copy


def _fold_combined(constant: Value, answer: bool, build: Rewriter) -> None:
    """Fold conditions that combine an answer that is known with others."""
    for user in list(constant.users):
        if not isinstance(user, _COMBINING) or not user.result.type == constant.type:
            continue
        if answer is isinstance(user, OrIOp):
            build.replace(user, constant)
            # It is combined with others in turn.
            _fold_combined(constant, answer, build)
            return
        build.replace(user, user.rhs if user.lhs is constant else user.lhs)
