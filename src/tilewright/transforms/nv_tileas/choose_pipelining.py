"""The choice among the candidates of a kernel: one for all of its pipelined loops.

Candidates are bounded by what fits, and by what is asked for; the cost model scores the plan of
each. Without rates of the GPU the first candidate is chosen: a producer if it is preferred, else
two blocks on an SM where that is one, else the most stages that fit. `schedule.candidates` has the
order and the comparison.

Of two blocks on an SM, one multiplies while the other waits for copies or its dots. A block with
two warpgroups then has half of the registers of an SM: enough for accumulators and what a loop over
K computes besides, but not for another tile of their size. So the dots of the loop have one
accumulator, and nothing around it may keep a tile.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileas.aggregate import ReduceOp, ScanOp
from tilewright.dialects.nv_tileas.attributes import ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotOp, async_instruction
from tilewright.dialects.nv_tileas.memory import AtomicRmwOp, LoadOp, TiledLoadOp
from tilewright.dialects.scf import ForOp, WhileOp
from tilewright.plans.mma import is_promoted
from tilewright.schedule.candidates import Candidate, Choice, Scored, candidates_of, choose
from tilewright.schedule.cost import Machine, kernel_clocks
from tilewright.schedule.cost_inputs import is_innermost
from tilewright.schedule.limits import BYTES_IN_FLIGHT, LEAST_STAGES, OVERLAPPED_STAGES
from tilewright.schedule.registers import (
    SHARING_BLOCKS,
    SHARING_THREADS,
    is_small_beside,
    resident_blocks,
)
from tilewright.schedule.resources import block_limit, shares_sm
from tilewright.schedule.shared_memory import stage_bytes
from tilewright.schedule.tile_words import accumulator_words, tile_words
from tilewright.schedule.warp_counts import threads_of
from tilewright.schedule.work_tree import tree_of
from tilewright.transforms.nv_tileas.fitting_pipelines import bytes_beside
from tilewright.transforms.nv_tileas.predicted_plans import PredictedPlans

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.schedule.cost_inputs import Plan
    from tilewright.schedule.shared_memory import SharedMemory
    from tilewright.transforms.nv_tileas.predicted_plans import ThreadPipeline
    from tilewright.transforms.nv_tileas.warp_specialization import Specialization

KEEPING: Final = (AtomicRmwOp, DotOp, LoadOp, ReduceOp, ScanOp, TiledLoadOp)
"""Operations whose tiles are in registers beside accumulators, whatever computes with them: others
are computed in parts, as they are stored."""


class PipeliningChoice:
    """Chooses how the pipelined loops of a kernel run."""

    def __init__(
        self,
        function: FuncOp,
        memory: SharedMemory,
        pipelines: Mapping[ForOp, ThreadPipeline],
        specialization: Specialization | None,
    ) -> None:
        self._function, self._memory, self.pipelines = function, memory, pipelines
        self._specialization = specialization
        self._varying = {loop: each for loop, each in pipelines.items() if each.varies}
        self._plans: dict[Candidate, Plan] = {}

    def choose(self) -> Choice:
        """Score the candidates, if there are several and the GPU has rates, and choose one."""
        candidates = self._candidates()
        arch = target_of(self._function)
        if len(candidates) == 1 or arch is None or arch.rates is None:
            return Choice(Scored(candidates[0], 0.0))
        machine, root = Machine(arch.rates), tree_of(self._function).root
        scored: list[Scored] = []
        for each in candidates:
            plan = self._plan(each)
            # Waves are assumed to be full, since the grid is unknown.
            clocks, _ = kernel_clocks(root, plan, plan.resident, machine)
            scored.append(Scored(each, clocks / plan.resident))
        return choose(scored)

    def _candidates(self) -> list[Candidate]:
        """What the kernel may choose from."""
        special, is_asked = self._specialization, self._function.asks("agents") is not None
        if special is None or special.problem is not None:
            special = None
        elif is_asked:
            return [Candidate(special.stages, by_tma=True)]
        elif special.drawback is not None:
            special = None
        return candidates_of(
            self._thread_stages(),
            self._coresident_stages(),
            None if special is None else special.stages,
            waits_for_dots=self._waits_for_dots(),
            prefers_tma=special is not None and special.is_preferred and not special.has_own_maps,
        )

    def schedules(self, candidate: Candidate) -> dict[ForOp, ScheduleAttr]:
        """The schedules of all loops under a candidate in which threads copy.

        Dots stay in flight while the next iteration starts if the block is alone on its SM. Beside
        others, which multiply while one waits for its dots, an iteration that is copied earlier
        pays more; so it does in iterations of several dots in a row, which are long.
        """
        schedules = {loop: each.schedule for loop, each in self.pipelines.items()}
        for loop, each in self._varying.items():
            stages = min(each.schedule.stages, candidate.stages)
            schedules[loop] = ScheduleAttr(stages, stages - 1)
        asked = self._function.asks("in_flight")
        lagging: dict[ForOp, ScheduleAttr] = {}
        for loop, each in self._varying.items():
            stages = schedules[loop].stages
            if each.dots and stages >= OVERLAPPED_STAGES + (each.is_chain and not asked):
                lagging[loop] = ScheduleAttr(stages, stages - 2, 1)
        if not lagging or asked == 0:
            return schedules
        predicted = self._predicted_plans
        is_alone = asked or predicted.by_threads(schedules, candidate.blocks).resident == 1
        return {**schedules, **lagging} if is_alone else schedules

    @property
    def predicted(self) -> int:
        """How many plans were predicted."""
        return len(self._plans)

    def _plan(self, candidate: Candidate) -> Plan:
        """The plan that a candidate is predicted to become."""
        if candidate not in self._plans:
            every, special = self._predicted_plans, self._specialization
            self._plans[candidate] = (
                every.by_tma(special)
                if candidate.by_tma and special is not None
                else every.by_threads(self.schedules(candidate), candidate.blocks)
            )
        return self._plans[candidate]

    @cached_property
    def _predicted_plans(self) -> PredictedPlans:
        return PredictedPlans(self._function, self._memory, self.pipelines)

    def _thread_stages(self) -> list[int]:
        """The numbers of stages if threads copy: fewer than fit leave memory to other blocks.

        CTAs of a cluster are for grids that are small otherwise: there is no second block.
        """
        if not self._varying:
            return [0]
        is_given = self._function.asks("stages") is not None or self._function.cluster_size > 1
        # The model does not see what the pipeline of a loop around others hides.
        if is_given or not all(map(is_innermost, self._varying)):
            return [self._most_stages]
        return [self._most_stages, *self._fewer_stages()]

    @property
    def _most_stages(self) -> int:
        """The stages of the loop that has most."""
        return max(each.schedule.stages for each in self._varying.values())

    def _fewer_stages(self) -> list[int]:
        """The numbers of stages with which more blocks fit on an SM.

        Together, these still have as many bytes in flight as memory asks for. With two stages, an
        iteration waits for what it copied while it computed the one before: that pays only if it
        waits for several dots as well, which other blocks hide.
        """
        bytes = min(stage_bytes(each.plans) for each in self._varying.values())
        plan = self._plan(Candidate(self._most_stages))
        least = LEAST_STAGES if plan.loop.waits > 1 else OVERLAPPED_STAGES
        counts: list[int] = []
        blocks = plan.resident
        for stages in range(self._most_stages - 1, least - 1, -1):
            resident = self._plan(Candidate(stages)).resident
            if resident > blocks and resident * (stages - 1) * bytes >= BYTES_IN_FLIGHT:
                counts.append(stages)
                blocks = resident
        return counts

    def _waits_for_dots(self) -> bool:
        """Whether threads wait for dots by wgmma before they compute the next operands."""
        dots = [op for loop in self._varying for op in loop.body.walk() if isinstance(op, DotOp)]
        overlap = any(each.dots for each in self._varying.values())
        return bool(dots) and not overlap and all(dot.atom.asynchronous for dot in dots)

    def _coresident_stages(self) -> int | None:
        """The stages with which two blocks share an SM, if registers are limited so."""
        function, arch = self._function, target_of(self._function)
        if not self._varying or arch is None or shares_sm(function):
            return None
        share = block_limit(function)
        is_limited = share == arch.static_shared or function.asks("stages") is not None
        if is_limited or not all(map(self._may_share, self._varying)):
            return None
        fitting: list[int] = []
        for loop, each in self._varying.items():
            free = max(share - bytes_beside(self._memory, loop, each.plans), 0)
            fitting.append(min(free // stage_bytes(each.plans), each.schedule.stages))
        # If all stages fit, ptxas decides whether a second block has registers.
        is_choice = OVERLAPPED_STAGES <= min(fitting) < self._most_stages
        return min(fitting) if is_choice else None

    def _may_share(self, loop: ForOp) -> bool:
        """Whether a second block has registers, and multiplies while threads of a loop wait.

        They wait for dots, or for operands that they convert: those take registers, too.
        """
        if not leaves_registers(self._function, loop):
            return False
        if dots := self._varying[loop].dots:
            return len(dots) == 1
        is_divided = threads_of(self._function) == SHARING_THREADS
        return is_divided and resident_blocks(self._predicted_plans.live, None) == SHARING_BLOCKS


def leaves_registers(function: FuncOp, loop: ForOp) -> bool:
    """Whether a loop over K, and what is around it, leaves registers for a second block.

    CTAs of a cluster are for grids that are small otherwise: there is no second block.
    """
    if function.cluster_size > 1:
        return False
    if any(isinstance(outer, ForOp | WhileOp) for outer in loop.ancestors()):
        return False
    dots = [op for op in loop.body.walk() if isinstance(op, DotOp)]
    if not dots or dots[0].c not in loop.carried or any(map(_is_promoted, dots)):
        return False
    if any(dot.c is not other.result for other, dot in pairwise(dots)):
        return False
    accumulators = accumulator_words(dots[0].c.type)
    inside = set(loop.body.walk())
    others = [op for op in function.walk() if op not in inside and isinstance(op, KEEPING)]
    return all(is_small_beside(_widest(op), accumulators) for op in others)


def _is_promoted(dot: DotOp) -> bool:
    """Whether a dot has accumulators of its own, beside those that they are added to."""
    instruction = async_instruction(dot)
    return instruction is not None and is_promoted(dot, instruction)


def _widest(op: Operation) -> int:
    """The 32-bit registers of the widest tile that an operation reads or returns."""
    values = [*op.operands, *op.results] if isinstance(op, ReduceOp | ScanOp) else op.results
    return max([tile_words(value.type) for value in values if is_tile(value)], default=0)
