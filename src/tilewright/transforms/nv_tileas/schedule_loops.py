"""The software pipelines of a kernel: stages, copy engines, and dots in flight.

Also chosen here: threads that copy or a producer, whether two blocks share an SM, stores by TMA,
multicast in a cluster, and tiles that L2 evicts first. This module finds the most stages of each
loop, and what a producer can copy; `choose_pipelining` chooses among the candidates. The decision
is written into the program, as attributes of the function, loops, loads, stores and dots;
`specialize-warps` builds the pipelines of a producer, `materialize-schedule` all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp
from tilewright.dialects.nv_tileas.attribute_names import (
    CONTINUES,
    ENGINE,
    IN_FLIGHT,
    LATE,
    SCHEDULE,
)
from tilewright.dialects.nv_tileas.attributes import (
    CopyEngine,
    ScheduleAttr,
)
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import UnitAttr
from tilewright.ir.passes import Pass
from tilewright.schedule.limits import (
    DOTS,
    EARLY_SHARE,
    HELD_STAGES,
    LARGE_TILE,
    LEAST_STAGES,
    MAX_STAGES,
    PLAIN,
    PRIVATE_STAGES,
)
from tilewright.schedule.resources import block_limit, shares_sm
from tilewright.schedule.shared_memory import (
    BARRIER_RESERVE,
    loop_bytes,
    planned_loop_bytes,
    stage_bytes,
)
from tilewright.schedule.tile_words import tile_words
from tilewright.schedule.warps import threads_of
from tilewright.target.arch import WARP_SIZE
from tilewright.transforms.nv_tileas.choose_pipelining import PipeliningChoice
from tilewright.transforms.nv_tileas.consecutive_loops import (
    continues,
    loop_before,
    nested_bytes,
    scheduled_loads,
)
from tilewright.transforms.nv_tileas.dots_in_flight import dots_in_flight
from tilewright.transforms.nv_tileas.pipeline_reasons import (
    CROWDED,
    ENOUGH,
    FORCED,
    PipelineReasons,
    StageBudget,
    memory_limit,
)
from tilewright.transforms.nv_tileas.pipelined_loads import (
    TileLoad,
    engine_of,
    feeds_tensor_cores,
    is_private,
    pipelined_loads,
    plan_stage,
    replaced_conversions,
)
from tilewright.transforms.nv_tileas.predicted_plans import ThreadPipeline
from tilewright.transforms.nv_tileas.refused_requests import record_refusals
from tilewright.transforms.nv_tileas.schedule_remarks import (
    report_choice,
    report_loads,
    report_multicast,
    report_pipelines,
    report_specialization,
    report_stores,
    report_streamed,
)
from tilewright.transforms.nv_tileas.staggered_loads import late_loads
from tilewright.transforms.nv_tileas.streamed_tiles import StreamedTiles
from tilewright.transforms.nv_tileas.warp_specialization import Specialization

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink

STAGES: Final = "stages"
AGENTS: Final = "agents"
CORESIDENT: Final = "while threads of one block wait, those of a second one multiply"
STREAMED_FIRST: Final = True
"""Whether tiles that are read once are evicted from L2 first, unless it is forced."""


class ScheduleLoops(Pass):
    """Choose the software pipeline of every loop: loads, stages, copy engines, and dots in flight.

    A producer may copy for all loops of a kernel, by TMA, and two blocks may share an SM. Applies
    only to loads that no token orders after another access.
    """

    name = "schedule-loops"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if function.is_kernel:
                self._schedule(function, sink)

    def _schedule(self, function: FuncOp, sink: Sink) -> None:
        spec = function.kernel_spec
        if spec is None or spec.num_warps is None or _has_agents(function):
            return
        threads = spec.num_warps * WARP_SIZE
        rest: dict[ForOp, Sequence[TileLoad]] = {}
        pipelines: dict[ForOp, ThreadPipeline] = {}
        reasons = PipelineReasons()
        for loop in [op for op in function.walk_post_order() if isinstance(op, ForOp)]:
            loads = _pipelined(loop, threads)
            pipeline = self._widest(function, loop, loads, reasons) if loads else None
            if pipeline is None and loads:
                pipeline = self._staggered(function, loop, loads, threads)
            if pipeline is not None:
                _record(loop, pipeline)
                pipelines[loop] = pipeline
            elif loads:
                rest[loop] = loads
        specialization = _specialization(function, rest)
        pipelining = PipeliningChoice(function, pipelines, specialization)
        is_specialized = self._apply(function, pipelining, specialization, reasons, sink)
        evict_first = function.asks("evict_first")
        if STREAMED_FIRST if evict_first is None else evict_first:
            _evict_first(function, sink)
        record_refusals(function, reasons, specialization if is_specialized else None)
        report_loads(function, sink)
        report_pipelines(function, reasons, sink)
        report_multicast(function, sink)

    def _apply(
        self,
        function: FuncOp,
        pipelining: PipeliningChoice,
        specialization: Specialization | None,
        reasons: PipelineReasons,
        sink: Sink,
    ) -> bool:
        """Write the chosen candidate into the program; whether it has a producer."""
        choice = pipelining.choose()
        candidate = choice.chosen.candidate
        if specialization is not None and candidate.by_tma:
            specialization.record()
            reasons.bounds.update(specialization.bounds())
            if function.asks("multicast") != 0:
                specialization.record_multicast()
        else:
            for loop, schedule in pipelining.schedules(candidate).items():
                if schedule.stages < _schedule_of(loop).stages:
                    reasons.bounds[loop] = choice.reason
                loop.attributes[SCHEDULE] = schedule
                if candidate.blocks > 1:
                    reasons.memory[loop] = CORESIDENT
            for loop in [op for op in function.walk() if isinstance(op, ForOp)]:
                _share_pipeline(loop, reasons)
        if candidate.blocks > 1:
            function.choose_blocks(candidate.blocks)
        if specialization is not None:
            report_stores(function, specialization.stores, sink, chosen=candidate.by_tma)
            report_specialization(function, specialization, choice, sink)
        report_choice(function, choice, sink)
        return candidate.by_tma

    def _widest(
        self,
        function: FuncOp,
        loop: ForOp,
        loads: Sequence[TileLoad],
        reasons: PipelineReasons,
    ) -> ThreadPipeline | None:
        """The pipeline with the most stages that fit; `reasons` takes why there are no more."""
        arch = target_of(function)
        if arch is None:
            return None
        if is_private(loads):
            return self._private(function, loop, loads, reasons)
        budget = self._fitting_stages(function, loop, loads, reasons)
        stages, reasons.bounds[loop] = budget.fitting, budget.bound
        if stages < LEAST_STAGES:
            reasons.refusals[loop] = budget.bound
            return None
        dots = dots_in_flight(loop, loads)
        return ThreadPipeline(loads, ScheduleAttr(stages, stages - 1), dots)

    def _private(
        self,
        function: FuncOp,
        loop: ForOp,
        loads: Sequence[TileLoad],
        reasons: PipelineReasons,
    ) -> ThreadPipeline | None:
        """The pipeline of a loop whose threads read only what they copied themselves."""
        arch = target_of(function)
        assert arch is not None
        needed, taken = stage_bytes(loads), _other_bytes(function, loop, loads)
        limits = DOTS if any(isinstance(op, DotOp) for op in loop.body.walk()) else PLAIN
        free = max(min(arch.static_shared, limits.block) - taken - BARRIER_RESERVE, 0)
        budget = self._budget(function, PRIVATE_STAGES, needed, free)
        stages, reasons.bounds[loop] = budget.fitting, budget.bound
        if stages and needed <= limits.iteration:
            return ThreadPipeline(loads, ScheduleAttr(stages, stages), is_private=True)
        reasons.refusals[loop] = budget.bound
        if needed > limits.iteration:
            reasons.refusals[loop] = (
                f"an iteration loads {needed} bytes: above {limits.iteration}, early copies do "
                "not pay"
            )
        return None

    def _budget(self, function: FuncOp, wanted: int, stage: int, free: int) -> StageBudget:
        """The memory for the stages of a pipeline, unless their number is forced."""
        stages, limit = function.asks(STAGES), memory_limit(function)
        enough = ENOUGH if stages is None else FORCED
        return StageBudget(stages or wanted, stage, free, limit=limit, enough=enough)

    def _fitting_stages(
        self,
        function: FuncOp,
        loop: ForOp,
        loads: Sequence[TileLoad],
        reasons: PipelineReasons,
    ) -> StageBudget:
        """How many stages of a loop's tiles fit into shared memory, up to the number wanted."""
        arch, threads = target_of(function), threads_of(function)
        assert arch is not None
        is_copied = any(engine_of(load) is CopyEngine.CP_ASYNC for load in loads)
        wanted = MAX_STAGES if is_copied else HELD_STAGES
        needed, taken = stage_bytes(loads), _other_bytes(function, loop, loads)
        limit = block_limit(function, threads) if shares_sm(function) else arch.static_shared
        budget = self._budget(function, wanted, needed, limit - taken)
        has_dots = any(isinstance(op, DotOp) for op in loop.body.block)
        if budget.fitting >= LEAST_STAGES or not has_dots:
            return budget
        reasons.memory[loop] = "tiles that are never live together share the rest of the memory"
        free = limit - _planned_bytes(function, loop, loads)
        budget = self._budget(function, wanted, needed, free)
        return budget._replace(wanted=min(budget.wanted, LEAST_STAGES), enough=CROWDED)

    def _staggered(
        self, function: FuncOp, loop: ForOp, loads: Sequence[TileLoad], threads: int
    ) -> ThreadPipeline | None:
        """The pipelines of a loop some of whose tiles are used after the others: one for each kind.

        The early ones have two stages where memory allows: an iteration before theirs has no time
        to copy them, since it copies its own late ones.
        """
        late: Sequence[TileLoad] = [] if is_private(loads) else late_loads(loop, loads)
        if not late:
            return None
        arch = target_of(function)
        assert arch is not None
        limit = block_limit(function, threads) if shares_sm(function) else arch.static_shared
        early = [load for load in loads if load not in late]
        free = limit - _other_bytes(function, loop, loads) - stage_bytes(late)
        # Only the barrier of a wait for late tiles shows that all threads have used the early ones.
        most = 1 if is_private(late) else function.asks(STAGES) or LEAST_STAGES
        stages = min(most, max(free, 0) // stage_bytes(early))
        if not stages:
            return None
        dots = dots_in_flight(loop, loads)
        return ThreadPipeline(loads, ScheduleAttr(stages, stages), dots, late)


def _other_bytes(function: FuncOp, loop: ForOp, loads: Sequence[TileLoad]) -> int:
    """The shared memory in use beside the pipeline of a loop's loads."""
    return loop_bytes(function, loop, replaced_conversions(loads), nested_bytes(loop))


def _planned_bytes(function: FuncOp, loop: ForOp, loads: Sequence[TileLoad]) -> int:
    """The same where tiles that are never live together have one memory."""
    return planned_loop_bytes(function, loop, replaced_conversions(loads), nested_bytes(loop))


def _evict_first(function: FuncOp, sink: Sink) -> None:
    """Mark the tiles that are read once."""
    tiles = StreamedTiles(function)
    tiles.record()
    report_streamed(function, tiles, sink)


def _has_agents(function: FuncOp) -> bool:
    return any(isinstance(op, AgentSwitchOp) for op in function.walk())


def _pipelined(loop: ForOp, threads: int) -> list[TileLoad]:
    """The loads of a loop that its pipeline copies."""
    loads = [load for load in pipelined_loads(loop) if _is_worthwhile(load, threads)]
    if not is_private(loads):
        return _without_excess(loads, threads)
    # Only the barrier of the block after the wait orders a load before a write of another thread.
    return [load for load in loads if not load.result_token.is_used]


def _is_worthwhile(load: TileLoad, threads: int) -> bool:
    """Whether a tile feeds a dot from its stage, or is copied asynchronously and worth it.

    It is if it is large, or if tensor cores multiply what is computed from it: `prefetch-loads`
    leaves that to pipelines.
    """
    if not plan_stage(load).is_private:
        return True
    tile = load.results[0]
    is_large = tile_words(tile.type) >= LARGE_TILE * threads
    return engine_of(load) is CopyEngine.CP_ASYNC and (is_large or feeds_tensor_cores(tile))


def _without_excess(loads: Sequence[TileLoad], threads: int) -> list[TileLoad]:
    """The loads without those that would take too many registers on their way to a stage."""
    left = EARLY_SHARE * threads
    kept: list[TileLoad] = []
    for load in loads:
        if engine_of(load) is CopyEngine.REGISTERS:
            words = tile_words(load.results[0].type)
            if words > left:
                continue
            left -= words
        kept.append(load)
    return kept


def _share_pipeline(second: ForOp, reasons: PipelineReasons) -> None:
    """Let a loop take over the pipeline of the loop before it, if it can, with what all allow."""
    first = loop_before(second)
    if first is None or not continues(first, second):
        return
    loads = [*scheduled_loads(first), *scheduled_loads(second)]
    if any(LATE in load.attributes for load in loads):
        return
    group = [second, first]
    while CONTINUES in group[-1].attributes and (before := loop_before(group[-1])) is not None:
        group.append(before)
    schedules = [_schedule_of(loop) for loop in group]
    lags = [schedule.lag for schedule in schedules]
    stages = min([schedule.stages for schedule in schedules])
    distance = min([schedule.distance for schedule in schedules])
    if len(set(lags)) > 1:
        # The loop with dots in flight needs a stage more for the same distance.
        distance = min(distance, stages - 1 - max(lags))
    if distance < 1:
        return
    for loop, lag in zip(group, lags, strict=True):
        if _schedule_of(loop).stages != stages:
            reasons.bounds[loop] = "a consecutive loop with fewer stages shares its pipeline"
        loop.attributes[SCHEDULE] = ScheduleAttr(stages, distance, lag)
    second.attributes[CONTINUES] = UnitAttr()


def _schedule_of(loop: ForOp) -> ScheduleAttr:
    schedule = loop.attributes[SCHEDULE]
    assert isinstance(schedule, ScheduleAttr)
    return schedule


def _record(loop: ForOp, pipeline: ThreadPipeline) -> None:
    loop.attributes[SCHEDULE] = pipeline.schedule
    for load in pipeline.loads:
        load.attributes[ENGINE] = engine_of(load)
    for load in pipeline.late:
        load.attributes[LATE] = UnitAttr()
    for dot in pipeline.dots:
        dot.attributes[IN_FLIGHT] = UnitAttr()


def _specialization(
    function: FuncOp, rest: Mapping[ForOp, Sequence[TileLoad]]
) -> Specialization | None:
    """The warp specialization of scheduled loops, unless it is forbidden.

    A producer may also copy for those of the `rest` in which dots overlap with other work: a ring
    that loads share needs less memory than a pipeline with a stage for each.
    """
    agents, tma_stores = function.asks(AGENTS), function.asks("tma_stores")
    if agents == 0:
        return None
    tentative = {loop: loads for loop, loads in rest.items() if _has_dots_in_flight(loop)}
    for loop, loads in tentative.items():
        _record(loop, ThreadPipeline(loads, ScheduleAttr(1, 1)))
    by_tma = None if tma_stores is None else bool(tma_stores)
    specialization = Specialization(function, function.asks(STAGES) or 0, tma_stores=by_tma)
    for loop, loads in tentative.items():
        _withdraw(loop, loads)
    if agents is not None and specialization.problem is not None:
        function.refuse(AGENTS, specialization.problem)
    return specialization


def _withdraw(loop: ForOp, loads: Sequence[TileLoad]) -> None:
    """Remove the schedule of a loop that `_record` wrote."""
    del loop.attributes[SCHEDULE]
    for load in loads:
        del load.attributes[ENGINE]


def _has_dots_in_flight(loop: ForOp) -> bool:
    """Whether `overlap-dots` lets other work of an iteration run beside a dot."""
    return any(isinstance(op, DotOp) and op.asynchronous for op in loop.body.block)
