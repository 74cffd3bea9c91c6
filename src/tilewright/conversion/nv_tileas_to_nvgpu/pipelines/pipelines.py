"""Pipelines: the operations of producers and consumers on a stage.

Between agents each stage has a full and an empty mbarrier: it is full when all warps of the
producers have arrived at the one, and empty when all warps of the consumers have arrived at the
other. Initially every stage is empty. If copies multicast, consumers arrive in all CTAs that copy
to their stage. Where the same threads produce and consume, they wait for
their own copies by group, and a barrier that follows makes the copies of all visible to all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import add, as_value, multiply
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.async_copies import (
    CopySpan,
    arrive_after_copies,
    start_copy,
)
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.iterators import earlier_stage, parity_of
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.mbarriers import (
    arrive,
    expect_bytes,
    init_barriers,
    wait_for_phase,
)
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.multicast import arrive_in_cluster
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.stage_access import StageAccess, copy_tile
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.tensor_map_stages import (
    read_map,
    write_map,
)
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.tma_copies import copy_boxes
from tilewright.conversion.nv_tileas_to_nvgpu.predication import is_elected_lane, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import scratch_address, scratch_offset
from tilewright.conversion.nv_tileas_to_nvgpu.threads import (
    thread_count,
    warp_count,
)
from tilewright.dialects.cute_nvgpu.copies import DeviceAsyncGroupsOp
from tilewright.dialects.cute_nvgpu.threads import WarpSyncOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas import pipeline as tileas
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, layout_of
from tilewright.dialects.nv_tileas.types import (
    TensorMapType,
    pipeline,
    register_bytes,
    stored_bytes,
)
from tilewright.dialects.nvgpu.async_copy import DeviceAsyncCreateGroupOp, DeviceAsyncWaitOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.layout.linear import pack
from tilewright.plans.accesses import has_copies_by_threads
from tilewright.plans.allocations import pipeline_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.values import Value


@converts(tileas.CreatePipelineOp)
def create_pipeline(
    op: tileas.CreatePipelineOp, new: tileas.CreatePipelineOp, build: ConversionBuilder
) -> Result:
    """Initialize the barriers; the stages are part of the shared memory of the function."""
    if tileas.counts_copies(op):
        return [()]
    assert op.slot is not None
    counts: list[tuple[int, int]] = []
    stages, ctas = pipeline(op.result).stages, len(tileas.rank_differences(op))
    for side, kind in enumerate((tileas.ProducerOp, tileas.ConsumerOp)):
        user = next((user for user in op.result.users if isinstance(user, kind)), op)
        first = op.slot + side * stages
        arrivals = warp_count(user)
        if kind is tileas.ProducerOp and has_copies_by_threads(op):
            arrivals += thread_count(user)
        if kind is tileas.ConsumerOp:
            arrivals *= ctas
        counts += [(first + stage, arrivals) for stage in range(stages)]
    init_barriers(op, build, counts, reinitialize=False, in_cluster=ctas > 1)
    return [()]


def _create_op(op: tileas.PipelineOp) -> tileas.CreatePipelineOp:
    create = op.pipeline.defined_by(tileas.CreatePipelineOp)
    assert create is not None
    return create


def _slot(op: tileas.PipelineOp, build: ConversionBuilder, stage: Value, *, full: bool) -> Value:
    """The barrier of a stage."""
    first = _create_op(op).slot
    assert first is not None
    offset = first if full else first + pipeline(op.pipeline).stages
    return as_value(build, add(build, stage, offset))


@converts(tileas.ProducerAcquireOp)
def acquire(
    op: tileas.ProducerAcquireOp, new: tileas.ProducerAcquireOp, build: ConversionBuilder
) -> Result:
    """Wait until the stage is empty; a barrier of the block before has seen to it otherwise."""
    stage, phase = build.values(op.iterator)
    if not tileas.counts_copies(_create_op(op)):
        slot = _slot(op, build, stage, full=False)
        wait_for_phase(op, build, slot, parity_of(build, phase), before=True)
    return [(stage, phase)]


@converts(tileas.ConsumerWaitOp)
def wait(op: tileas.ConsumerWaitOp, new: tileas.ConsumerWaitOp, build: ConversionBuilder) -> Result:
    """Wait until the stage is full: for the mbarrier, or for the copies of the thread."""
    stage, phase = build.values(op.iterator)
    if not tileas.counts_copies(_create_op(op)):
        slot = _slot(op, build, stage, full=True)
        wait_for_phase(op, build, slot, parity_of(build, phase), before=False)
        return [(stage, phase)]
    assert op.pending is not None
    groups = build.create(DeviceAsyncGroupsOp).token
    build.create(DeviceAsyncWaitOp, async_dependencies=groups, num_groups=op.pending)
    return [(stage, phase)]


@converts(tileas.ProducerCommitOp)
def commit(
    op: tileas.ProducerCommitOp, new: tileas.ProducerCommitOp, build: ConversionBuilder
) -> Result:
    """Close the group of this stage's copies; or arrive: each warp, and each thread that copies."""
    create = _create_op(op)
    if tileas.counts_copies(create):
        build.create(DeviceAsyncCreateGroupOp)
        return []
    stage, _ = build.values(op.token)
    slot = _slot(op, build, stage, full=True)
    if has_copies_by_threads(create):
        arrive_after_copies(op, build, slot)
    if _arriving_copies(op.token):
        # A lane that is two phases late would mistake the parity that it waits for.
        build.create(WarpSyncOp)
    else:
        arrive(op, build, slot)
    return []


def _arriving_copies(token: Value) -> Sequence[tileas.ProducerCopyOp]:
    """The copies to a stage, if the first of them arrives, and expects the bytes of all.

    None if a copy might not be executed, threads also write to the stage, or several warps arrive:
    then each copy says what to expect, and the commit arrives. So it does for a single copy: with
    one instruction for both, ptxas orders the consumers' loops of some attention kernels otherwise.
    """
    commit = next((user for user in token.users if isinstance(user, tileas.ProducerCommitOp)), None)
    if commit is None or commit.parent is None or warp_count(commit) != 1:
        return ()
    copies = [op for op in commit.parent if isinstance(op, tileas.ProducerCopyOp) and op.is_by_tma]
    own = [op for op in copies if op.token is token]
    return own if len(own) > 1 and len(token.users) == len(own) + 1 else ()


def _copied_bytes(op: tileas.ProducerCopyOp) -> int:
    return stored_bytes(pipeline(op.pipeline).elements[op.number])


@converts(tileas.ConsumerReleaseOp)
def release(
    op: tileas.ConsumerReleaseOp, new: tileas.ConsumerReleaseOp, build: ConversionBuilder
) -> Result:
    """Every warp arrives, which orders its accesses before those of the producers."""
    create = _create_op(op)
    if tileas.counts_copies(create):
        return []
    stage, phase = build.values(op.token)
    exists: Value | None = None
    if op.lag:
        stages = pipeline(op.pipeline).stages
        stage, exists = earlier_stage(build, stage, phase, op.lag, stages)
    slot, ctas = _slot(op, build, stage, full=False), tileas.rank_differences(create)
    if len(ctas) > 1:
        arrive_in_cluster(op, build, slot, ctas, exists)
    else:
        arrive(op, build, slot, exists)
    return []


def _stage_offset(
    op: tileas.PipelineOp, build: ConversionBuilder, stage: Value, number: int
) -> Value:
    """The byte offset of an element of a stage in the shared memory of the function."""
    create = _create_op(op)
    memory = pipeline_memory(pipeline(op.pipeline))
    first = scratch_offset(create) + memory.offsets[number]
    distance = multiply(build, stage, memory.strides[number])
    return as_value(build, add(build, distance, first))


@converts(tileas.ProducerCopyOp)
def copy(op: tileas.ProducerCopyOp, new: tileas.ProducerCopyOp, build: ConversionBuilder) -> Result:
    """Copy into the stage, which is full only after the bytes have arrived."""
    stage, _ = build.values(op.token)
    offset = _stage_offset(op, build, stage, op.number)
    if op.is_tiled:
        copy_tile(op, new, build, offset)
        return []
    full = _slot(op, build, stage, full=True)
    if op.is_by_tma:
        with predicated(build, is_elected_lane(op, build)):
            arriving = _arriving_copies(op.token)
            if not arriving or op is arriving[0]:
                bytes = sum(_copied_bytes(copy) for copy in arriving or (op,))
                expect_bytes(op, build, full, bytes, arrives=bool(arriving))
            copy_boxes(op, build, offset, full)
        return []
    address = scratch_address(op, build, offset)
    span = CopySpan(new.source, address, _copied_bytes(op))
    start_copy(op, build, span, full, arrives=False)
    return []


@converts(tileas.ProducerWriteOp)
def write(
    op: tileas.ProducerWriteOp, new: tileas.ProducerWriteOp, build: ConversionBuilder
) -> Result:
    """All values that have bytes; the barriers order tokens."""
    stage, _ = build.values(op.token)
    for number, value in zip(op.numbers, op.values, strict=True):
        if stored_bytes(value.type):
            element = pipeline(op.pipeline).elements[number]
            offset = _stage_offset(op, build, stage, number)
            if isinstance(value.type, TensorMapType):
                write_map(op, build, value, offset)
            else:
                StageAccess(op, build, value, element, offset).write(build.value(value))
    return []


@converts(tileas.ConsumerReadOp)
def read(op: tileas.ConsumerReadOp, new: tileas.ConsumerReadOp, build: ConversionBuilder) -> Result:
    """Load the values that have bytes; one in shared memory stays there."""
    stage, _ = build.values(op.token)
    results: list[tuple[Value, ...]] = []
    for number, value in zip(op.numbers, op.values, strict=True):
        if not stored_bytes(value.type):
            results.append(())
            continue
        offset = _stage_offset(op, build, stage, number)
        if isinstance(value.type, TensorMapType):
            results.append(read_map(op, build, value, number, offset))
            continue
        element = pipeline(op.pipeline).elements[number]
        if not in_shared_memory(value):
            offset = StageAccess(op, build, value, element, offset, op.at).read()
        elif op.at is not None:
            start = layout_of(element).inverse().packed(element=pack(op.at, shape(element)))
            bytes = register_bytes(element_of(element))
            offset = as_value(build, add(build, offset, start * bytes))
        results.append((offset,))
    return results


@converts(tileas.CreateNullTokenOp)
def null_token(
    op: tileas.CreateNullTokenOp, new: tileas.CreateNullTokenOp, build: ConversionBuilder
) -> Result:
    """Nothing to wait for."""
    return [()]


PATTERNS: Final[Patterns] = (
    create_pipeline,
    acquire,
    wait,
    commit,
    release,
    copy,
    write,
    read,
    null_token,
)
