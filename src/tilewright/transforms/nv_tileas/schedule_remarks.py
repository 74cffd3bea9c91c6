"""Remarks on schedules: what copies each load, warp specialization, and a hint that is not met."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.remarks import load_remark
from tilewright.analysis.targets import target_or_baseline
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, MULTICAST, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import CopyEngine, ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import LoadOp
from tilewright.dialects.nv_tileas.pipeline import ranks_within
from tilewright.dialects.nv_tileas.tensor_map import boxes_of
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.schedule.shared_memory import stage_bytes
from tilewright.support.remark_catalogue import (
    EVICT_FIRST,
    EVICT_FIRST_REFUSED,
    MULTICAST_REFUSED,
    PIPELINE,
    PIPELINE_MEMORY,
    PIPELINE_REFUSED,
    SCHEDULE_CHOSEN,
    STORE_SELECTED,
    TILE_MULTICAST,
    TMA_LOAD_REFUSED,
    TMA_LOAD_UNUSED,
    TMA_STORE_REFUSED,
    WARPS_NOT_SPECIALIZED,
    WARPS_SPECIALIZED,
)
from tilewright.support.remarks import Remark
from tilewright.transforms.nv_tileas.consecutive_loops import scheduled_loads
from tilewright.transforms.nv_tileas.pipelined_loads import (
    TileLoad,
    feeds_tensor_cores,
    pipeline_problem,
)
from tilewright.transforms.nv_tileas.producer_slice import multicast_problem
from tilewright.transforms.nv_tileas.tma_loads import TmaLoads, shared_ranks

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.schedule.choose import Choice
    from tilewright.support.diagnostics import Sink
    from tilewright.transforms.nv_tileas.pipeline_reasons import PipelineReasons
    from tilewright.transforms.nv_tileas.streamed_tiles import StreamedTiles
    from tilewright.transforms.nv_tileas.tma_stores import TmaStores
    from tilewright.transforms.nv_tileas.warp_specialization import Specialization

PASS: Final = "schedule-loops"
INSTRUCTIONS: Final = {
    CopyEngine.CP_ASYNC: "cp.async",
    CopyEngine.REGISTERS: "ld.global",
    CopyEngine.TMA: "cp.async.bulk.tensor",
}
"""The instruction of each engine that reads memory."""


def report_loads(function: FuncOp, sink: Sink) -> None:
    """Report what copies each load of a scheduled loop, and why TMA does not if it should."""
    if not sink.wants_remarks:
        return
    by_tma = TmaLoads(function)
    for load in [op for op in function.walk() if isinstance(op, TileLoad)]:
        engine = load.attributes.get(ENGINE)
        if isinstance(engine, CopyEngine):
            sink.remark(load_remark(load, INSTRUCTIONS[engine], function.sym_name, PASS))
        if engine is not CopyEngine.TMA and target_or_baseline(function).tile_engine is not None:
            problem = by_tma.problem(load)
            _report_tma(function, load, problem, sink, is_pipelined=engine is not None)


def _report_tma(
    function: FuncOp, load: TileLoad, problem: str | None, sink: Sink, *, is_pipelined: bool
) -> None:
    """Report why TMA does not copy a tile that is pipelined, or that the program wants it for."""
    is_asked = not isinstance(load, LoadOp) and bool(load.allow_tma)
    name = function.sym_name
    if problem is not None and (is_pipelined or is_asked):
        text = "Load not by TMA"
        sink.remark(Remark(TMA_LOAD_REFUSED, text, PASS, name, load.location, problem))
    elif is_asked:
        text, reason = "allow_tma is not used", "encoding its tensor map would not pay"
        sink.remark(Remark(TMA_LOAD_UNUSED, text, PASS, name, load.location, reason))


def report_pipelines(function: FuncOp, reasons: PipelineReasons, sink: Sink) -> None:
    """Report the pipelines of loops: their stages, what bounds them, and why there is none."""
    if not sink.wants_remarks:
        return
    name = function.sym_name
    for loop, bound in reasons.bounds.items():
        schedule = loop.attributes.get(SCHEDULE)
        if not isinstance(schedule, ScheduleAttr):
            continue
        loads = scheduled_loads(loop)
        text, details = _stages(schedule), (("StageBytes", str(stage_bytes(loads))),)
        sink.remark(Remark(PIPELINE, text, PASS, name, loop.location, bound, details))
        memory = reasons.memory.get(loop)
        if memory and CopyEngine.TMA not in [load.attributes.get(ENGINE) for load in loads]:
            sink.remark(Remark(PIPELINE_MEMORY, text, PASS, name, loop.location, memory))
    for loop, refusal in reasons.refusals.items():
        if SCHEDULE not in loop.attributes:
            text = "Loop not pipelined"
            sink.remark(Remark(PIPELINE_REFUSED, text, PASS, name, loop.location, refusal))
    _report_waits(function, reasons, sink)


def _report_waits(function: FuncOp, reasons: PipelineReasons, sink: Sink) -> None:
    """Report the loads of loops that dots wait for in each iteration."""
    text, name = "Load not pipelined", function.sym_name
    for loop in [op for op in function.walk() if isinstance(op, ForOp)]:
        for load in [op for op in loop.body.block if isinstance(op, TileLoad)]:
            is_refused = loop in reasons.refusals and SCHEDULE not in loop.attributes
            if is_refused or ENGINE in load.attributes or not feeds_tensor_cores(load.results[0]):
                continue
            reason = pipeline_problem(load, loop) or "it would take too many registers"
            sink.remark(Remark(PIPELINE_REFUSED, text, PASS, name, load.location, reason))


def _stages(schedule: ScheduleAttr) -> str:
    return f"Pipeline of {schedule.stages} stage{'s' if schedule.stages > 1 else ''}"


def report_specialization(
    function: FuncOp, specialization: Specialization, choice: Choice, sink: Sink
) -> None:
    """Report on the warps of a kernel with dots by wgmma: specialized, or why not."""
    if not sink.wants_remarks:
        return
    dots = [op for op in function.walk() if isinstance(op, DotOp) and op.atom.asynchronous]
    if not dots:
        return
    entry, reason = WARPS_SPECIALIZED, ""
    if choice.chosen.candidate.by_tma:
        text = f"Warps specialized: one copies by TMA to {specialization.stages} stages"
        if len(specialization.pipelines) > 1:
            text += f" of each of {len(specialization.pipelines)} pipelines"
    else:
        entry, text = WARPS_NOT_SPECIALIZED, "Warps not specialized"
        problem = specialization.problem or specialization.drawback
        reason = problem or "encoding tensor maps would not pay"
    sink.remark(Remark(entry, text, PASS, function.sym_name, function.location, reason))


def report_choice(function: FuncOp, choice: Choice, sink: Sink) -> None:
    """Report the predicted clocks of a choice, and of the best candidate beside it."""
    if not sink.wants_remarks or choice.other is None:
        return
    chosen = choice.chosen
    text = f"Schedule chosen: {chosen.candidate}, predicted to take {chosen.clocks:.0f} clocks"
    name, location = function.sym_name, function.location
    sink.remark(Remark(SCHEDULE_CHOSEN, text, PASS, name, location, choice.reason))


def report_multicast(function: FuncOp, sink: Sink) -> None:
    """Report which of the tiles that CTAs of a cluster share are multicast, or why not."""
    if not sink.wants_remarks:
        return
    loads = [op for op in function.walk() if isinstance(op, TileLoad) and shared_ranks(op)]
    for load in loads:
        ranks = load.attributes.get(MULTICAST)
        if isinstance(ranks, IntegerAttr):
            entry, reason = TILE_MULTICAST, ""
            text = f"Tile multicast to {len(ranks_within(ranks.value))} CTAs"
        else:
            entry, reason = MULTICAST_REFUSED, _multicast_problem(function, load)
            text = "Tile not multicast"
        sink.remark(Remark(entry, text, PASS, function.sym_name, load.location, reason))


def _multicast_problem(function: FuncOp, load: TileLoad) -> str:
    """Why a tile that CTAs share is not multicast."""
    if load.attributes.get(ENGINE) is not CopyEngine.TMA:
        return "no producer copies it by TMA"
    loops = [op for op in function.walk() if isinstance(op, ForOp) and SCHEDULE in op.attributes]
    return multicast_problem(function, loops) or "it has too few boxes, or the schedule forbids it"


def report_streamed(function: FuncOp, tiles: StreamedTiles, sink: Sink) -> None:
    """Report which of the tiles of pipelines are evicted from L2 first, or why not."""
    if not sink.wants_remarks:
        return
    for load, problem in tiles.problems.items():
        entry, text = EVICT_FIRST, "Tile evicted from L2 first"
        reason = problem or "no other block or iteration reads it"
        if problem is not None:
            entry, text = EVICT_FIRST_REFUSED, "Tile not evicted from L2 first"
        sink.remark(Remark(entry, text, PASS, function.sym_name, load.location, reason))


def report_stores(function: FuncOp, stores: TmaStores | None, sink: Sink, *, chosen: bool) -> None:
    """Report the stores by TMA of a specialized kernel, and why others are not."""
    if not sink.wants_remarks or stores is None or not chosen:
        return
    name = function.sym_name
    for store, boxes in stores.boxes.items():
        box = str(list(boxes_of(boxes.map).extents))
        text = f"Store by TMA: each warp stores boxes of {box}, {boxes.per_warp} of a tile"
        details = (("Instruction", INSTRUCTIONS[CopyEngine.TMA]), ("Shape", box))
        sink.remark(Remark(STORE_SELECTED, text, PASS, name, store.location, details=details))
    for store, problem in stores.problems.items():
        text = "Store not by TMA"
        sink.remark(Remark(TMA_STORE_REFUSED, text, PASS, name, store.location, problem))
