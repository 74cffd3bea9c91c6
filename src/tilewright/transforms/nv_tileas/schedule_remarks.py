"""What is reported of the schedule of a kernel: remarks, and the requests that it does not follow.

Remarks say what copies each load, which pipelines and agents there are, and why not others.
"""

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
from tilewright.support import remark_catalogue as entries
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
    from collections.abc import Mapping

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.schedule.candidates import Choice
    from tilewright.support.diagnostics import Sink
    from tilewright.support.remark_catalogue import RemarkEntry
    from tilewright.transforms.nv_tileas.fitting_pipelines import FittingPipelines
    from tilewright.transforms.nv_tileas.warp_specialization import Specialization

PASS: Final = "schedule-loops"
NO_PIPELINE: Final = "no loop is pipelined"
NO_PRODUCER: Final = "no producer copies tiles by TMA"
INSTRUCTIONS: Final = {
    CopyEngine.CP_ASYNC: "cp.async",
    CopyEngine.REGISTERS: "ld.global",
    CopyEngine.TMA: "cp.async.bulk.tensor",
}
"""The instruction of each engine that reads memory."""


class ScheduleReport:
    """Reports the schedule of a function, which is written into it."""

    def __init__(
        self,
        function: FuncOp,
        sink: Sink,
        fitting: FittingPipelines,
        specialization: Specialization | None,
        choice: Choice,
        streamed: Mapping[TileLoad, str | None],
    ) -> None:
        """`streamed` are tiles, with why they are not evicted from L2 first."""
        self._function, self._sink = function, sink
        self._fitting, self._choice = fitting, choice
        self._offered, self._streamed = specialization, streamed
        self._chosen = specialization if choice.chosen.candidate.by_tma else None
        self._loops = [op for op in function.walk() if isinstance(op, ForOp)]
        schedules = [(loop, loop.attributes.get(SCHEDULE)) for loop in self._loops]
        self._schedules = {loop: each for loop, each in schedules if isinstance(each, ScheduleAttr)}

    def record_refusals(self) -> None:
        """Record which requests the schedule does not follow."""
        problems = {
            "stages": self._stages_problem,
            "in_flight": self._in_flight_problem,
            "multicast": self._multicast_problem,
            "tma_stores": self._store_problem,
            "evict_first": self._eviction_problem,
        }
        for key, find in problems.items():
            problem = find() if self._function.asks(key) else None
            if problem is not None:
                self._function.refuse(key, problem)

    def _stages_problem(self) -> str | None:
        """Why not all pipelines have the stages that are asked for."""
        wanted = self._function.asks("stages")
        if not self._schedules:
            return next(iter(self._fitting.refusals.values()), NO_PIPELINE)
        for loop, schedule in self._schedules.items():
            if schedule.stages != wanted:
                staggered = "tiles that are used after others have one stage"
                return self._fitting.bounds.get(loop, staggered)
        return None

    def _in_flight_problem(self) -> str | None:
        """Why no dots are in flight over iterations."""
        if any(schedule.lag for schedule in self._schedules.values()):
            return None
        if self._chosen is not None:
            return "specialized warps release a stage when its dots are done"
        if not self._schedules:
            return NO_PIPELINE
        return "no loop has stages for dots that accumulate in place"

    def _multicast_problem(self) -> str | None:
        """Why the CTAs of a cluster multicast no tile."""
        if any(MULTICAST in op.attributes for op in self._function.walk()):
            return None
        if self._function.cluster_size == 1:
            return "there is one CTA in a cluster"
        if self._chosen is None:
            return NO_PRODUCER
        return multicast_problem(self._function, self._schedules) or "no tile has enough boxes"

    def _store_problem(self) -> str | None:
        """Why no store is by TMA."""
        if self._chosen is None or self._chosen.stores is None:
            return NO_PRODUCER
        stores = self._chosen.stores
        return None if stores.boxes else next(iter(stores.problems.values()), "there is no store")

    def _eviction_problem(self) -> str | None:
        """Why no tile is evicted from L2 first."""
        problems = self._streamed.values()
        return None if None in problems else next(iter(problems), NO_PIPELINE)

    def remark(self) -> None:
        """Report the decisions as remarks, if they are wanted."""
        if self._sink.wants_remarks:
            for each in (
                self._stores, self._agents, self._clocks, self._evictions, self._loads,
                self._pipelines, self._waits, self._multicasts,
            ):  # fmt: skip
                each()

    def _add(
        self, entry: RemarkEntry, text: str, op: Operation, reason: str = "", **details: str
    ) -> None:
        """Add a remark on an operation."""
        name, given = self._function.sym_name, tuple(details.items())
        self._sink.remark(Remark(entry, text, PASS, name, op.location, reason, given))

    def _stores(self) -> None:
        """The stores by TMA of a specialized kernel, and why others are not."""
        if self._chosen is None or self._chosen.stores is None:
            return
        for store, boxes in self._chosen.stores.boxes.items():
            box = str(list(boxes_of(boxes.map).extents))
            text = f"Store by TMA: each warp stores boxes of {box}, {boxes.per_warp} of a tile"
            instruction = INSTRUCTIONS[CopyEngine.TMA]
            self._add(entries.STORE_SELECTED, text, store, Instruction=instruction, Shape=box)
        for store, problem in self._chosen.stores.problems.items():
            self._add(entries.TMA_STORE_REFUSED, "Store not by TMA", store, problem)

    def _agents(self) -> None:
        """The warps of a kernel with dots by wgmma: specialized, or why not."""
        function, offered = self._function, self._offered
        dots = [op for op in function.walk() if isinstance(op, DotOp) and op.atom.asynchronous]
        if offered is None or not dots:
            return
        if self._chosen is None:
            problem = offered.problem or offered.drawback
            reason = problem or "encoding tensor maps would not pay"
            text = "Warps not specialized"
            self._add(entries.WARPS_NOT_SPECIALIZED, text, function, reason)
            return
        text = f"Warps specialized: one copies by TMA to {offered.stages} stages"
        if len(offered.pipelines) > 1:
            text += f" of each of {len(offered.pipelines)} pipelines"
        self._add(entries.WARPS_SPECIALIZED, text, function)

    def _clocks(self) -> None:
        """The predicted clocks of the choice, and of the best candidate beside it."""
        chosen, reason = self._choice.chosen, self._choice.reason
        if self._choice.other is not None:
            clocks = f"predicted to take {chosen.clocks:.0f} clocks"
            text = f"Schedule chosen: {chosen.candidate}, {clocks}"
            self._add(entries.SCHEDULE_CHOSEN, text, self._function, reason)

    def _evictions(self) -> None:
        """Which of the tiles of pipelines are evicted from L2 first, or why not."""
        for load, problem in self._streamed.items():
            if problem is None:
                reason = "no other block or iteration reads it"
                self._add(entries.EVICT_FIRST, "Tile evicted from L2 first", load, reason)
            else:
                text = "Tile not evicted from L2 first"
                self._add(entries.EVICT_FIRST_REFUSED, text, load, problem)

    def _loads(self) -> None:
        """What copies each load of a scheduled loop, and why TMA does not if it should."""
        function, by_tma = self._function, TmaLoads(self._function)
        for load in [op for op in function.walk() if isinstance(op, TileLoad)]:
            engine = load.attributes.get(ENGINE)
            if isinstance(engine, CopyEngine):
                self._sink.remark(load_remark(load, INSTRUCTIONS[engine], function.sym_name, PASS))
            if engine is CopyEngine.TMA or target_or_baseline(function).tile_engine is None:
                continue
            # Of a tile that is pipelined, or that the program wants TMA for.
            is_asked = not isinstance(load, LoadOp) and bool(load.allow_tma)
            problem = by_tma.problem(load)
            if problem is not None and (engine is not None or is_asked):
                self._add(entries.TMA_LOAD_REFUSED, "Load not by TMA", load, problem)
            elif is_asked:
                text, reason = "allow_tma is not used", "encoding its tensor map would not pay"
                self._add(entries.TMA_LOAD_UNUSED, text, load, reason)

    def _pipelines(self) -> None:
        """The pipelines of loops: their stages, what bounds them, and why there is none."""
        for loop, bound in self._fitting.bounds.items():
            schedule = self._schedules.get(loop)
            if schedule is None:
                continue
            loads = scheduled_loads(loop)
            text = f"Pipeline of {schedule.stages} stage{'s' if schedule.stages > 1 else ''}"
            bytes = str(stage_bytes(loads))
            self._add(entries.PIPELINE, text, loop, bound, StageBytes=bytes)
            share = self._fitting.shares.get(loop)
            if share and CopyEngine.TMA not in [load.attributes.get(ENGINE) for load in loads]:
                self._add(entries.PIPELINE_MEMORY, text, loop, share)
        for loop, refusal in self._refusals().items():
            self._add(entries.PIPELINE_REFUSED, "Loop not pipelined", loop, refusal)

    def _refusals(self) -> dict[ForOp, str]:
        """The loops that load tiles and have no pipeline, with the reason."""
        refusals = self._fitting.refusals.items()
        return {loop: reason for loop, reason in refusals if loop not in self._schedules}

    def _waits(self) -> None:
        """The loads of loops that dots wait for in each iteration."""
        refused = self._refusals()
        for loop in [each for each in self._loops if each not in refused]:
            for load in [op for op in loop.body.block if isinstance(op, TileLoad)]:
                if ENGINE not in load.attributes and feeds_tensor_cores(load.results[0]):
                    problem = pipeline_problem(load, loop)
                    reason = problem or "it would take too many registers"
                    self._add(entries.PIPELINE_REFUSED, "Load not pipelined", load, reason)

    def _multicasts(self) -> None:
        """Which of the tiles that CTAs of a cluster share are multicast, or why not."""
        loads = [op for op in self._function.walk() if isinstance(op, TileLoad)]
        for load in filter(shared_ranks, loads):
            ranks = load.attributes.get(MULTICAST)
            if isinstance(ranks, IntegerAttr):
                text = f"Tile multicast to {len(ranks_within(ranks.value))} CTAs"
                self._add(entries.TILE_MULTICAST, text, load)
                continue
            reason = "no producer copies it by TMA"
            if load.attributes.get(ENGINE) is CopyEngine.TMA:
                problem = multicast_problem(self._function, self._schedules)
                reason = problem or "it has too few boxes, or the schedule forbids it"
            self._add(entries.MULTICAST_REFUSED, "Tile not multicast", load, reason)
