"""Which requests on the schedule of a kernel are not followed, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileas.attribute_names import EVICT_FIRST, MULTICAST, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import ScheduleAttr
from tilewright.dialects.scf import ForOp
from tilewright.transforms.nv_tileas.producer_slice import multicast_problem
from tilewright.transforms.nv_tileas.streamed_tiles import StreamedTiles

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.transforms.nv_tileas.pipeline_reasons import PipelineReasons
    from tilewright.transforms.nv_tileas.warp_specialization import Specialization

NO_PIPELINE: Final = "no loop is pipelined"
NO_PRODUCER: Final = "no producer copies tiles by TMA"


def record_refusals(
    function: FuncOp, reasons: PipelineReasons, specialization: Specialization | None
) -> None:
    """Record which requests the schedule of a kernel does not follow.

    `specialization` is None if no agents are chosen.
    """
    is_specialized = specialization is not None
    problems = {
        "stages": lambda: _stages_problem(function, reasons),
        "in_flight": lambda: _in_flight_problem(function, is_specialized=is_specialized),
        "multicast": lambda: _multicast_problem(function, is_specialized=is_specialized),
        "tma_stores": lambda: _store_problem(specialization),
        "evict_first": lambda: _eviction_problem(function),
    }
    for key, find in problems.items():
        problem = find() if function.asks(key) else None
        if problem is not None:
            function.refuse(key, problem)


def _schedules(function: FuncOp) -> dict[ForOp, ScheduleAttr]:
    """The schedules of all loops that have one."""
    loops = [op for op in function.walk() if isinstance(op, ForOp)]
    schedules = [(loop, loop.attributes.get(SCHEDULE)) for loop in loops]
    return {loop: each for loop, each in schedules if isinstance(each, ScheduleAttr)}


def _stages_problem(function: FuncOp, reasons: PipelineReasons) -> str | None:
    """Why not all pipelines have the stages that are asked for."""
    schedules, wanted = _schedules(function), function.asks("stages")
    if not schedules:
        return next(iter(reasons.refusals.values()), NO_PIPELINE)
    for loop, schedule in schedules.items():
        if schedule.stages != wanted:
            return reasons.bounds.get(loop, "tiles that are used after others have one stage")
    return None


def _in_flight_problem(function: FuncOp, *, is_specialized: bool) -> str | None:
    """Why no dots are in flight over iterations."""
    schedules = _schedules(function).values()
    if any(schedule.lag for schedule in schedules):
        return None
    if is_specialized:
        return "specialized warps release a stage when its dots are done"
    return "no loop has stages for dots that accumulate in place" if schedules else NO_PIPELINE


def _multicast_problem(function: FuncOp, *, is_specialized: bool) -> str | None:
    """Why the CTAs of a cluster multicast no tile."""
    if any(MULTICAST in op.attributes for op in function.walk()):
        return None
    if function.cluster_size == 1:
        return "there is one CTA in a cluster"
    if not is_specialized:
        return NO_PRODUCER
    return multicast_problem(function, list(_schedules(function))) or "no tile has enough boxes"


def _store_problem(specialization: Specialization | None) -> str | None:
    """Why no store is by TMA."""
    if specialization is None or specialization.stores is None:
        return NO_PRODUCER
    stores = specialization.stores
    return None if stores.boxes else next(iter(stores.problems.values()), "there is no store")


def _eviction_problem(function: FuncOp) -> str | None:
    """Why no tile is evicted from L2 first."""
    if any(EVICT_FIRST in op.attributes for op in function.walk()):
        return None
    problems = StreamedTiles(function).problems.values()
    return next((each for each in problems if each is not None), NO_PIPELINE)
