"""Remove unused results of `queue.get` and `pragma`."""

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
    """Rebuild an operation with only the results that have uses."""
    live = [result for result in op.results if result.is_used]
    if len(live) == len(op.results):
        return None
    block = op.regions[0].block
    last = block.last
    assert last is not None
    build.set_operands(last, [last.operands[result.index] for result in live])
    pruned = op.like(op.operands, [result.type for result in live])
    pruned.set_regions([Region()])
    build.insert(pruned)
    types = [argument.type for argument in block.args]
    locations = [argument.location for argument in block.args]
    body = build.add_block(pruned.regions[0], types, locations)
    build.merge_blocks(block, body, body.args)
    for old, new in zip(live, pruned.results, strict=True):
        build.replace_value(old, new)
    # The old results have no uses left, so any replacement is valid.
    return op.results


@rule(QueueGetOp)
def prune_queue_get_results(op: QueueGetOp, build: Rewriter) -> Replacement:
    """Remove the unused results of `queue.get` and the operands of its `queue.yield`."""
    return _pruned(op, build)


@rule(PragmaOp)
def prune_pragma_results(op: PragmaOp, build: Rewriter) -> Replacement:
    """Remove the unused results of `pragma` and the operands of its `yield`."""
    return _pruned(op, build)


RULES: Final[Rules] = (prune_queue_get_results, prune_pragma_results)
