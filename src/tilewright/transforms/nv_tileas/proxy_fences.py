"""Proxy fences: where writes of threads are ordered before accesses through the async proxy.

Threads store, and copy by `cp.async`, through the generic proxy; bulk copies write and wgmma reads
through the async one. A thread that stores fences before others learn of it. One that copies by
`cp.async` arrives at an mbarrier without waiting for its copies: the threads that wait there fence.
What threads only read needs no fence before a bulk copy overwrites it: the mbarrier orders it.

Between agents, a pipeline leads from writes to reads, not the order of operations. So a fence
follows from all producers and consumers of an allocation, not from a dataflow.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from tilewright.analysis.targets import target_or_baseline
from tilewright.dialects.nv_tileas.attributes import Atom, in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerWaitOp,
    CreatePipelineOp,
    PipelineOp,
    ProducerCommitOp,
    ProducerCopyOp,
    counts_copies,
)
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.nv_tileas.sync import ProxyFenceOp
from tilewright.ir.builder import create_op
from tilewright.plans.stage_accesses import (
    copied_by_threads,
    has_bulk_copies,
    has_copies_by_threads,
    is_read_by_wgmma,
    is_written_by_threads,
)
from tilewright.transforms.nv_tileas.shared_accesses import pipeline_of, waits_for_all

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.ir.operation import Operation
    from tilewright.transforms.nv_tileas.shared_accesses import Span


class Side(Enum):
    """On which side of an operation a fence is."""

    BEFORE = "before"
    AFTER = "after"


def insert_fences(function: Operation, spans: Mapping[Operation, Span]) -> None:
    """Insert the proxy fences of a function; those that are there remain."""
    for op in list(function.walk()):
        side = _side(op, spans)
        neighbour = op.next if side is Side.AFTER else op.prev
        if side is None or isinstance(neighbour, ProxyFenceOp):
            continue
        fence = create_op(ProxyFenceOp, location=op.location)
        if side is Side.AFTER:
            fence.insert_after(op)
        else:
            fence.insert_before(op)


def _side(op: Operation, spans: Mapping[Operation, Span]) -> Side | None:
    """On which side of an operation a fence is needed, if on any."""
    match op:
        case ConvertLayoutOp() if in_shared_memory(op.result):
            return Side.AFTER if _feeds_async_dots(op) else None
        case CreatePipelineOp() if not counts_copies(op):
            return Side.BEFORE if _copies_over_earlier_writes(op, spans) else None
        case PipelineOp():
            return _side_in_stage(op, pipeline_of(op))
        case _:
            return None


def _side_in_stage(op: PipelineOp, pipeline: CreatePipelineOp) -> Side | None:
    match op:
        case ConsumerWaitOp() if counts_copies(pipeline):
            fences = waits_for_all(op) and is_read_by_wgmma(pipeline)
            return Side.AFTER if fences else None
        case ConsumerWaitOp():
            fences = has_copies_by_threads(pipeline) and is_read_by_wgmma(pipeline)
            return Side.AFTER if fences else None
        case ProducerCommitOp() if not counts_copies(pipeline):
            fences = is_written_by_threads(pipeline) and is_read_by_wgmma(pipeline)
            return Side.BEFORE if fences else None
        case ProducerCopyOp() if not copied_by_threads(op):
            return Side.BEFORE if is_written_by_threads(pipeline) else None
        case _:
            return None


def _feeds_async_dots(op: ConvertLayoutOp) -> bool:
    """Whether other dots than those by FMA read a tile in shared memory."""
    users = op.result.users
    only_fma = all(isinstance(user, DotOp) and user.atom is Atom.FMA for user in users)
    return not only_fma and bool(target_or_baseline(op).async_dots)


def _copies_over_earlier_writes(op: CreatePipelineOp, spans: Mapping[Operation, Span]) -> bool:
    """Whether bulk copies write to memory that had another use before the pipeline was created."""
    if op not in spans or not has_bulk_copies(op):
        return False
    return any(other is not op and span.overlaps(spans[op]) for other, span in spans.items())
