"""Pipelines: each stage has a full and an empty mbarrier; an iterator is a stage and a parity.

A stage is full when all producers have arrived at its full barrier, and empty when all consumers
have arrived at its empty barrier. Initially every stage is empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.targets import target_or_baseline
from tilewright.conversion.nv_tileas_to_nvgpu.context import lowering_context
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import add, as_value, constant
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.async_copies import (
    CopySpan,
    arrive_after_copies,
    start_copy,
)
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.mbarriers import (
    arrive,
    init_barriers,
    wait_for_phase,
)
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.shared_buffers import (
    StageAccess,
    allocate_shared,
    stage_address,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_count
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp, SelectOp
from tilewright.dialects.arith.integer import XOrIOp
from tilewright.dialects.nv_tileas import pipeline as tileas
from tilewright.dialects.nv_tileas.types import IteratorType, pipeline, stored_bytes
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.values import Value


@converts(tileas.CreatePipelineOp)
def create_pipeline(
    op: tileas.CreatePipelineOp, new: tileas.CreatePipelineOp, build: ConversionBuilder
) -> Result:
    """Allocate a buffer for each value in every stage, and initialize the barriers."""
    type = pipeline(op.result)
    sizes = [stored_bytes(element) * type.stages for element in type.elements]
    buffers = [allocate_shared(op, build, bytes) if bytes else None for bytes in sizes]
    lowering_context(build).pipeline_buffers[op] = buffers
    assert op.slot is not None
    counts: list[tuple[int, int]] = []
    for side, kind in enumerate((tileas.ProducerOp, tileas.ConsumerOp)):
        user = next((user for user in op.result.users if isinstance(user, kind)), op)
        first = op.slot + side * type.stages
        arrivals = thread_count(user)
        if kind is tileas.ProducerOp and _copies_by_threads(op):
            arrivals *= 2
        counts += [(first + stage, arrivals) for stage in range(type.stages)]
    init_barriers(op, build, counts, reinitialize=False)
    return [()]


def _copies_by_threads(op: tileas.CreatePipelineOp) -> bool:
    """Whether producers copy by `cp.async`: then each thread also arrives after its copies."""
    copies = any(isinstance(user, tileas.ProducerCopyOp) for user in op.result.users)
    return copies and Feature.TMA not in target_or_baseline(op)


@converts(tileas.CreateIteratorOp)
def create_iterator(
    op: tileas.CreateIteratorOp, new: tileas.CreateIteratorOp, build: ConversionBuilder
) -> Result:
    """Stage 0, phase 0."""
    return [(constant(build, 0), constant(build, 0))]


@converts(tileas.IncIterOp)
def inc_iter(op: tileas.IncIterOp, new: tileas.IncIterOp, build: ConversionBuilder) -> Result:
    """The next stage; from the last one, the first stage in the next phase."""
    stage, phase = build.values(op.iterator)
    type = op.result.type
    assert isinstance(type, IteratorType)
    one, zero = constant(build, 1), constant(build, 0)
    next_stage = as_value(build, add(build, stage, 1))
    stages = constant(build, type.stages)
    wraps = build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=next_stage, rhs=stages).result
    next_phase = build.create(XOrIOp, lhs=phase, rhs=one).result
    return [(_select(build, wraps, zero, next_stage), _select(build, wraps, next_phase, phase))]


def _select(build: ConversionBuilder, condition: Value, a: Value, b: Value) -> Value:
    return build.create(SelectOp, condition=condition, true_value=a, false_value=b).result


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


@converts(tileas.ProducerAcquireOp, tileas.ConsumerWaitOp)
def begin(
    op: tileas.ProducerAcquireOp | tileas.ConsumerWaitOp,
    new: tileas.ProducerAcquireOp | tileas.ConsumerWaitOp,
    build: ConversionBuilder,
) -> Result:
    """A producer waits until the stage is empty, a consumer until it is full."""
    stage, phase = build.values(op.iterator)
    consumes = isinstance(op, tileas.ConsumerWaitOp)
    slot = _slot(op, build, stage, full=consumes)
    wait_for_phase(op, build, slot, phase, before=not consumes)
    return [(stage, phase)]


@converts(tileas.ProducerCommitOp, tileas.ConsumerReleaseOp)
def end(
    op: tileas.ProducerCommitOp | tileas.ConsumerReleaseOp,
    new: tileas.ProducerCommitOp | tileas.ConsumerReleaseOp,
    build: ConversionBuilder,
) -> Result:
    """Every thread arrives, which orders its accesses before those of the other side."""
    stage, _ = build.values(op.token)
    produces = isinstance(op, tileas.ProducerCommitOp)
    slot = _slot(op, build, stage, full=produces)
    if produces and _copies_by_threads(_create_op(op)):
        arrive_after_copies(op, build, slot)
    arrive(op, build, slot)
    return []


@converts(tileas.ProducerCopyOp)
def copy(op: tileas.ProducerCopyOp, new: tileas.ProducerCopyOp, build: ConversionBuilder) -> Result:
    """Copy into the stage, which is full only after the bytes have arrived."""
    stage, _ = build.values(op.token)
    bytes = stored_bytes(pipeline(op.pipeline).elements[op.number])
    buffer = lowering_context(build).pipeline_buffers[_create_op(op)][op.number]
    assert buffer is not None
    span = CopySpan(new.source, stage_address(build, buffer, stage, bytes), bytes)
    start_copy(op, build, span, _slot(op, build, stage, full=True), arrives=False)
    return []


def _stage_accesses(
    op: tileas.ProducerWriteOp | tileas.ConsumerReadOp, build: ConversionBuilder
) -> Sequence[StageAccess | None]:
    """The accesses to each value of the stage; None for a value without bytes."""
    stage, _ = build.values(op.token)
    buffers = lowering_context(build).pipeline_buffers[_create_op(op)]
    accesses: list[StageAccess | None] = []
    for value, buffer in zip(op.values, buffers, strict=True):
        if buffer is None:
            accesses.append(None)
            continue
        address = stage_address(build, buffer, stage, stored_bytes(value.type))
        accesses.append(StageAccess(op, build, value, address))
    return accesses


@converts(tileas.ProducerWriteOp)
def write(
    op: tileas.ProducerWriteOp, new: tileas.ProducerWriteOp, build: ConversionBuilder
) -> Result:
    """All values that have bytes; the barriers order tokens."""
    for value, access in zip(op.values, _stage_accesses(op, build), strict=True):
        if access is not None:
            access.write(build.value(value))
    return []


@converts(tileas.ConsumerReadOp)
def read(op: tileas.ConsumerReadOp, new: tileas.ConsumerReadOp, build: ConversionBuilder) -> Result:
    """All values that have bytes; the barriers order tokens."""
    return [() if access is None else (access.read(),) for access in _stage_accesses(op, build)]


@converts(tileas.CreateNullTokenOp)
def null_token(
    op: tileas.CreateNullTokenOp, new: tileas.CreateNullTokenOp, build: ConversionBuilder
) -> Result:
    """Nothing to wait for."""
    return [()]


PATTERNS: Final[Patterns] = (
    create_pipeline,
    create_iterator,
    inc_iter,
    begin,
    end,
    copy,
    write,
    read,
    null_token,
)
