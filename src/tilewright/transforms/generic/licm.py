"""Loop-invariant code motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.ir.effects import is_pure
from tilewright.ir.passes import Pass, statistic

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation, Region
    from tilewright.support.diagnostics import Sink


class Licm(Pass):
    """Hoist pure operations on values from outside the loop, innermost loops first.

    An operation is a loop if its class names the region that repeats in `loop_body`. The body may
    not run at all, so only speculatable operations are hoisted.
    """

    name = "licm"
    hoisted = statistic("operations hoisted out of a loop")

    def run(self, op: Operation, sink: Sink) -> None:
        for loop in tuple(op.walk_post_order()):
            if loop.loop_body is not None and loop.parent is not None:
                self.hoisted.add(sink, hoist_invariants(loop))


def hoist_invariants(loop: Operation) -> int:
    """Hoist the loop-invariant operations of a loop; returns their number."""
    hoisted = 0
    assert loop.loop_body is not None
    body: Region = getattr(loop, loop.loop_body)
    for block in body.blocks:
        for op in block:
            if not op.is_terminator and is_pure(op) and _is_invariant(op, loop):
                op.detach().insert_before(loop)
                hoisted += 1
    return hoisted


def _is_invariant(op: Operation, loop: Operation) -> bool:
    """Whether all operands of `op` and of the operations in it are defined outside the loop."""
    if not op.regions:
        return all(not value.is_inside(loop) for value in op.operands)
    return all(
        not value.is_inside(loop) or value.is_inside(op)
        for inner in op.walk()
        for value in inner.operands
    )
