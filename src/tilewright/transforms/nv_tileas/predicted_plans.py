"""The plan of a kernel under each candidate, predicted before a pipeline is built.

Shared memory is that of all pipelines beside what other operations take while their loops run;
registers are an estimate, which decides how many blocks share an SM where no hint does.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileas.attributes import ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.scf import ForOp
from tilewright.schedule.cost_inputs import (
    LoopPlan,
    innermost_loops,
    straight_loop,
    straight_plan,
)
from tilewright.schedule.liveness_with_layouts import live_registers
from tilewright.schedule.registers import (
    consumer_registers,
    launch_registers,
    unlimited_registers,
)
from tilewright.schedule.shared_memory import stage_bytes
from tilewright.target.arch import REGISTER_BYTES, WARP_SIZE, occupancy
from tilewright.target.tensor_cores import WARPGROUP
from tilewright.transforms.nv_tileas.early_loads import loads_beside_operands
from tilewright.transforms.nv_tileas.pipelined_loads import is_private, replaced_conversions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.schedule.cost_inputs import Plan
    from tilewright.schedule.shared_memory import SharedMemory
    from tilewright.transforms.nv_tileas.pipelined_loads import StagePlans, TileLoad
    from tilewright.transforms.nv_tileas.warp_specialization import Specialization


class ThreadPipeline(NamedTuple):
    """A pipeline of a loop that threads copy to, with the most stages that fit."""

    plans: StagePlans
    """The stage of each load."""
    schedule: ScheduleAttr
    dots: Sequence[DotOp] = ()
    """Those that accumulate in place, and may be in flight while the next iteration starts."""
    late: Sequence[TileLoad] = ()
    """Tiles with stages of their own, since they are used after the others."""

    @property
    def is_private(self) -> bool:
        """Whether threads read only what they copied themselves."""
        return is_private(self.plans.values())

    @property
    def varies(self) -> bool:
        """Whether the number of stages is a choice."""
        return not self.late and not self.is_private

    @property
    def is_chain(self) -> bool:
        """Whether a dot accumulates onto another one of the same iteration."""
        return any(isinstance(dot.c.defining_op(), DotOp) for dot in self.dots)


class PredictedPlans:
    """The plans of a kernel."""

    def __init__(
        self, function: FuncOp, memory: SharedMemory, pipelines: Mapping[ForOp, ThreadPipeline]
    ) -> None:
        arch, spec = target_of(function), function.kernel_spec
        assert arch is not None
        self._arch, self._pipelines = arch, pipelines
        self._plan = straight_plan(function)
        self._blocks = None if spec is None else spec.occupancy
        plans = {load: plan for each in pipelines.values() for load, plan in each.plans.items()}
        copied: set[Operation] = {*plans}
        replaced = replaced_conversions(plans.values())
        self._straight = {
            loop: straight_loop(loop, copied, replaced) for loop in innermost_loops(function)
        }
        self._stage = {loop: stage_bytes(each.plans) for loop, each in pipelines.items()}
        self._beside = {loop: memory.planned(replaced, loop) for loop in pipelines}
        self._rest = memory.planned(replaced)
        staged: set[Value] = {result for op in (*copied, *replaced) for result in op.results}
        loops = [op for op in function.walk() if isinstance(op, ForOp)]
        live = [live_registers(loop, staged) for loop in loops]
        self.live = max([each.most for each in live], default=0)
        """Registers of a thread for the tiles that are live together in a loop, at most."""
        self._at_dots = max([each.at_dots for each in live], default=0)

    def by_threads(self, schedules: Mapping[ForOp, ScheduleAttr], blocks: int) -> Plan:
        """The plan if threads copy; a hint may limit registers to those of some blocks."""
        limit = launch_registers(self._plan.warps * WARP_SIZE, self._blocks or blocks)
        registers = min(unlimited_registers(self.live), limit)
        plan = self._plan._replace(loop=LoopPlan.largest(self._thread_loops(schedules).values()))
        return self._resident(plan, 0, registers, self._pipeline_bytes(schedules), limit)

    def by_tma(self, specialization: Specialization) -> Plan:
        """The plan if a producer copies by TMA."""
        groups, replaced = specialization.groups, specialization.replaced
        copied: set[Operation] = {load for group in groups for load in group.loads}
        loops: list[LoopPlan] = []
        for loop in self._straight:
            plan = straight_loop(loop, copied, replaced)
            if isinstance(loop, ForOp):
                early = len(loads_beside_operands(loop, copied, self._plan.warps * WARP_SIZE))
                plan = plan._replace(
                    exposed=plan.exposed - early, prefetched=plan.prefetched + early
                )
            reads = Counter(group.stage for group in groups if group.block.parent_op is loop)
            if reads:
                plan = plan._replace(stages=specialization.stages / max(reads.values()))
            loops.append(plan)
        plan = self._plan._replace(
            has_agents=True,
            uses_tma=True,
            encodes_maps=True,
            has_own_maps=specialization.has_own_maps,
            loop=LoopPlan.largest(loops),
        )
        warps = self._plan.warps
        registers = launch_registers((warps + WARPGROUP) * WARP_SIZE, self._blocks)
        limit = consumer_registers(warps, self._blocks).changed
        return self._resident(plan, WARPGROUP, registers, specialization.shared_bytes, limit)

    def _resident(self, plan: Plan, copying: int, registers: int, bytes: int, limit: int) -> Plan:
        """A plan with warps that only copy, some registers and bytes, and blocks on an SM.

        What threads need above the `limit` of their registers at the dots of a loop, they spill.
        """
        threads = (plan.warps + copying) * WARP_SIZE
        resident = occupancy(self._arch, threads=threads, registers=registers, shared=bytes)
        spilled = max(0, self._at_dots - limit) * REGISTER_BYTES
        return plan._replace(threads=threads, resident=max(1, resident), spilled=spilled)

    def _thread_loops(self, schedules: Mapping[ForOp, ScheduleAttr]) -> dict[Operation, LoopPlan]:
        """How the innermost loops run if threads copy."""
        plans = dict(self._straight)
        for loop, pipeline in self._pipelines.items():
            if loop in plans:
                plans[loop] = _copied_by_threads(plans[loop], schedules[loop], pipeline)
        return plans

    def _pipeline_bytes(self, schedules: Mapping[ForOp, ScheduleAttr]) -> int:
        """The shared memory of a block: pipelines of nested loops lie beside each other."""
        own = {loop: each.stages * self._stage[loop] for loop, each in schedules.items()}
        needs = [self._rest]
        for loop in own:
            nested = sum(bytes for other, bytes in own.items() if loop in other.ancestors())
            needs.append(self._beside[loop] + own[loop] + nested)
        return max(needs)


def _copied_by_threads(
    loop: LoopPlan, schedule: ScheduleAttr, pipeline: ThreadPipeline
) -> LoopPlan:
    """A loop with a pipeline that threads copy to: with its stages, and one barrier.

    Dots that accumulate in place are waited for right before the next ones: in the same iteration,
    the last one is. Tiles that are used after others have a stage and a barrier of their own.
    """
    dots, is_staggered = len(pipeline.dots), bool(pipeline.late)
    return loop._replace(
        stages=1 if is_staggered else schedule.stages,
        barriers=loop.barriers + (0 if pipeline.is_private else 1 + is_staggered),
        waits=loop.waits - dots,
        in_flight=loop.in_flight + (dots if schedule.lag else max(dots - 1, 0)),
    )
