"""Asynchronous copies and their tokens: an i32 with the slot and the phase of an mbarrier.

With TMA one thread issues a bulk copy, whose bytes the mbarrier counts: a phase has one arrival for
each copy. Without it, every thread copies its part by `cp.async` and arrives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.targets import target_or_baseline
from tilewright.conversion.nv_tileas_to_nvgpu.addresses import global_pointer, shared_pointer
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    add,
    constant,
    multiply,
    to_i64,
)
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.mbarriers import (
    barrier_at,
    expect_bytes,
    init_barriers,
    next_phase,
    slot_of,
    wait_for_token,
)
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.stage_access import copy_bytes, stage_offset
from tilewright.conversion.nv_tileas_to_nvgpu.predication import predicated
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import scratch_address
from tilewright.conversion.nv_tileas_to_nvgpu.threads import (
    is_first_thread,
    thread_count,
    thread_id,
)
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.cute_nvgpu.threads import (
    BulkLoadOp,
    MBarrierArriveOnCopiesOp,
)
from tilewright.dialects.nv_tileas import async_copy
from tilewright.dialects.nv_tileas.async_copy import COPIED_AT_ONCE
from tilewright.dialects.nv_tileas.types import ASYNC_TOKEN, buffer
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I64

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


@converts(async_copy.CreateTokenOp)
def create_token(
    op: async_copy.CreateTokenOp, new: async_copy.CreateTokenOp, build: ConversionBuilder
) -> Result:
    """Initialize the barrier for the arrivals of a phase; the handle has phase 0."""
    arrivals = thread_count(op) if target_or_baseline(op).bulk_engine is None else 1
    init_barriers(op, build, [(op.slot, op.producers * arrivals)], reinitialize=op.again)
    return constant(build, op.slot)


@converts(async_copy.AsyncWaitOp)
def wait(
    op: async_copy.AsyncWaitOp, new: async_copy.AsyncWaitOp, build: ConversionBuilder
) -> Result:
    """Wait for the barriers of asynchronous copies; other tokens are already ordered."""
    for token in op.tokens:
        if token.type is ASYNC_TOKEN:
            wait_for_token(op, build, build.value(token))
    return []


@converts(async_copy.AsyncCopyOp)
def copy(
    op: async_copy.AsyncCopyOp, new: async_copy.AsyncCopyOp, build: ConversionBuilder
) -> Result:
    """The copy completes the next phase of the barrier."""
    bytes = buffer(op.target).stage_bytes
    target = scratch_address(op, build, stage_offset(build, new.target, new.stage, bytes))
    slot = slot_of(build, new.token)
    start_copy(op, build, CopySpan(new.source, target, bytes), slot)
    if target_or_baseline(op).bulk_engine is None:
        arrive_after_copies(op, build, slot)
    return next_phase(build, new.token)


class CopySpan(NamedTuple):
    """The source in global memory and the target in shared memory, as i64 addresses."""

    source: Value
    target: Value
    bytes: int


def start_copy(
    op: Operation, build: ConversionBuilder, span: CopySpan, slot: Value, *, arrives: bool = True
) -> None:
    """Issue a bulk copy that completes on a barrier; without TMA, a `cp.async` in each thread.

    The thread that issues a bulk copy also arrives if `arrives`; else it only sets `expect_tx`.
    """
    if target_or_baseline(op).bulk_engine is None:
        _copy_by_threads(op, build, span)
        return
    with predicated(build, is_first_thread(op, build)):
        _bulk_copy(op, build, span, slot, arrives=arrives)


def arrive_after_copies(op: Operation, build: ConversionBuilder, slot: Value) -> None:
    """Let every thread arrive when the copies that it issued complete."""
    barriers, index = barrier_at(op, build, slot)
    build.create(MBarrierArriveOnCopiesOp, barriers=barriers, mbar_id=index)


def _bulk_copy(
    op: Operation, build: ConversionBuilder, span: CopySpan, slot: Value, *, arrives: bool
) -> None:
    """Set the expected bytes, and issue the copy."""
    barriers, index = barrier_at(op, build, slot)
    expect_bytes(op, build, slot, span.bytes, arrives=arrives)
    build.create(
        BulkLoadOp,
        source=global_pointer(build, span.source),
        target=shared_pointer(build, span.target),
        barriers=barriers,
        mbar_id=index,
        bytes=span.bytes,
    )


def _copy_by_threads(op: Operation, build: ConversionBuilder, span: CopySpan) -> None:
    """Each thread copies its chunks; those of consecutive threads are contiguous."""
    chunks, threads = span.bytes // COPIED_AT_ONCE, thread_count(op)
    offset = multiply(build, to_i64(build, thread_id(op, build)), COPIED_AT_ONCE, I64)
    bases = [add(build, base, offset, I64) for base in (span.source, span.target)]
    for first in range(0, chunks, threads):
        with predicated(build, _below(op, build, chunks - first)):
            addresses = [add(build, base, first * COPIED_AT_ONCE, I64) for base in bases]
            source = global_pointer(build, addresses[0])
            copy_bytes(build, source, shared_pointer(build, addresses[1]), COPIED_AT_ONCE)


def _below(op: Operation, build: ConversionBuilder, count: int) -> Value | None:
    """Whether the thread is one of the first `count`; None if all are."""
    if count >= thread_count(op):
        return None
    number, bound = thread_id(op, build), constant(build, count)
    return build.create(CmpIOp, predicate=CmpIPredicate.ULT, lhs=number, rhs=bound).result


PATTERNS: Final[Patterns] = (
    create_token,
    wait,
    copy,
)
