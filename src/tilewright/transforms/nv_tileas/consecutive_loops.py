"""Consecutive loops: the second goes on where the first ends, as `loop-split` makes them.

They share a software pipeline: while the first loop runs its last iterations, it copies the tiles
of the first iterations of the second.
"""

from __future__ import annotations

from tilewright.analysis.loop_bounds import are_consecutive
from tilewright.dialects.nv_tileas.attribute_names import CONTINUES, ENGINE, LATE, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import ScheduleAttr
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import UnitAttr
from tilewright.ir.effects import is_pure
from tilewright.plans.allocations import allocated_bytes
from tilewright.plans.scratch import scratch_bytes
from tilewright.transforms.nv_tileaa.repeated_loads import is_same_op
from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad, plan_stage


def share_pipeline(second: ForOp) -> dict[ForOp, str]:
    """Let a loop take over the pipeline of the loop before it, if it can, with what all allow.

    Returns what bounds the stages of those that have fewer then.
    """
    first = loop_before(second)
    if first is None or not continues(first, second):
        return {}
    loads = [*scheduled_loads(first), *scheduled_loads(second)]
    if any(LATE in load.attributes for load in loads):
        return {}
    group = [second, first]
    while CONTINUES in group[-1].attributes and (before := loop_before(group[-1])) is not None:
        group.append(before)
    schedules = [_schedule_of(loop) for loop in group]
    lags = {schedule.lag for schedule in schedules}
    stages = min([schedule.stages for schedule in schedules])
    distance = min([schedule.distance for schedule in schedules])
    if len(lags) > 1:
        # The loop with dots in flight needs a stage more for the same distance.
        distance = min(distance, stages - 1 - max(lags))
    if distance < 1:
        return {}
    for loop, schedule in zip(group, schedules, strict=True):
        loop.attributes[SCHEDULE] = ScheduleAttr(stages, distance, schedule.lag)
    second.attributes[CONTINUES] = UnitAttr()
    bound = "a consecutive loop with fewer stages shares its pipeline"
    fewer = zip(group, schedules, strict=True)
    return {loop: bound for loop, schedule in fewer if schedule.stages != stages}


def _schedule_of(loop: ForOp) -> ScheduleAttr:
    schedule = loop.attributes[SCHEDULE]
    assert isinstance(schedule, ScheduleAttr)
    return schedule


def continues(first: ForOp, second: ForOp) -> bool:
    """Whether a scheduled loop can take over the pipeline of the scheduled loop before it.

    The iterations of both are those of one loop, and corresponding loads read the same tiles.
    """
    if SCHEDULE not in first.attributes or SCHEDULE not in second.attributes:
        return False
    if not _are_adjacent(first, second):
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
    """Whether the iterations of both are those of one loop, and nothing in between matters."""
    between = first.next
    while between is not None and between is not second:
        # The shared memory of an operation between would come on top of the stages.
        memory = scratch_bytes(between) or allocated_bytes(between)
        if between.regions or memory or not is_pure(between):
            return False
        between = between.next
    return between is not None and are_consecutive(first, second)


def _is_same_load(first: ForOp, load: TileLoad, second: ForOp, later: TileLoad) -> bool:
    """Whether two loads read the same tile for the same iteration, into the same memory."""
    if type(load) is not type(later) or load.results[0].type is not later.results[0].type:
        return False
    if plan_stage(load).placement != plan_stage(later).placement:
        return False
    return is_same_op(load, first, later, second)
