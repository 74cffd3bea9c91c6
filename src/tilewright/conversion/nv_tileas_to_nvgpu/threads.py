"""Thread ids, thread counts, barriers and fences of the threads that execute an operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.context import FunctionContext, lowering_context
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.casts import IndexCastOp
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.integer import SubIOp
from tilewright.dialects.cute_nvgpu.attributes import ProxySpace
from tilewright.dialects.cute_nvgpu.threads import FenceProxyAsyncOp, NamedBarrierSyncOp
from tilewright.dialects.gpu.attributes import Dimension, ShuffleMode
from tilewright.dialects.gpu.indices import ThreadIdOp
from tilewright.dialects.gpu.threads import BarrierOp, ShuffleOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp, agent_of
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.types import I32
from tilewright.layout.linear import LANE, WARP
from tilewright.support.diagnostics import Unsupported
from tilewright.target.arch import LANE_BITS, WARP_SIZE
from tilewright.target.resources import NAMED_BARRIERS

if TYPE_CHECKING:
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


def enclosing_function(op: Operation) -> FuncOp:
    """The function around an operation of the old program, or the operation itself."""
    if isinstance(op, FuncOp):
        return op
    for outer in op.ancestors():
        if isinstance(outer, FuncOp):
            return outer
    raise AssertionError(f"expected '{op.name}' inside a function")


def define_thread_id(op: FuncOp, build: ConversionBuilder) -> None:
    """Read the thread id at the entry of the function that is being converted."""
    index = build.create(ThreadIdOp, dimension=Dimension.X).result
    number = build.create(IndexCastOp, source=index, types=[I32]).result
    context = lowering_context(build).functions[op] = FunctionContext(number)
    if any(isinstance(inner, DotOp) and inner.atom.asynchronous for inner in op.walk()):
        context.uniform_thread_id = broadcast_first_lane(build, number)


def broadcast_first_lane(build: ConversionBuilder, number: Value) -> Value:
    """The value of the warp's first lane."""
    offset, width = (
        build.create(ConstantOp, value=IntegerAttr(each, I32), types=[I32]).result
        for each in (0, WARP_SIZE)
    )
    shuffle = build.create(
        ShuffleOp, value=number, offset=offset, width=width, mode=ShuffleMode.IDX
    )
    return shuffle.shuffle_result


def uniform_thread_id(op: Operation, build: ConversionBuilder) -> Value:
    """The index of the warp's first thread; what depends on it alone is in uniform registers."""
    agent = agent_of(op)
    if agent is not None:
        return uniform_agent_thread_id(agent, build)
    uniform = function_context(op, build).uniform_thread_id
    return thread_id(op, build) if uniform is None else uniform


def define_agent_thread_id(op: AgentSwitchOp, build: ConversionBuilder) -> None:
    """Let thread ids inside of an agent count from its first thread."""
    function, context = function_context(op, build), lowering_context(build)
    context.agent_thread_ids[op] = _count_from(op, build, function.thread_id)
    if function.uniform_thread_id is not None:
        uniform = _count_from(op, build, function.uniform_thread_id)
        context.uniform_agent_thread_ids[op] = uniform


def _count_from(op: AgentSwitchOp, build: ConversionBuilder, number: Value) -> Value:
    if not op.first:
        return number
    first = IntegerAttr(op.first * WARP_SIZE, I32)
    start = build.create(ConstantOp, value=first, types=[I32]).result
    return build.create(SubIOp, lhs=number, rhs=start).result


def uniform_agent_thread_id(op: AgentSwitchOp, build: ConversionBuilder) -> Value:
    """The index of the warp's first thread among those of an agent, or else of the thread."""
    context = lowering_context(build)
    return context.uniform_agent_thread_ids.get(op) or context.agent_thread_ids[op]


def function_context(op: Operation, build: ConversionBuilder) -> FunctionContext:
    """The context of the function around an operation."""
    return lowering_context(build).functions[enclosing_function(op)]


def thread_id(op: Operation, build: ConversionBuilder) -> Value:
    """The thread's index in its CTA, or among the threads of its agent, as an i32.

    The lane is in the low bits, above it the warp.
    """
    agent = agent_of(op)
    if agent is not None:
        return lowering_context(build).agent_thread_ids[agent]
    return function_context(op, build).thread_id


def warp_count(op: Operation) -> int:
    """The number of warps that execute an operation: those of its agent, or of the CTA."""
    agent = agent_of(op)
    if agent is not None:
        return agent.warps
    spec = enclosing_function(op).kernel_spec
    assert spec is not None
    assert spec.num_warps is not None
    return spec.num_warps


def thread_count(op: Operation) -> int:
    """The number of threads that execute an operation."""
    return warp_count(op) * WARP_SIZE


def is_first_thread(op: Operation, build: ConversionBuilder) -> Value:
    """Whether the thread is the first of those that execute an operation."""
    zero = build.create(ConstantOp, value=IntegerAttr(0, I32), types=[I32]).result
    number = thread_id(op, build)
    return build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=number, rhs=zero).result


def synchronize(op: Operation, build: ConversionBuilder) -> None:
    """Emit a barrier for the threads that execute an operation: agents have named barriers."""
    agent = agent_of(op)
    if agent is None:
        build.create(BarrierOp)
        return
    agents = [inner for inner in enclosing_function(op).walk() if isinstance(inner, AgentSwitchOp)]
    number = 1 + agents.index(agent)
    if number >= NAMED_BARRIERS:
        raise Unsupported(f"barriers in more than {NAMED_BARRIERS - 1} agents", op.location)
    parts = [
        build.create(ConstantOp, value=IntegerAttr(part, I32), types=[I32]).result
        for part in (number, thread_count(op))
    ]
    build.create(NamedBarrierSyncOp, barrier=parts[0], threads=parts[1])


def fence_proxy(build: ConversionBuilder) -> None:
    """Order earlier writes to shared memory before later accesses through the async proxy."""
    build.create(FenceProxyAsyncOp, space=ProxySpace.SHARED_CTA)


def thread_basis(layout: Layout) -> list[int]:
    """The basis vectors of the thread id's bits: lanes, then warps."""
    return [*layout.vectors(LANE), *layout.vectors(WARP)]


def replica_mask(layout: Layout) -> int:
    """The bits of the thread id that select among replicas of the same elements."""
    replicas = layout.replicas()
    return replicas.get(LANE, 0) | replicas.get(WARP, 0) << LANE_BITS
