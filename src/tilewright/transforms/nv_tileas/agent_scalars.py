"""Scalars that both agents of a warp-specialized function need: each agent computes its own.

A scalar from before the agents would be in a register of every thread, for as long as one of them
needs it. The trip count of a main loop, for instance, would leave one register less for
accumulators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_effect_free

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value


def repeat_scalars(before: Block, agent: Block) -> None:
    """Repeat at the start of an agent what it takes from the block before it."""
    first = agent.first
    if first is None:
        return
    build = Builder(InsertPoint.before(first), first.location)
    values: dict[Value, Value] = {}
    for op in _needed(before, agent):
        repeated = op.clone(values)
        build.insert(repeated)
        for old, new in zip(op.results, repeated.results, strict=True):
            values[old] = new
            for user in list(old.users):
                if _is_inside(user, agent):
                    user.replace_operand(old, new)


def _needed(before: Block, agent: Block) -> list[Operation]:
    """The operations of a block that another one needs, but for what they allocate."""
    needed: set[Operation] = set()
    for op in reversed(list(before)):
        users = [user for result in op.results for user in result.users]
        if any(user in needed or _is_inside(user, agent) for user in users):
            needed.add(op)
    return [op for op in before if op in needed and is_effect_free(op)]


def _is_inside(op: Operation, block: Block) -> bool:
    return any(each.parent is block for each in (op, *op.ancestors()))
