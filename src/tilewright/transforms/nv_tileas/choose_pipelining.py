"""The choice among the candidates of a kernel: one for all of its pipelined loops.

Candidates are bounded by what fits, and by what is asked for; the cost model scores the plan of
each. Without rates of the GPU the first candidate is chosen: a producer if it is preferred, else
two blocks on an SM where that is one, else the most stages that fit. `schedule.candidates` has the
order, `schedule.choose` the comparison.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileas.attributes import ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.schedule.candidates import Candidate, Choices, candidates_of
from tilewright.schedule.choose import Choice, Scored, choose, clocks_of_block
from tilewright.schedule.cost import Machine
from tilewright.schedule.cost_inputs import is_innermost
from tilewright.schedule.limits import BYTES_IN_FLIGHT, LEAST_STAGES, OVERLAPPED_STAGES
from tilewright.schedule.registers import SHARING_BLOCKS, SHARING_THREADS, resident_blocks
from tilewright.schedule.resources import block_limit, shares_sm
from tilewright.schedule.shared_memory import stage_bytes
from tilewright.schedule.warp_counts import threads_of
from tilewright.schedule.work_tree import tree_of
from tilewright.transforms.nv_tileas.consecutive_loops import nested_bytes
from tilewright.transforms.nv_tileas.coresident_blocks import leaves_registers
from tilewright.transforms.nv_tileas.pipelined_loads import replaced_conversions
from tilewright.transforms.nv_tileas.predicted_plans import PredictedPlans

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.scf import ForOp
    from tilewright.schedule.cost_inputs import Plan
    from tilewright.schedule.shared_memory import SharedMemory
    from tilewright.transforms.nv_tileas.predicted_plans import ThreadPipeline
    from tilewright.transforms.nv_tileas.warp_specialization import Specialization


class PipeliningChoice:
    """Chooses how the pipelined loops of a kernel run."""

    def __init__(
        self,
        function: FuncOp,
        memory: SharedMemory,
        pipelines: Mapping[ForOp, ThreadPipeline],
        specialization: Specialization | None,
    ) -> None:
        self._function, self._memory, self._pipelines = function, memory, pipelines
        self._specialization = specialization
        self._varying = {loop: each for loop, each in pipelines.items() if each.varies}
        self._plans: dict[Candidate, Plan] = {}

    def choose(self) -> Choice:
        """Score the candidates, if there are several and the GPU has rates, and choose one."""
        candidates = candidates_of(self.choices())
        arch = target_of(self._function)
        if len(candidates) == 1 or arch is None or arch.rates is None:
            return Choice(Scored(candidates[0], 0.0))
        machine, root = Machine(arch.rates), tree_of(self._function).root
        return choose(
            [Scored(each, clocks_of_block(root, self._plan(each), machine)) for each in candidates]
        )

    def choices(self) -> Choices:
        """What the kernel may choose from."""
        special = self._specialization
        agents = self._function.asks("agents")
        if special is not None and special.problem is None and agents is not None:
            return Choices(by_tma=[special.stages])
        by_threads = Choices(
            self._thread_stages(), self._coresident_stages(), waits_for_dots=self._waits_for_dots()
        )
        if special is None or special.problem is not None or special.drawback is not None:
            return by_threads
        return by_threads._replace(
            by_tma=[special.stages],
            prefers_tma=special.is_preferred and not special.has_own_maps,
        )

    def schedules(self, candidate: Candidate) -> dict[ForOp, ScheduleAttr]:
        """The schedules of all loops under a candidate in which threads copy.

        Dots stay in flight while the next iteration starts if the block is alone on its SM. Beside
        others, which multiply while one waits for its dots, an iteration that is copied earlier
        pays more; so it does in iterations of several dots in a row, which are long.
        """
        schedules = {
            loop: self._schedule(each, candidate) for loop, each in self._pipelines.items()
        }
        asked = self._function.asks("in_flight")
        lagging = {
            loop: ScheduleAttr(each.stages, each.stages - 2, 1)
            for loop, each in schedules.items()
            if self._may_lag(self._pipelines[loop], each.stages, is_asked=bool(asked))
        }
        is_alone = not lagging or asked is not None or self._resident(schedules, candidate) == 1
        return {**schedules, **lagging} if is_alone and asked != 0 else schedules

    def _resident(self, schedules: Mapping[ForOp, ScheduleAttr], candidate: Candidate) -> int:
        """The blocks on an SM under some schedules."""
        return self._predicted_plans.by_threads(schedules, candidate.blocks).resident

    @property
    def predicted(self) -> int:
        """How many plans were predicted."""
        return len(self._plans)

    def _plan(self, candidate: Candidate) -> Plan:
        """The plan that a candidate is predicted to become."""
        if candidate not in self._plans:
            self._plans[candidate] = self._predicted(candidate)
        return self._plans[candidate]

    @cached_property
    def _predicted_plans(self) -> PredictedPlans:
        return PredictedPlans(self._function, self._memory, self._pipelines)

    def _predicted(self, candidate: Candidate) -> Plan:
        if candidate.by_tma and self._specialization is not None:
            return self._predicted_plans.by_tma(self._specialization)
        return self._predicted_plans.by_threads(self.schedules(candidate), candidate.blocks)

    def _schedule(self, pipeline: ThreadPipeline, candidate: Candidate) -> ScheduleAttr:
        """The stages of a loop under a candidate, of which all but one are copied early."""
        if not pipeline.varies:
            return pipeline.schedule
        stages = min(pipeline.schedule.stages, candidate.stages)
        return ScheduleAttr(stages, stages - 1)

    def _may_lag(self, pipeline: ThreadPipeline, stages: int, *, is_asked: bool) -> bool:
        """Whether dots of a loop may be in flight while the next iteration starts."""
        fewest = OVERLAPPED_STAGES + (pipeline.is_chain and not is_asked)
        return pipeline.varies and bool(pipeline.dots) and stages >= fewest

    def _thread_stages(self) -> list[int]:
        """The numbers of stages if threads copy: fewer than fit leave memory to other blocks.

        CTAs of a cluster are for grids that are small otherwise: there is no second block.
        """
        if not self._varying:
            return [0]
        most = max(each.schedule.stages for each in self._varying.values())
        is_given = self._function.asks("stages") is not None or self._function.cluster_size > 1
        # The model does not see what the pipeline of a loop around others hides.
        if is_given or not all(map(is_innermost, self._varying)):
            return [most]
        return [most, *self._fewer_stages(most)]

    def _fewer_stages(self, most: int) -> list[int]:
        """The numbers of stages with which more blocks fit on an SM.

        Together, these still have as many bytes in flight as memory asks for. With two stages, an
        iteration waits for what it copied while it computed the one before: that pays only if it
        waits for several dots as well, which other blocks hide.
        """
        bytes = min(stage_bytes(each.plans) for each in self._varying.values())
        plan = self._plan(Candidate(most))
        least = LEAST_STAGES if plan.loop.waits > 1 else OVERLAPPED_STAGES
        counts: list[int] = []
        blocks = plan.resident
        for stages in range(most - 1, least - 1, -1):
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

    def _coresident_stages(self) -> list[int]:
        """The numbers of stages with which two blocks share an SM, if registers are limited so."""
        function, arch = self._function, target_of(self._function)
        if not self._varying or arch is None or shares_sm(function):
            return []
        share = block_limit(function, threads_of(function))
        is_limited = share == arch.static_shared or function.asks("stages") is not None
        if is_limited or not all(map(self._may_share, self._varying)):
            return []
        most = min(self._coresident_fitting(loop, share) for loop in self._varying)
        # If all stages fit, ptxas decides whether a second block has registers.
        widest = max(each.schedule.stages for each in self._varying.values())
        return [most] if OVERLAPPED_STAGES <= most < widest else []

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

    def _coresident_fitting(self, loop: ForOp, share: int) -> int:
        """The stages of a loop that fit into the share of a block."""
        pipeline = self._varying[loop]
        replaced = replaced_conversions(pipeline.plans.values())
        taken = self._memory.beside_pipeline(loop, replaced, nested_bytes(loop))
        fitting = max(share - taken, 0) // stage_bytes(pipeline.plans)
        return min(fitting, pipeline.schedule.stages)
