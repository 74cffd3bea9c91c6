"""The plan of a kernel under each candidate, predicted before a pipeline is built.

Shared memory is that of all pipelines beside what other operations take while their loops run;
registers are an estimate, which decides how many blocks share an SM where no hint does.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileas.attributes import ScheduleAttr, in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.scf import ForOp
from tilewright.schedule.cost_inputs import LoopPlan, Plan
from tilewright.schedule.liveness_with_layouts import live_registers
from tilewright.schedule.registers import (
    consumer_registers,
    launch_registers,
    unlimited_registers,
)
from tilewright.schedule.shared_memory import stage_bytes
from tilewright.target.arch import REGISTER_BYTES, WARP_SIZE, occupancy
from tilewright.target.tensor_cores import WARPGROUP
from tilewright.transforms.nv_tileas.pipelined_loads import replaced_conversions
from tilewright.transforms.nv_tileas.predicted_loops import (
    copied_by_threads,
    innermost_loops,
    joined_plan,
    straight_loop,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
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
    is_private: bool = False
    """Whether threads read only what they copied themselves."""

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
        assert spec is not None
        assert spec.num_warps is not None
        self._function, self._pipelines = function, pipelines
        self._arch, self._warps, self._blocks = arch, spec.num_warps, spec.occupancy
        self._innermost = innermost_loops(function)
        self._dots = [op for op in function.walk() if isinstance(op, DotOp)]
        plans = {load: plan for each in pipelines.values() for load, plan in each.plans.items()}
        copied: set[Operation] = {*plans}
        replaced = replaced_conversions(plans.values())
        self._straight = {loop: straight_loop(loop, copied, replaced) for loop in self._innermost}
        self._stage = {loop: stage_bytes(each.plans) for loop, each in pipelines.items()}
        self._beside = {loop: memory.planned(replaced, loop) for loop in pipelines}
        self._rest = memory.planned(replaced)
        staged: set[Value] = {result for op in (*copied, *replaced) for result in op.results}
        loops = [op for op in function.walk() if isinstance(op, ForOp)]
        live = [live_registers(loop, staged) for loop in loops]
        self.live = max([each.most for each in live], default=0)
        """Registers of a thread for the tiles that are live together in a loop, at most."""
        self._registers = unlimited_registers(self.live)
        """Of a thread, where nothing limits them."""
        self._at_dots = max([each.at_dots for each in live], default=0)

    def by_threads(self, schedules: Mapping[ForOp, ScheduleAttr], blocks: int) -> Plan:
        """The plan if threads copy; a hint may limit registers to those of some blocks."""
        threads = self._warps * WARP_SIZE
        limit = launch_registers(threads, self._blocks or blocks)
        return self._plan(
            threads,
            min(self._registers, limit),
            self._pipeline_bytes(schedules),
            [self._thread_loop(loop, schedules) for loop in self._innermost],
            spilled=self._spilled(limit),
        )

    def by_tma(self, specialization: Specialization) -> Plan:
        """The plan if a producer copies by TMA."""
        threads = (self._warps + WARPGROUP) * WARP_SIZE
        groups = specialization.groups
        copied: set[Operation] = {load for group in groups for load in group.loads}
        replaced = specialization.replaced
        loops: list[LoopPlan] = []
        for loop in self._innermost:
            plan = straight_loop(loop, copied, replaced)
            reads = Counter(group.stage for group in groups if group.block.parent_op is loop)
            if reads:
                plan = plan._replace(stages=specialization.stages / max(reads.values()))
            loops.append(plan)
        plan = self._plan(
            threads,
            launch_registers(threads, self._blocks),
            specialization.shared_bytes,
            loops,
            spilled=self._spilled(consumer_registers(self._warps, self._blocks).changed),
        )
        return plan._replace(
            has_agents=True,
            uses_tma=True,
            encodes_maps=True,
            has_own_maps=specialization.has_own_maps,
        )

    def _spilled(self, limit: int) -> int:
        """The bytes that a thread spills at the dots of a loop, if it has some registers."""
        return max(0, self._at_dots - limit) * REGISTER_BYTES

    def _plan(
        self, threads: int, registers: int, bytes: int, loops: Sequence[LoopPlan], spilled: int
    ) -> Plan:
        resident = occupancy(self._arch, threads=threads, registers=registers, shared=bytes)
        return Plan(
            warps=self._warps,
            threads=threads,
            resident=max(1, resident),
            cluster=self._function.cluster_size,
            is_warpgroup_dot=any(dot.atom.asynchronous for dot in self._dots),
            a_in_registers=any(not in_shared_memory(dot.a) for dot in self._dots),
            spilled=spilled,
            loop=joined_plan(loops),
        )

    def _thread_loop(self, loop: Operation, schedules: Mapping[ForOp, ScheduleAttr]) -> LoopPlan:
        plan = self._straight[loop]
        pipeline = self._pipelines.get(loop) if isinstance(loop, ForOp) else None
        if pipeline is None or not isinstance(loop, ForOp):
            return plan
        return copied_by_threads(
            plan,
            schedules[loop],
            len(pipeline.dots),
            is_private=pipeline.is_private,
            is_staggered=bool(pipeline.late),
        )

    def _pipeline_bytes(self, schedules: Mapping[ForOp, ScheduleAttr]) -> int:
        """The shared memory of a block: pipelines of nested loops lie beside each other."""
        own = {loop: each.stages * self._stage[loop] for loop, each in schedules.items()}
        needs = [self._rest]
        for loop in own:
            nested = sum(bytes for other, bytes in own.items() if loop in other.ancestors())
            needs.append(self._beside[loop] + own[loop] + nested)
        return max(needs)
