"""mbarriers: one group for each function, in which tokens and pipeline stages have slots.

The handle of a token is an i32: the slot, and above it the parity of the current phase. A token is
complete when the phase before the current one is; a new barrier counts as having completed one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.targets import target_or_baseline
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    as_index,
    constant,
    index_constant,
)
from tilewright.conversion.nv_tileas_to_nvgpu.predication import (
    conjunction,
    elected_after_all,
    is_elected_lane,
    predicated,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import (
    function_context,
    is_first_thread,
    synchronize,
)
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.integer import AddIOp, AndIOp, ShRUIOp, XOrIOp
from tilewright.dialects.cute_nvgpu.threads import (
    ClusterArriveOp,
    ClusterWaitOp,
    FenceMBarrierInitOp,
    MBarrierExpectTxOp,
    MBarrierInvalidateOp,
    WarpSyncOp,
)
from tilewright.dialects.gpu.attributes import AddressSpace
from tilewright.dialects.nv_tileas.async_copy import CreateTokenOp
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp, ProducerAcquireOp
from tilewright.dialects.nv_tileas.types import pipeline
from tilewright.dialects.nvgpu.mbarrier import (
    MBarrierArriveExpectTxOp,
    MBarrierArriveOp,
    MBarrierCreateOp,
    MBarrierInitOp,
    MBarrierTryWaitParityOp,
)
from tilewright.dialects.nvgpu.types import MBARRIER_TOKEN, MBarrierGroupType
from tilewright.dialects.nvvm.arithmetic import OpaqueOp
from tilewright.ir.types import I32, I64
from tilewright.target.resources import BARRIER_SLOTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.nv_tileas.agents import AgentSwitchOp
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

PHASE_BIT: Final = BARRIER_SLOTS
"""The bit of a handle that has the parity."""
SUSPEND_NANOSECONDS: Final = 1 << 20
"""For how many nanoseconds `try_wait` suspends a thread before it returns."""


def create_barriers(op: FuncOp, build: ConversionBuilder) -> None:
    """Allocate all barriers of a function, at its entry.

    A barrier that is initialized again is invalidated before, so it must be valid from the start.
    """
    count, reinitialized = 0, set[int]()
    for inner in op.walk():
        if isinstance(inner, CreateTokenOp):
            count = max(count, inner.slot + 1)
            reinitialized |= {inner.slot} if inner.again else set()
        elif isinstance(inner, CreatePipelineOp):
            count = max([count, *(slot + 1 for slot in _slots_of(inner))])
    if not count:
        return
    group = MBarrierGroupType(AddressSpace.WORKGROUP, count)
    function_context(op, build).barriers = build.create(MBarrierCreateOp, types=[group]).barriers
    if reinitialized:
        with predicated(build, is_first_thread(op, build)):
            _init(op, build, [(slot, 1) for slot in sorted(reinitialized)])


def invalidate_barriers(op: FuncOp, build: ConversionBuilder) -> None:
    """Invalidate the barriers of a function at its exit, after the last use by any thread.

    Those of a pipeline in a branch may never have been initialized: they end with the CTA. Those of
    a drained pipeline have ended in its producer.
    """
    slots = sorted({slot for inner in op.walk() for slot in _slots_at_exit(inner, op)})
    if not slots:
        return
    synchronize(op, build)
    with predicated(build, is_first_thread(op, build)):
        for slot in slots:
            invalidate(op, build, index_constant(build, slot))


def invalidate_drained(agent: AgentSwitchOp, build: ConversionBuilder) -> None:
    """Invalidate the barriers of the drained pipelines of an agent, at its end.

    The consumers have arrived for the last time, so that no barrier of the CTA delays their exit.
    """
    acquires = [op for op in agent.body.block if isinstance(op, ProducerAcquireOp)]
    created = dict.fromkeys(op.pipeline.defined_by(CreatePipelineOp) for op in acquires)
    slots = [slot for op in created if op is not None and op.drained for slot in _slots_of(op)]
    if not slots:
        return
    # ptxas allocates registers for all agents at once. It would keep addresses of barriers that it
    # knows from the initialization to here, through the loops of the consumers.
    with elected_after_all(acquires[0], build):
        zero = build.create(OpaqueOp, arg=constant(build, 0, I64), types=[I64]).res
        for slot in slots:
            index = build.create(AddIOp, lhs=zero, rhs=constant(build, slot, I64)).result
            invalidate(agent, build, as_index(build, index))


def _slots_at_exit(op: Operation, function: FuncOp) -> Sequence[int]:
    """The slots whose barriers an operation initializes on every path through a function."""
    is_always_run = op.parent_op is function
    if isinstance(op, CreateTokenOp) and (is_always_run or op.again):
        return (op.slot,)
    if isinstance(op, CreatePipelineOp) and is_always_run and not op.drained:
        return _slots_of(op)
    return ()


def _slots_of(op: CreatePipelineOp) -> Sequence[int]:
    """The slots of a pipeline: of the full barriers, then of the empty ones."""
    return () if op.slot is None else range(op.slot, op.slot + 2 * pipeline(op.result).stages)


def invalidate(op: Operation, build: ConversionBuilder, index: Value) -> None:
    """End a barrier, which no thread may use any more; one thread does."""
    build.create(MBarrierInvalidateOp, barriers=_group(op, build), mbar_id=index)


def init_barriers(
    op: Operation,
    build: ConversionBuilder,
    counts: Sequence[tuple[int, int]],
    *,
    reinitialize: bool,
    in_cluster: bool = False,
) -> None:
    """Initialize barriers, given as (slot, arrival count), and synchronize the threads.

    If other CTAs signal the barriers, threads of the whole cluster are synchronized.
    """
    if reinitialize:
        synchronize(op, build)
    with predicated(build, is_first_thread(op, build)):
        if reinitialize:
            for slot, _ in counts:
                invalidate(op, build, index_constant(build, slot))
        _init(op, build, counts)
        if target_or_baseline(op).bulk_engine is not None:
            build.create(FenceMBarrierInitOp)
    if in_cluster:
        build.create(ClusterArriveOp, aligned=True)
        build.create(ClusterWaitOp, aligned=True)
    else:
        synchronize(op, build)


def _init(op: Operation, build: ConversionBuilder, counts: Sequence[tuple[int, int]]) -> None:
    for slot, count in counts:
        build.create(
            MBarrierInitOp,
            barriers=_group(op, build),
            mbar_id=index_constant(build, slot),
            count=index_constant(build, count),
        )


def _group(op: Operation, build: ConversionBuilder) -> Value:
    barriers = function_context(op, build).barriers
    assert barriers is not None
    return barriers


def barrier_at(op: Operation, build: ConversionBuilder, slot: Value) -> tuple[Value, Value]:
    """The group of a function's barriers, and the index of the one in a slot."""
    return _group(op, build), as_index(build, slot)


def wait_for_phase(
    op: Operation, build: ConversionBuilder, slot: Value, phase: Value, *, before: bool
) -> None:
    """Wait until the phase of this parity completes, or the one before it."""
    wanted = constant(build, 0 if before else 1)
    parity = build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=phase, rhs=wanted).result
    barriers, index = barrier_at(op, build, slot)
    build.create(
        MBarrierTryWaitParityOp,
        barriers=barriers,
        mbar_id=index,
        phase_parity=parity,
        ticks=index_constant(build, SUSPEND_NANOSECONDS),
        types=[],
    )


def arrive(
    op: Operation,
    build: ConversionBuilder,
    slot: Value,
    condition: Value | None = None,
) -> None:
    """One arrival for each warp, which publishes the accesses of all its lanes.

    The condition, if there is one, is the same for all lanes.
    """
    # Orders the accesses of the other lanes before the arrival. It also keeps the lanes together:
    # one that is two phases late would mistake the parity that it waits for.
    build.create(WarpSyncOp)
    elected = is_elected_lane(op, build)
    with predicated(build, conjunction(build, elected, condition)):
        barriers, index = barrier_at(op, build, slot)
        build.create(MBarrierArriveOp, barriers=barriers, mbar_id=index, types=[MBARRIER_TOKEN])


def expect_bytes(
    op: Operation, build: ConversionBuilder, slot: Value, bytes: int, *, arrives: bool
) -> None:
    """Let the current phase also wait for these bytes, which asynchronous copies will write."""
    barriers, index = barrier_at(op, build, slot)
    count = index_constant(build, bytes)
    kind = MBarrierArriveExpectTxOp if arrives else MBarrierExpectTxOp
    build.create(kind, barriers=barriers, mbar_id=index, txcount=count)


def slot_of(build: ConversionBuilder, handle: Value) -> Value:
    """The slot in the handle of a token."""
    return build.create(AndIOp, lhs=handle, rhs=constant(build, BARRIER_SLOTS - 1)).result


def wait_for_token(op: Operation, build: ConversionBuilder, handle: Value) -> None:
    """Wait until the operation of a token completes."""
    bits = constant(build, PHASE_BIT.bit_length() - 1)
    phase = build.create(ShRUIOp, lhs=handle, rhs=bits).result
    wait_for_phase(op, build, slot_of(build, handle), phase, before=True)


def next_phase(build: ConversionBuilder, handle: Value) -> Value:
    """The token of the next phase."""
    return build.create(XOrIOp, lhs=handle, rhs=constant(build, PHASE_BIT, I32)).result
