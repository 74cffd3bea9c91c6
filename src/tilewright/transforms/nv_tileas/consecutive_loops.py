"""Consecutive loops: the second goes on where the first ends, as `loop-split` makes them.

They share a software pipeline: while the first loop runs its last iterations, it copies the tiles
of the first iterations of the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.integer import MaxSIOp, MaxUIOp, MinSIOp, MinUIOp
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, SCHEDULE
from tilewright.dialects.scf import ForOp
from tilewright.ir.effects import is_pure
from tilewright.plans.allocations import allocated_bytes
from tilewright.plans.scratch import scratch_bytes
from tilewright.transforms.nv_tileaa.repeated_loads import (
    integer_of,
    is_same_bound,
    is_same_op,
)
from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad, plan_stage

if TYPE_CHECKING:
    from tilewright.ir.values import Value


def continues(first: ForOp, second: ForOp) -> bool:
    """Whether a scheduled loop can take over the pipeline of the scheduled loop before it.

    The iterations of both are those of one loop, and corresponding loads read the same tiles.
    """
    if SCHEDULE not in first.attributes or SCHEDULE not in second.attributes:
        return False
    if first.unsigned_cmp != second.unsigned_cmp or not _are_adjacent(first, second):
        return False
    loads, later = scheduled_loads(first), scheduled_loads(second)
    return len(loads) == len(later) and all(
        _is_same_load(first, a, second, b) for a, b in zip(loads, later, strict=True)
    )


def loop_before(loop: ForOp) -> ForOp | None:
    """The last loop before a loop in its block."""
    before = loop.prev
    while before is not None and not isinstance(before, ForOp):
        before = before.prev
    return before


def scheduled_loads(loop: ForOp) -> list[TileLoad]:
    """The loads of a loop that its pipeline copies."""
    return [op for op in loop.body.block if isinstance(op, TileLoad) and ENGINE in op.attributes]


def _are_adjacent(first: ForOp, second: ForOp) -> bool:
    """Whether one loop over the bounds of both has the iterations of the first, then the second."""
    between = first.next
    while between is not None and between is not second:
        # The shared memory of an operation between would come on top of the stages.
        memory = scratch_bytes(between) or allocated_bytes(between)
        if between.regions or memory or not is_pure(between):
            return False
        between = between.next
    if between is None or not _is_one(first.step) or not _is_one(second.step):
        return False
    start, end = integer_of(first.lower_bound), integer_of(second.upper_bound)
    middle = integer_of(first.upper_bound)
    if middle is not None and middle == integer_of(second.lower_bound):
        return start is not None and end is not None and start <= middle <= end
    smaller, larger = (MinUIOp, MaxUIOp) if first.unsigned_cmp else (MinSIOp, MaxSIOp)
    upper = first.upper_bound.defined_by(smaller)
    lower = second.lower_bound.defined_by(larger)
    if upper is None or lower is None:
        return False
    return any(
        a is b
        and is_same_bound(end, second.upper_bound)
        and is_same_bound(start, first.lower_bound)
        for end, a in ((upper.lhs, upper.rhs), (upper.rhs, upper.lhs))
        for start, b in ((lower.lhs, lower.rhs), (lower.rhs, lower.lhs))
    )


def _is_one(step: Value) -> bool:
    return integer_of(step) == 1


def _is_same_load(first: ForOp, load: TileLoad, second: ForOp, later: TileLoad) -> bool:
    """Whether two loads read the same tile for the same iteration, into the same memory."""
    if type(load) is not type(later) or load.results[0].type is not later.results[0].type:
        return False
    if plan_stage(load).placement != plan_stage(later).placement:
        return False
    return is_same_op(load, first, later, second)
