"""What a schedule makes of a loop: the facts that the cost model asks for, before anything is
built.

Parts of them no pipeline changes: dots that are waited for, exchanges through shared memory, loads
that no pipeline copies. A pipeline adds its stages, and one barrier where threads copy for each
other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.view import TileReadOp
from tilewright.dialects.nv_tileas.attributes import in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.scf import ForOp, WhileOp
from tilewright.plans.scratch import scratch_bytes
from tilewright.schedule.cost_inputs import LoopPlan, is_carried, is_innermost, value_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tilewright.dialects.nv_tileas.attributes import ScheduleAttr
    from tilewright.ir.operation import Operation


def innermost_loops(function: Operation) -> list[Operation]:
    """The loops of a function without loops inside of them."""
    loops = [op for op in function.walk() if isinstance(op, ForOp | WhileOp)]
    return [loop for loop in loops if is_innermost(loop)]


def straight_loop(
    loop: Operation, copied: Collection[Operation], replaced: Collection[Operation]
) -> LoopPlan:
    """What a loop does beside its pipeline, which copies some loads and replaces some conversions.

    Each tile that threads write to shared memory takes a barrier before it is read, and all of them
    one before they are written again.
    """
    ops = [op for op in loop.walk() if op not in replaced]
    loads = [op for op in ops if isinstance(op, LoadOp | TileReadOp) and op not in copied]
    prefetched = sum(is_carried(op.results[0], loop) for op in loads)
    dots = [op for op in ops if isinstance(op, DotOp)]
    converts = [op for op in ops if isinstance(op, ConvertLayoutOp)]
    exchanges = [op for op in converts if scratch_bytes(op) or _is_written(op)]
    written = sum(map(_is_written, ops))
    return LoopPlan(
        barriers=written + bool(written),
        waits=sum(not op.asynchronous for op in dots),
        in_flight=sum(op.asynchronous for op in dots)
        - sum(isinstance(op, DotWaitOp) and not op.pending for op in ops),
        exposed=len(loads) - prefetched,
        prefetched=prefetched,
        exchanged=sum(value_bytes(op.result) for op in exchanges),
        multiplications=sum(count(op.c.type) * shape(op.a.type)[-1] for op in dots),
    )


def _is_written(op: Operation) -> bool:
    """Whether threads write a tile to shared memory."""
    return isinstance(op, ConvertLayoutOp) and in_shared_memory(op.result)


def copied_by_threads(
    loop: LoopPlan, schedule: ScheduleAttr, dots: int, *, is_private: bool, is_staggered: bool
) -> LoopPlan:
    """A loop with a pipeline that threads copy to, in which some dots accumulate in place.

    Such dots are waited for right before the next ones: in the same iteration, the last one is.
    Tiles that are used after others have a stage and a barrier of their own.
    """
    in_flight = dots if schedule.lag else max(dots - 1, 0)
    return loop._replace(
        stages=1 if is_staggered else schedule.stages,
        barriers=loop.barriers + (0 if is_private else 1 + is_staggered),
        waits=loop.waits - dots,
        in_flight=loop.in_flight + in_flight,
    )


def joined_plan(loops: Iterable[LoopPlan]) -> LoopPlan:
    """The largest numbers of all innermost loops of a kernel."""
    plans = list(loops)
    return LoopPlan(*map(max, zip(*plans, strict=True))) if plans else LoopPlan()
