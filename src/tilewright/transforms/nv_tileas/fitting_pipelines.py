"""The pipeline of a loop that threads copy to: its loads, the most stages that fit, and why.

Whether fewer stages, or a producer, are chosen instead is decided by `choose_pipelining`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileaa.requests import OCCUPANCY
from tilewright.dialects.nv_tileas.attribute_names import SCHEDULE
from tilewright.dialects.nv_tileas.attributes import CopyEngine, ScheduleAttr, in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp, async_instruction
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp, Rearrangement
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.plans.mma import is_promoted
from tilewright.schedule import limits
from tilewright.schedule.resources import memory_share, shares_sm
from tilewright.schedule.shared_memory import BARRIER_RESERVE, stage_bytes
from tilewright.schedule.tile_words import tile_words
from tilewright.schedule.warp_counts import threads_of
from tilewright.transforms.nv_tileaa.prefetchable_loads import find_prefetchable_loads
from tilewright.transforms.nv_tileas.consecutive_loops import scheduled_loads
from tilewright.transforms.nv_tileas.pipelined_loads import (
    StagePlan,
    TileLoad,
    feeds_tensor_cores,
    is_private,
    joins_operands,
    pipelined_loads,
    plan_stage,
    plan_stages,
    replaced_conversions,
)
from tilewright.transforms.nv_tileas.predicted_plans import ThreadPipeline
from tilewright.transforms.nv_tileas.staggered_loads import late_loads

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.values import BlockArgument, Value
    from tilewright.schedule.shared_memory import SharedMemory
    from tilewright.transforms.nv_tileas.pipelined_loads import StagePlans

STAGES: Final = "stages"
ENOUGH: Final = "more would hide no more latency"
FORCED: Final = "the schedule is forced"


class StageBudget(NamedTuple):
    """The shared memory of a pipeline while its stages are chosen."""

    wanted: int
    """Stages, if there is memory for them."""
    stage: int
    """Bytes of a stage."""
    free: int
    """Bytes that are left for all of them."""
    limit: str
    """What limits the bytes that are left."""
    enough: str
    """Why no more stages are wanted."""

    @property
    def fitting(self) -> int:
        """How many of the wanted stages fit."""
        return min(self.wanted, max(self.free, 0) // self.stage)

    @property
    def bound(self) -> str:
        """What bounds the number of stages."""
        if self.fitting == self.wanted:
            return self.enough
        return f"a stage takes {self.stage} bytes, and {self.limit} leaves {max(self.free, 0)}"


def memory_limit(function: FuncOp) -> str:
    """What limits the shared memory of a block."""
    if not shares_sm(function):
        return "shared memory"
    is_asked = function.asks(OCCUPANCY) is not None
    return "the hint occupancy" if is_asked else "its share of shared memory"


def bytes_beside(
    memory: SharedMemory, loop: ForOp, plans: StagePlans, *, is_planned: bool = False
) -> int:
    """The shared memory in use beside the pipeline of a loop's loads; see `beside_pipeline`.

    Scheduled loops inside of the loop have pipelines of their own.
    """
    nested = 0
    for op in loop.body.walk():
        schedule = op.attributes.get(SCHEDULE)
        if isinstance(op, ForOp) and isinstance(schedule, ScheduleAttr):
            nested += schedule.stages * stage_bytes(scheduled_loads(op))
    replaced = replaced_conversions(plans.values())
    return nested + memory.beside_pipeline(loop, replaced, is_planned=is_planned)


class FittingPipelines:
    """Finds the pipelines of the loops of a kernel, one after the other, with reasons."""

    __slots__ = ("_function", "_memory", "_threads", "bounds", "refusals", "shares")

    def __init__(self, function: FuncOp, memory: SharedMemory) -> None:
        self._function, self._memory = function, memory
        self._threads = threads_of(function)
        self.bounds: dict[ForOp, str] = {}
        """What bounds the stages of each loop."""
        self.shares: dict[ForOp, str] = {}
        """Why a loop has another share of memory than one block of an SM by itself."""
        self.refusals: dict[ForOp, str] = {}
        """Why a loop that loads tiles has no pipeline."""

    def plans(self, loop: ForOp) -> dict[TileLoad, StagePlan]:
        """The loads of a loop that its pipeline copies, with their stages."""
        plans = {load: plan_stage(load) for load in pipelined_loads(loop)}
        worthwhile = {load: plan for load, plan in plans.items() if self._is_worthwhile(load, plan)}
        if is_private(worthwhile.values()):
            # Only the barrier of the block after the wait orders a load before a write of another
            # thread.
            unordered = [load for load in worthwhile if not load.result_token.is_used]
            return {load: worthwhile[load] for load in unordered}
        if any(plan.engine is CopyEngine.CP_ASYNC for plan in worthwhile.values()):
            loads = find_prefetchable_loads(loop)
            addresses = {op for each in loads for op in each.address_ops}
            joining = {load for load in plans if joins_operands(load, plans[load])} - addresses
            copied = [load for load in plans if load in worthwhile or load in joining]
            worthwhile = dict(zip(copied, plan_stages(copied), strict=True))
        return self._without_excess(worthwhile)

    def pipeline(self, loop: ForOp, plans: StagePlans) -> ThreadPipeline | None:
        """The pipeline of a loop for some loads; None if not enough stages fit."""
        arch = target_of(self._function)
        if arch is None:
            return None
        if is_private(plans.values()):
            return self._private(loop, plans, arch.static_shared)
        return self._widest(loop, plans) or self._staggered(loop, plans)

    def _is_worthwhile(self, load: TileLoad, plan: StagePlan) -> bool:
        """Whether a tile feeds a dot from its stage, or is copied asynchronously and worth it.

        It is if it is large, or if tensor cores multiply what is computed from it: `prefetch-loads`
        leaves that to pipelines.
        """
        if plan.uses:
            return True
        tile = load.results[0]
        is_large = tile_words(tile.type) >= limits.LARGE_TILE * self._threads
        return plan.engine is CopyEngine.CP_ASYNC and (is_large or feeds_tensor_cores(tile))

    def _without_excess(self, plans: StagePlans) -> dict[TileLoad, StagePlan]:
        """The loads without those that would take too many registers on their way to a stage."""
        left = limits.EARLY_SHARE * self._threads
        kept: dict[TileLoad, StagePlan] = {}
        for load, plan in plans.items():
            if plan.engine is CopyEngine.REGISTERS:
                words = tile_words(load.results[0].type)
                if words > left:
                    continue
                left -= words
            kept[load] = plan
        return kept

    def _private(self, loop: ForOp, plans: StagePlans, declared: int) -> ThreadPipeline | None:
        """The pipeline of a loop whose threads read only what they copied themselves."""
        has_dots = any(isinstance(op, DotOp) for op in loop.body.walk())
        most = limits.DOTS if has_dots else limits.PLAIN
        share = min(declared, most.block) - BARRIER_RESERVE
        budget = self._budget(limits.PRIVATE_STAGES, loop, plans, share)
        self.bounds[loop] = budget.bound
        if budget.stage > most.iteration:
            self.refusals[loop] = (
                f"an iteration loads {budget.stage} bytes: above {most.iteration}, early copies "
                "do not pay"
            )
        elif not budget.fitting:
            self.refusals[loop] = budget.bound
        else:
            return ThreadPipeline(plans, ScheduleAttr(budget.fitting, budget.fitting))
        return None

    def _widest(self, loop: ForOp, plans: StagePlans) -> ThreadPipeline | None:
        """The pipeline with the most stages that fit, up to the number wanted."""
        share = memory_share(self._function)
        is_copied = any(plan.engine is CopyEngine.CP_ASYNC for plan in plans.values())
        wanted = limits.MAX_STAGES if is_copied else limits.HELD_STAGES
        budget = self._budget(wanted, loop, plans, share)
        has_dots = any(isinstance(op, DotOp) for op in loop.body.block)
        if budget.fitting < limits.LEAST_STAGES and has_dots:
            self.shares[loop] = "tiles that are never live together share the rest of the memory"
            budget = self._budget(wanted, loop, plans, share, is_planned=True)
            crowded = "where other tiles share the rest of the memory, two are wanted"
            budget = budget._replace(wanted=min(budget.wanted, limits.LEAST_STAGES), enough=crowded)
        stages, self.bounds[loop] = budget.fitting, budget.bound
        if stages < limits.LEAST_STAGES:
            self.refusals[loop] = budget.bound
            return None
        return ThreadPipeline(plans, ScheduleAttr(stages, stages - 1), dots_in_flight(loop, plans))

    def _budget(
        self, wanted: int, loop: ForOp, plans: StagePlans, share: int, *, is_planned: bool = False
    ) -> StageBudget:
        """What a share leaves for the stages of a pipeline, whose number may be forced."""
        stages, limit = self._function.asks(STAGES), memory_limit(self._function)
        enough = ENOUGH if stages is None else FORCED
        free = share - bytes_beside(self._memory, loop, plans, is_planned=is_planned)
        return StageBudget(stages or wanted, stage_bytes(plans), free, limit, enough)

    def _staggered(self, loop: ForOp, plans: StagePlans) -> ThreadPipeline | None:
        """The pipelines of a loop some of whose tiles are used after the others: one for each kind.

        The early ones have two stages where memory allows: an iteration before theirs has no time
        to copy them, since it copies its own late ones.
        """
        late = late_loads(loop, plans)
        if not late:
            return None
        early = [load for load in plans if load not in late]
        share = memory_share(self._function)
        free = share - bytes_beside(self._memory, loop, plans) - stage_bytes(late)
        # Only the barrier of a wait for late tiles shows that all threads have used the early ones.
        is_alone = is_private(late.values())
        most = 1 if is_alone else self._function.asks(STAGES) or limits.LEAST_STAGES
        stages = min(most, max(free, 0) // stage_bytes(early))
        if not stages:
            return None
        dots = dots_in_flight(loop, plans)
        return ThreadPipeline(plans, ScheduleAttr(stages, stages), dots, list(late))


def dots_in_flight(loop: ForOp, plans: StagePlans) -> list[DotOp]:
    """The dots of a loop, if all of them may be in flight while the next iteration starts."""
    dots = [op for op in loop.body.walk() if isinstance(op, DotOp) and op.atom.asynchronous]
    chained = {dot for argument in loop.carried for dot in _accumulating_dots(loop, argument)}
    if not all(dot in chained and _may_overlap(dot, loop, plans) for dot in dots):
        return []
    return dots


def _accumulating_dots(loop: ForOp, carried: BlockArgument) -> list[DotOp]:
    """The dots that accumulate, one after the other, in a carried tile that nothing else reads."""
    dots: list[DotOp] = []
    value: Value = carried
    while True:
        users = list(value.users)
        if len(users) != 1 or users[0].parent is not loop.body.block:
            return []
        (user,) = users
        if isinstance(user, YieldOp):
            return dots if user.operands[carried.index - 1] is value else []
        if not isinstance(user, DotOp) or user.c is not value:
            return []
        dots.append(user)
        value = user.result


def _may_overlap(dot: DotOp, loop: ForOp, plans: StagePlans) -> bool:
    """Whether the accumulators of a dot are not promoted, and stages hold A and B."""
    instruction = async_instruction(dot)
    if instruction is None or is_promoted(dot, instruction):
        return False
    return all(_is_staged(operand, loop, plans) for operand in (dot.a, dot.b))


def _is_staged(operand: Value, loop: ForOp, plans: StagePlans) -> bool:
    """Whether an operand is in a stage of the pipeline, or in memory that the loop only reads."""
    if not operand.is_inside(loop):
        return in_shared_memory(operand)
    op = operand.defining_op()
    while isinstance(op, ConvertLayoutOp | Rearrangement):
        op = op.source.defining_op()
    if not isinstance(op, TileLoad) or op not in plans:
        return False
    return any(use.convert.result is operand for use in plans[op].uses)
