"""Dead code elimination: operations without users and effects, and unreachable blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.ir.dominance import reverse_post_order
from tilewright.ir.effects import is_dead
from tilewright.ir.passes import Pass, statistic

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation, Region
    from tilewright.support.diagnostics import Sink


class Dce(Pass):
    """Delete dead operations and unreachable blocks."""

    name = "dce"
    erased = statistic("dead operations, with those inside of others and in unreachable blocks")

    def run(self, op: Operation, sink: Sink) -> None:
        before = sum(1 for _ in op.walk())
        for region in op.regions:
            erase_dead_code(region)
        self.erased.add(sink, before - sum(1 for _ in op.walk()))


def erase_dead_code(region: Region) -> None:
    """Delete the dead operations of a region, users before definitions."""
    if not region.blocks:
        return
    order = reverse_post_order(region)
    if len(order) < len(region.blocks):
        _erase_unreachable(region)
    for block in reversed(order):
        for op in reversed(block):
            if is_dead(op):
                op.erase()
                continue
            for inner in op.regions:
                erase_dead_code(inner)


def erase_with_sources(op: Operation, also: tuple[type[Operation], ...] = ()) -> None:
    """Delete an operation without users, and what is dead then of its operands.

    Operations of the kinds in `also` are dead without users, whatever their effects.
    """

    def is_removable(each: Operation) -> bool:
        unused = isinstance(each, also) and not any(result.is_used for result in each.results)
        return each is op or unused or is_dead(each)

    pending: list[Operation] = [op]
    while pending:
        each = pending.pop()
        # Erased already, as an operand of another operation.
        if each.parent is None or not is_removable(each):
            continue
        sources = [operand.defining_op() for operand in each.operands]
        each.erase()
        pending += [source for source in sources if source is not None]


def _erase_unreachable(region: Region) -> None:
    """Delete the blocks that the entry does not reach; they may use each other's values."""
    reached = set(reverse_post_order(region))
    gone = [block for block in region.blocks if block not in reached]
    region.blocks[:] = [block for block in region.blocks if block in reached]
    for block in gone:
        for op in block:
            op.drop_all_operands()
        block.parent = None
