"""Results of regions that nobody uses: the region need not yield them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.queue import PragmaOp, QueueGetOp
from tilewright.ir.operation import Region
from tilewright.ir.rules import rule

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules


def _pruned(op: Operation, build: Rewriter) -> Replacement:
    """An operation of the same kind with the results that are used, in their order."""
    live = [result for result in op.results if result.is_used]
    if len(live) == len(op.results):
        return None
    block = op.regions[0].block
    last = block.last
    assert last is not None
    build.set_operands(last, [last.operands[result.index] for result in live])
    made = op.like(op.operands, [result.type for result in live])
    made.set_regions([Region()])
    build.insert(made)
    places = [argument.location for argument in block.args]
    body = build.add_block(made.regions[0], [argument.type for argument in block.args], places)
    build.merge_blocks(block, body, body.args)
    for old, new in zip(live, made.results, strict=True):
        build.replace_value(old, new)
    # Nobody uses the old results any more, so they may stand for themselves.
    return op.results


@rule(QueueGetOp)
def prune_queue_get_results(op: QueueGetOp, build: Rewriter) -> Replacement:
    """`queue.get` without the results that nobody uses; its `queue.yield` gives the others."""
    return _pruned(op, build)


@rule(PragmaOp)
def prune_pragma_results(op: PragmaOp, build: Rewriter) -> Replacement:
    """`pragma` without the results that nobody uses; its directives stay as they are."""
    return _pruned(op, build)


RULES: Final[Rules] = (prune_queue_get_results, prune_pragma_results)
