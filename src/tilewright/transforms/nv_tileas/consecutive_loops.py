"""Consecutive loops: the second goes on where the first ends, as `loop-split` makes them.

They share a software pipeline: while the first loop runs its last iterations, it copies the tiles
of the first iterations of the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.integer import MaxSIOp, MaxUIOp, MinSIOp, MinUIOp
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, SCHEDULE
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.effects import is_pure
from tilewright.ir.rules import constant_of
from tilewright.plans.allocations import allocated_bytes
from tilewright.plans.scratch import scratch_bytes
from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad, plan_stage

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
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
    start, end = _integer(first.lower_bound), _integer(second.upper_bound)
    middle = _integer(first.upper_bound)
    if middle is not None and middle == _integer(second.lower_bound):
        return start is not None and end is not None and start <= middle <= end
    smaller, larger = (MinUIOp, MaxUIOp) if first.unsigned_cmp else (MinSIOp, MaxSIOp)
    upper = first.upper_bound.defined_by(smaller)
    lower = second.lower_bound.defined_by(larger)
    if upper is None or lower is None:
        return False
    return any(
        _is_same(end, second.upper_bound) and _is_same(start, first.lower_bound) and a is b
        for end, a in ((upper.lhs, upper.rhs), (upper.rhs, upper.lhs))
        for start, b in ((lower.lhs, lower.rhs), (lower.rhs, lower.lhs))
    )


def _is_one(step: Value) -> bool:
    return _integer(step) == 1


def _integer(value: Value) -> int | None:
    known = constant_of(value)
    return known.value if isinstance(known, IntegerAttr) else None


def _is_same(one: Value, other: Value) -> bool:
    known = _integer(one)
    return one is other or (known is not None and known == _integer(other))


def _is_same_load(first: ForOp, load: TileLoad, second: ForOp, later: TileLoad) -> bool:
    """Whether two loads read the same tile for the same iteration, into the same memory."""
    if type(load) is not type(later) or load.results[0].type is not later.results[0].type:
        return False
    if plan_stage(load).placement != plan_stage(later).placement:
        return False
    return _is_same_op(load, first, later, second)


def _is_same_op(op: Operation, first: ForOp, other: Operation, second: ForOp) -> bool:
    """Whether operations of two loops compute the same from the same induction variable."""
    if type(op) is not type(other) or op.attributes != other.attributes:
        return False
    if len(op.operands) != len(other.operands):
        return False
    if [each.type for each in op.results] != [each.type for each in other.results]:
        return False
    pairs = zip(op.operands, other.operands, strict=True)
    return all(_is_same_value(a, first, b, second) for a, b in pairs)


def _is_same_value(value: Value, first: ForOp, other: Value, second: ForOp) -> bool:
    if value is other:
        return True
    if value is first.induction_variable:
        return other is second.induction_variable
    op, twin = value.defining_op(), other.defining_op()
    if op is None or twin is None or not is_pure(op) or value.index != other.index:
        return False
    return _is_same_op(op, first, twin, second)
