"""The software pipelines of a kernel: stages, copy engines, and dots in flight.

Also chosen here: threads that copy or a producer, whether two blocks share an SM, stores by TMA,
multicast in a cluster, and tiles that L2 evicts first. `fitting_pipelines` finds the most stages of
each loop, `warp_specialization` what a producer can copy; `choose_pipelining` chooses among the
candidates. The decision is written into the program, as attributes of the function, loops, loads,
stores and dots; `specialize-warps` builds the pipelines of a producer, `materialize-schedule` all
others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp
from tilewright.dialects.nv_tileas.attribute_names import (
    ENGINE,
    EVICT_FIRST,
    IN_FLIGHT,
    LATE,
    SCHEDULE,
)
from tilewright.dialects.nv_tileas.attributes import ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import UnitAttr
from tilewright.ir.passes import statistic
from tilewright.schedule.shared_memory import SharedMemory
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileas.choose_pipelining import PipeliningChoice
from tilewright.transforms.nv_tileas.consecutive_loops import share_pipeline
from tilewright.transforms.nv_tileas.early_loads import load_early
from tilewright.transforms.nv_tileas.fitting_pipelines import STAGES, FittingPipelines
from tilewright.transforms.nv_tileas.overlap_dots import overlap_dots
from tilewright.transforms.nv_tileas.predicted_plans import ThreadPipeline
from tilewright.transforms.nv_tileas.schedule_remarks import ScheduleReport
from tilewright.transforms.nv_tileas.streamed_tiles import streamed_tiles
from tilewright.transforms.nv_tileas.warp_specialization import Specialization

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.schedule.candidates import Choice
    from tilewright.support.diagnostics import Sink
    from tilewright.transforms.nv_tileas.pipelined_loads import StagePlans

AGENTS: Final = "agents"
CORESIDENT: Final = "while threads of one block wait, those of a second one multiply"


class ScheduleLoops(KernelPass):
    """Choose the software pipeline of every loop: loads, stages, copy engines, and dots in flight.

    A producer may copy for all loops of a kernel, by TMA, and two blocks may share an SM. Applies
    only to loads that no token orders after another access.
    """

    name = "schedule-loops"
    change = Change.REORDER
    plans = statistic("plans of candidates that were predicted")

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        for loop in [op for op in function.walk() if isinstance(op, ForOp)]:
            overlap_dots(loop.body.block)
        if function.is_kernel:
            self._schedule(function, sink)

    def _schedule(self, function: FuncOp, sink: Sink) -> None:
        spec = function.kernel_spec
        if spec is None or spec.num_warps is None:
            return
        if any(isinstance(op, AgentSwitchOp) for op in function.walk()):
            return
        memory = SharedMemory(function)
        fitting = FittingPipelines(function, memory)
        rest: dict[ForOp, StagePlans] = {}
        pipelines: dict[ForOp, ThreadPipeline] = {}
        for loop in [op for op in function.walk_post_order() if isinstance(op, ForOp)]:
            plans = fitting.plans(loop)
            pipeline = fitting.pipeline(loop, plans) if plans else None
            if pipeline is not None:
                _record(loop, pipeline)
                pipelines[loop] = pipeline
            elif plans:
                rest[loop] = plans
        specialization = _specialization(function, memory, rest)
        pipelining = PipeliningChoice(function, memory, pipelines, specialization)
        choice = pipelining.choose()
        self.plans.add(sink, pipelining.predicted)
        if specialization is not None and choice.chosen.candidate.by_tma:
            specialization.record()
            fitting.bounds.update(specialization.bounds())
            if function.asks("multicast") != 0:
                specialization.record_multicast()
        else:
            _record_choice(function, pipelining, choice, fitting)
        streamed = streamed_tiles(function) if function.asks("evict_first") != 0 else {}
        for load, problem in streamed.items():
            if problem is None:
                load.attributes[EVICT_FIRST] = UnitAttr()
        report = ScheduleReport(function, sink, fitting, specialization, choice, streamed)
        report.record_refusals()
        report.remark()
        load_early(function)


def _record_choice(
    function: FuncOp, pipelining: PipeliningChoice, choice: Choice, fitting: FittingPipelines
) -> None:
    """Write a candidate in which threads copy into the program."""
    candidate = choice.chosen.candidate
    for loop, schedule in pipelining.schedules(candidate).items():
        if schedule.stages < pipelining.pipelines[loop].schedule.stages:
            fitting.bounds[loop] = choice.reason
        loop.attributes[SCHEDULE] = schedule
        if candidate.blocks > 1:
            fitting.shares[loop] = CORESIDENT
    for loop in [op for op in function.walk() if isinstance(op, ForOp)]:
        fitting.bounds.update(share_pipeline(loop))
    if candidate.blocks > 1:
        function.choose_blocks(candidate.blocks)


def _record(loop: ForOp, pipeline: ThreadPipeline) -> None:
    loop.attributes[SCHEDULE] = pipeline.schedule
    for load, plan in pipeline.plans.items():
        load.attributes[ENGINE] = plan.engine
    for load in pipeline.late:
        load.attributes[LATE] = UnitAttr()
    for dot in pipeline.dots:
        dot.attributes[IN_FLIGHT] = UnitAttr()


def _specialization(
    function: FuncOp, memory: SharedMemory, rest: Mapping[ForOp, StagePlans]
) -> Specialization | None:
    """The warp specialization of scheduled loops, unless it is forbidden.

    A producer may also copy for those of the `rest` in which dots overlap with other work: a ring
    that loads share needs less memory than a pipeline with a stage for each.
    """
    agents, tma_stores = function.asks(AGENTS), function.asks("tma_stores")
    if agents == 0:
        return None
    tentative = {loop: plans for loop, plans in rest.items() if _has_dots_in_flight(loop)}
    for loop, plans in tentative.items():
        _record(loop, ThreadPipeline(plans, ScheduleAttr(1, 1)))
    by_tma, stages = None if tma_stores is None else bool(tma_stores), function.asks(STAGES) or 0
    specialization = Specialization(function, memory, stages, tma_stores=by_tma)
    for loop, plans in tentative.items():
        del loop.attributes[SCHEDULE]
        for load in plans:
            del load.attributes[ENGINE]
    if agents is not None and specialization.problem is not None:
        function.refuse(AGENTS, specialization.problem)
    return specialization


def _has_dots_in_flight(loop: ForOp) -> bool:
    """Whether other work of an iteration runs beside a dot."""
    return any(isinstance(op, DotOp) and op.asynchronous for op in loop.body.block)
