"""What a plan decided, as numbers: read from a kernel at nv_tileas, to predict its cost."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tilewright.analysis.slices import backward_slice
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.program import GetProgramIdOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TileReadOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp, agent_of
from tilewright.dialects.nv_tileas.attributes import in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerOp,
    ConsumerWaitOp,
    ProducerCopyOp,
)
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.nv_tileas.sync import BarrierOp
from tilewright.dialects.nv_tileas.tensor_map import CreateTensorMapsOp
from tilewright.dialects.nv_tileas.types import pipeline
from tilewright.dialects.scf import ForOp, WhileOp
from tilewright.dialects.scf import YieldOp as LoopYieldOp
from tilewright.ir.values import BlockArgument
from tilewright.plans.scratch import scratch_bytes
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


class LoopPlan(NamedTuple):
    """How an innermost loop runs."""

    stages: float = 0
    """Iterations whose tiles fit in the stages of a pipeline, the fewest of those that the loop
    reads; 0: it reads none."""
    barriers: float = 0
    """Barriers of all computing warps in an iteration."""
    waits: float = 0
    """Dots whose results are waited for as soon as they are issued."""
    in_flight: int = 0
    """Dots that run beside other instructions."""
    exposed: int = 0
    """Loads to registers that the same iteration waits for."""
    prefetched: int = 0
    """Loads to registers that the next iteration uses."""
    exchanged: float = 0
    """Bytes that change their layout through shared memory."""
    multiplications: int = 0
    """Multiplications of elements in dots."""
    parts: float = 1
    """Iterations that one of the program became."""

    @classmethod
    def largest(cls, plans: Iterable[LoopPlan]) -> LoopPlan:
        """The largest numbers of all innermost loops of a kernel."""
        each = list(plans)
        return cls(*map(max, zip(*each, strict=True))) if each else cls()

    def divided(self, parts: float) -> LoopPlan:
        """The loop as that of the program, an iteration of which became several."""
        return self._replace(
            stages=self.stages / parts,
            barriers=self.barriers * parts,
            waits=self.waits * parts,
            exchanged=self.exchanged * parts,
            parts=parts,
        )


class Plan(NamedTuple):
    """How a kernel runs."""

    warps: int
    """That compute."""
    threads: int = 0
    """Of a CTA, with those that copy."""
    resident: int = 1
    """CTAs of an SM."""
    cluster: int = 1
    has_agents: bool = False
    uses_tma: bool = False
    encodes_maps: bool = False
    is_warpgroup_dot: bool = False
    """Whether the dots are of warpgroups: asynchronous, with B in shared memory."""
    a_in_registers: bool = False
    spilled: int = 0
    """Bytes that a thread stores and loads because registers are missing."""
    loop: LoopPlan = LoopPlan()
    """Of the innermost loop: the largest numbers of all of them."""
    has_own_maps: bool = False
    """Whether the tensor maps of a block may be others than those of the one before it."""

    @classmethod
    def of(cls, stored: Sequence[Any]) -> Plan:
        """The plan of what `stored` returned."""
        plan = cls(*stored)
        return plan._replace(loop=LoopPlan(*plan.loop))

    def stored(self) -> tuple[Any, ...]:
        """The plan as tuples, for processes and files that know no others."""
        return tuple([tuple(each) if isinstance(each, LoopPlan) else each for each in self])

    def assembled(self, threads: int, resident: int, spilled: int) -> Plan:
        """The plan with what ptxas and the launch say."""
        return self._replace(
            warps=self.warps or threads // WARP_SIZE,
            threads=threads,
            resident=resident,
            spilled=spilled,
        )


def plan_of(function: FuncOp) -> Plan:
    """The facts of a plan, without what only ptxas knows."""
    ops = list(function.walk())
    agents = [op for op in ops if isinstance(op, AgentSwitchOp)]
    computing = [op.warps for op in agents if _computes(op)]
    copies = [op for op in ops if isinstance(op, ProducerCopyOp)]
    views = [view for op in ops if isinstance(op, CreateTensorMapsOp) for view in op.views]
    loops = [loop for loop in innermost_loops(function) if _computes(agent_of(loop))]
    plan = straight_plan(function)
    return plan._replace(
        warps=sum(computing) or plan.warps,
        has_agents=bool(agents),
        uses_tma=any(op.is_by_tma for op in copies),
        encodes_maps=any(isinstance(op, CreateTensorMapsOp) for op in ops),
        loop=LoopPlan.largest(map(_loop_plan, loops)),
        has_own_maps=any(map(depends_on_block, views)),
    )


def straight_plan(function: FuncOp) -> Plan:
    """The facts of a plan that no pipeline changes, without those of loops."""
    spec, dots = function.kernel_spec, [op for op in function.walk() if isinstance(op, DotOp)]
    return Plan(
        warps=0 if spec is None else spec.num_warps or 0,
        cluster=function.cluster_size,
        is_warpgroup_dot=any(op.atom.asynchronous for op in dots),
        a_in_registers=any(not in_shared_memory(op.a) for op in dots),
    )


def depends_on_block(view: Value) -> bool:
    """Whether the array of a view is another one in other blocks: its address is no parameter."""
    for value in backward_slice([view], lambda _: True):
        op = value.defining_op()
        if isinstance(value, BlockArgument) and isinstance(value.owner.parent_op, FuncOp):
            continue
        if op is None or op.regions or isinstance(op, GetProgramIdOp | LoadOp | TileReadOp):
            return True
    return False


def _computes(agent: Operation | None) -> bool:
    return agent is None or any(isinstance(op, ConsumerOp) for op in agent.walk())


def is_innermost(loop: Operation) -> bool:
    """Whether a loop has no loops inside of it."""
    return not any(op is not loop and isinstance(op, ForOp | WhileOp) for op in loop.walk())


def innermost_loops(function: Operation) -> list[Operation]:
    """The loops of a function without loops inside of them."""
    return [op for op in function.walk() if isinstance(op, ForOp | WhileOp) and is_innermost(op)]


def _loop_plan(loop: Operation) -> LoopPlan:
    """How a loop runs whose pipelines and barriers are built."""
    ops = list(loop.walk())
    waits = [op for op in ops if isinstance(op, ConsumerWaitOp)]
    return straight_loop(loop)._replace(
        stages=min([_held_iterations(op, waits) for op in waits], default=0),
        barriers=sum(isinstance(op, BarrierOp) for op in ops),
    )


def straight_loop(
    loop: Operation, copied: Collection[Operation] = (), replaced: Collection[Operation] = ()
) -> LoopPlan:
    """What a loop does beside a pipeline, which copies some loads and replaces some conversions.

    Each tile that threads write to shared memory takes a barrier before it is read, and all of them
    one before they are written again.
    """
    ops = [op for op in loop.walk() if op not in replaced]
    loads = [op for op in ops if isinstance(op, LoadOp | TileReadOp) and op not in copied]
    prefetched = sum(_is_carried(op.results[0], loop) for op in loads)
    dots = [op for op in ops if isinstance(op, DotOp)]
    tiles = [op.result for op in ops if isinstance(op, ConvertLayoutOp) and _is_exchange(op)]
    written = sum(map(in_shared_memory, tiles))
    return LoopPlan(
        barriers=written + bool(written),
        waits=sum(not op.asynchronous for op in dots),
        in_flight=sum(op.asynchronous for op in dots)
        - sum(isinstance(op, DotWaitOp) and not op.pending for op in ops),
        exposed=len(loads) - prefetched,
        prefetched=prefetched,
        exchanged=sum(count(t.type) * pointee_bytes(element_of(t.type)) for t in tiles),
        multiplications=sum(count(op.c.type) * shape(op.a.type)[-1] for op in dots),
    )


def _held_iterations(wait: ConsumerWaitOp, waits: Sequence[ConsumerWaitOp]) -> float:
    """The stages of a pipeline, divided by those that an iteration reads."""
    read = {op.iterator for op in waits if op.pipeline is wait.pipeline}
    return pipeline(wait.pipeline).stages / len(read)


def _is_exchange(op: ConvertLayoutOp) -> bool:
    """Whether a tile changes its layout through shared memory, or is written there."""
    return in_shared_memory(op.result) or bool(scratch_bytes(op))


def _is_carried(value: Value, loop: Operation) -> bool:
    """Whether only the next iteration uses a value."""
    return all(isinstance(user, LoopYieldOp) and user.parent_op is loop for user in _uses(value))


def _uses(value: Value) -> Iterator[Operation]:
    """The users of a value; those of its views instead of the views."""
    for user in value.users:
        if user.name == "nv_tileas.view":
            yield from _uses(user.results[0])
        else:
            yield user
