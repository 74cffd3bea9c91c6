"""The pipeline of a loop that threads copy to: its loads, and the most stages that fit.

Whether fewer stages, or a producer, are chosen instead is decided by `choose_pipelining`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileas.attributes import CopyEngine, ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotOp
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
from tilewright.schedule.shared_memory import BARRIER_RESERVE, stage_bytes
from tilewright.schedule.tile_words import tile_words
from tilewright.schedule.warp_counts import threads_of
from tilewright.transforms.nv_tileas.consecutive_loops import nested_bytes
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
    StagePlan,
    feeds_tensor_cores,
    is_private,
    pipelined_loads,
    plan_stage,
    replaced_conversions,
)
from tilewright.transforms.nv_tileas.predicted_plans import ThreadPipeline
from tilewright.transforms.nv_tileas.staggered_loads import late_loads

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.scf import ForOp
    from tilewright.schedule.shared_memory import SharedMemory
    from tilewright.transforms.nv_tileas.pipelined_loads import StagePlans, TileLoad

STAGES: Final = "stages"


class FittingPipelines:
    """Finds the pipelines of the loops of a kernel, one after the other."""

    __slots__ = ("_function", "_memory", "_reasons", "_threads")

    def __init__(self, function: FuncOp, memory: SharedMemory, reasons: PipelineReasons) -> None:
        self._function, self._memory = function, memory
        self._reasons = reasons
        """Takes why a loop has no pipeline, or no more stages."""
        self._threads = threads_of(function)

    def plans(self, loop: ForOp) -> dict[TileLoad, StagePlan]:
        """The loads of a loop that its pipeline copies, with their stages."""
        plans = {load: plan_stage(load) for load in pipelined_loads(loop)}
        plans = {load: plan for load, plan in plans.items() if self._is_worthwhile(load, plan)}
        if not is_private(plans.values()):
            return self._without_excess(plans)
        # Only the barrier of the block after the wait orders a load before a write of another
        # thread.
        return {load: plan for load, plan in plans.items() if not load.result_token.is_used}

    def pipeline(self, loop: ForOp, plans: StagePlans) -> ThreadPipeline | None:
        """The pipeline of a loop for some loads; None if not enough stages fit."""
        return self._widest(loop, plans) or self._staggered(loop, plans)

    def _is_worthwhile(self, load: TileLoad, plan: StagePlan) -> bool:
        """Whether a tile feeds a dot from its stage, or is copied asynchronously and worth it.

        It is if it is large, or if tensor cores multiply what is computed from it: `prefetch-loads`
        leaves that to pipelines.
        """
        if not plan.is_private:
            return True
        tile = load.results[0]
        is_large = tile_words(tile.type) >= LARGE_TILE * self._threads
        return plan.engine is CopyEngine.CP_ASYNC and (is_large or feeds_tensor_cores(tile))

    def _without_excess(self, plans: StagePlans) -> dict[TileLoad, StagePlan]:
        """The loads without those that would take too many registers on their way to a stage."""
        left = EARLY_SHARE * self._threads
        kept: dict[TileLoad, StagePlan] = {}
        for load, plan in plans.items():
            if plan.engine is CopyEngine.REGISTERS:
                words = tile_words(load.results[0].type)
                if words > left:
                    continue
                left -= words
            kept[load] = plan
        return kept

    def _widest(self, loop: ForOp, plans: StagePlans) -> ThreadPipeline | None:
        """The pipeline with the most stages that fit."""
        if target_of(self._function) is None:
            return None
        if is_private(plans.values()):
            return self._private(loop, plans)
        budget, reasons = self._fitting_stages(loop, plans), self._reasons
        stages, reasons.bounds[loop] = budget.fitting, budget.bound
        if stages < LEAST_STAGES:
            reasons.refusals[loop] = budget.bound
            return None
        dots = dots_in_flight(loop, plans)
        return ThreadPipeline(plans, ScheduleAttr(stages, stages - 1), dots)

    def _private(self, loop: ForOp, plans: StagePlans) -> ThreadPipeline | None:
        """The pipeline of a loop whose threads read only what they copied themselves."""
        arch, reasons = target_of(self._function), self._reasons
        assert arch is not None
        needed, taken = stage_bytes(plans), self._other_bytes(loop, plans)
        limits = DOTS if any(isinstance(op, DotOp) for op in loop.body.walk()) else PLAIN
        free = max(min(arch.static_shared, limits.block) - taken - BARRIER_RESERVE, 0)
        budget = self._budget(PRIVATE_STAGES, needed, free)
        stages, reasons.bounds[loop] = budget.fitting, budget.bound
        if stages and needed <= limits.iteration:
            return ThreadPipeline(plans, ScheduleAttr(stages, stages))
        reasons.refusals[loop] = budget.bound
        if needed > limits.iteration:
            reasons.refusals[loop] = (
                f"an iteration loads {needed} bytes: above {limits.iteration}, early copies do "
                "not pay"
            )
        return None

    def _budget(self, wanted: int, stage: int, free: int) -> StageBudget:
        """The memory for the stages of a pipeline, unless their number is forced."""
        stages, limit = self._function.asks(STAGES), memory_limit(self._function)
        enough = ENOUGH if stages is None else FORCED
        return StageBudget(stages or wanted, stage, free, limit=limit, enough=enough)

    def _fitting_stages(self, loop: ForOp, plans: StagePlans) -> StageBudget:
        """How many stages of a loop's tiles fit into shared memory, up to the number wanted."""
        is_copied = any(plan.engine is CopyEngine.CP_ASYNC for plan in plans.values())
        wanted = MAX_STAGES if is_copied else HELD_STAGES
        needed, limit = stage_bytes(plans), self._limit()
        budget = self._budget(wanted, needed, limit - self._other_bytes(loop, plans))
        has_dots = any(isinstance(op, DotOp) for op in loop.body.block)
        if budget.fitting >= LEAST_STAGES or not has_dots:
            return budget
        shared = "tiles that are never live together share the rest of the memory"
        self._reasons.memory[loop] = shared
        replaced = replaced_conversions(plans.values())
        taken = self._memory.planned_beside(loop, replaced, nested_bytes(loop))
        budget = self._budget(wanted, needed, limit - taken)
        return budget._replace(wanted=min(budget.wanted, LEAST_STAGES), enough=CROWDED)

    def _staggered(self, loop: ForOp, plans: StagePlans) -> ThreadPipeline | None:
        """The pipelines of a loop some of whose tiles are used after the others: one for each kind.

        The early ones have two stages where memory allows: an iteration before theirs has no time
        to copy them, since it copies its own late ones.
        """
        if is_private(plans.values()) or not (late := late_loads(loop, plans)):
            return None
        early = [load for load in plans if load not in late]
        free = self._limit() - self._other_bytes(loop, plans) - stage_bytes(late)
        # Only the barrier of a wait for late tiles shows that all threads have used the early ones.
        is_alone = is_private(late.values())
        most = 1 if is_alone else self._function.asks(STAGES) or LEAST_STAGES
        stages = min(most, max(free, 0) // stage_bytes(early))
        if not stages:
            return None
        dots = dots_in_flight(loop, plans)
        return ThreadPipeline(plans, ScheduleAttr(stages, stages), dots, list(late))

    def _limit(self) -> int:
        """The shared memory of a block."""
        arch = target_of(self._function)
        assert arch is not None
        is_shared = shares_sm(self._function)
        return block_limit(self._function, self._threads) if is_shared else arch.static_shared

    def _other_bytes(self, loop: ForOp, plans: StagePlans) -> int:
        """The shared memory in use beside the pipeline of a loop's loads."""
        replaced = replaced_conversions(plans.values())
        return self._memory.beside_pipeline(loop, replaced, nested_bytes(loop))
