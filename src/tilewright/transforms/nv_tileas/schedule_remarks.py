"""Remarks on schedules: what copies each load, warp specialization, and a hint that is not met."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.remarks import load_remark
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, MULTICAST, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import Atom, CopyEngine, ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import LoadOp
from tilewright.dialects.nv_tileas.pipeline import ranks_within
from tilewright.dialects.nv_tileas.tensor_map import boxes_of
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.support.remarks import COMPILER, MEMORY, RESOURCES, Remark
from tilewright.transforms.nv_tileas.choose_multicast import multicast_problem, shared_ranks
from tilewright.transforms.nv_tileas.consecutive_loops import scheduled_loads
from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad
from tilewright.transforms.nv_tileas.tma_loads import tma_problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.nv_tileas.memory import TiledStoreOp
    from tilewright.support.diagnostics import Sink
    from tilewright.transforms.nv_tileas.choose_specialization import Specialization
    from tilewright.transforms.nv_tileas.streamed_tiles import StreamedTiles
    from tilewright.transforms.nv_tileas.tma_stores import TmaStores

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
    for load in [op for op in function.walk() if isinstance(op, TileLoad)]:
        engine = load.attributes.get(ENGINE)
        if isinstance(engine, CopyEngine):
            sink.remark(load_remark(load, INSTRUCTIONS[engine], function.sym_name, PASS))
        if engine is not CopyEngine.TMA and not isinstance(load, LoadOp) and load.allow_tma:
            reason = tma_problem(load) or "encoding its tensor map would not pay"
            text = f"allow_tma is not used: {reason}"
            sink.remark(
                Remark("missed", MEMORY, "RemarkTma", text, PASS, function.sym_name, load.location)
            )


def report_memory(function: FuncOp, reasons: Mapping[ForOp, str], sink: Sink) -> None:
    """Report why the pipelines of loops have the memory that they have, unless TMA copies."""
    if not sink.wants_remarks:
        return
    for loop, reason in reasons.items():
        schedule = loop.attributes.get(SCHEDULE)
        engines = [load.attributes.get(ENGINE) for load in scheduled_loads(loop)]
        if not isinstance(schedule, ScheduleAttr) or CopyEngine.TMA in engines:
            continue
        text = f"Pipeline of {schedule.stages} stages: {reason}"
        name, location = "RemarkPipelineMemory", loop.location
        sink.remark(Remark("passed", RESOURCES, name, text, PASS, function.sym_name, location))


def report_specialization(
    function: FuncOp, specialization: Specialization, sink: Sink, *, chosen: bool
) -> None:
    """Report on the warps of a kernel with dots by wgmma: specialized, or why not."""
    dots = [op for op in function.walk() if isinstance(op, DotOp) and op.atom is Atom.WGMMA]
    if not sink.wants_remarks or not dots:
        return
    if chosen:
        text = f"Warps specialized: one copies by TMA to {specialization.stages} stages"
        if len(specialization.pipelines) > 1:
            text += f" of each of {len(specialization.pipelines)} pipelines"
    else:
        reason = specialization.problem or specialization.drawback or "it is forbidden"
        text = f"Warps not specialized: {reason}"
    kind = "passed" if chosen else "missed"
    name, location = "RemarkWarpSpecialization", function.location
    sink.remark(Remark(kind, COMPILER, name, text, PASS, function.sym_name, location))


def report_multicast(function: FuncOp, sink: Sink) -> None:
    """Report which of the tiles that CTAs of a cluster share are multicast, or why not."""
    if not sink.wants_remarks:
        return
    loads = [op for op in function.walk() if isinstance(op, TileLoad) and shared_ranks(op)]
    for load in loads:
        ranks = load.attributes.get(MULTICAST)
        if isinstance(ranks, IntegerAttr):
            text = f"Tile multicast to {len(ranks_within(ranks.value))} CTAs"
        else:
            text = f"Tile not multicast: {_multicast_problem(function, load)}"
        kind = "passed" if MULTICAST in load.attributes else "missed"
        name, location = "RemarkMulticast", load.location
        sink.remark(Remark(kind, MEMORY, name, text, PASS, function.sym_name, location))


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
        text = "Tile evicted from L2 first: no other block or iteration reads it"
        if problem is not None:
            text = f"Tile not evicted from L2 first: {problem}"
        kind = "passed" if problem is None else "missed"
        name, location = "RemarkEvictFirst", load.location
        sink.remark(Remark(kind, MEMORY, name, text, PASS, function.sym_name, location))


def report_stores(function: FuncOp, stores: TmaStores | None, sink: Sink, *, chosen: bool) -> None:
    """Report the stores by TMA of a specialized kernel, and why others are not."""
    if not sink.wants_remarks or stores is None or not chosen:
        return
    for store, boxes in stores.boxes.items():
        box = boxes_of(boxes.map).extents
        text = f"Store by TMA: each warp stores boxes of {list(box)}, {boxes.per_warp} of a tile"
        _report_store(function, store, sink, "passed", text)
    for store, problem in stores.problems.items():
        _report_store(function, store, sink, "missed", f"Store not by TMA: {problem}")


def _report_store(function: FuncOp, store: TiledStoreOp, sink: Sink, kind: str, text: str) -> None:
    name, location = "RemarkTmaStore", store.location
    sink.remark(Remark(kind, MEMORY, name, text, PASS, function.sym_name, location))
