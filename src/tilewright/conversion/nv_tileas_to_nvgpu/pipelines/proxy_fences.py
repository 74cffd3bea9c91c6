"""Proxy fences of pipelines with mbarriers.

Threads store, and copy by `cp.async`, through the generic proxy; bulk copies write and wgmma reads
through the async one, which a `fence.proxy.async` orders after what the generic one wrote. What
threads only read needs no fence before a bulk copy overwrites it: the mbarrier orders it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.targets import target_or_baseline
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import scratch_offset
from tilewright.conversion.nv_tileas_to_nvgpu.threads import enclosing_function
from tilewright.dialects.cute_nvgpu.attributes import ProxySpace
from tilewright.dialects.cute_nvgpu.threads import FenceProxyAsyncOp
from tilewright.dialects.nv_tileas.attribute_names import SCRATCH_OFFSET
from tilewright.dialects.nv_tileas.attributes import CopyEngine, in_shared_memory
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReadOp,
    CreatePipelineOp,
    ProducerCopyOp,
    ProducerWriteOp,
)
from tilewright.plans.allocations import allocated_bytes
from tilewright.plans.scratch import scratch_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.ir.conversion import ConversionBuilder


def fence_proxy(build: ConversionBuilder) -> None:
    """Order earlier writes to shared memory before later accesses through the async proxy."""
    build.create(FenceProxyAsyncOp, space=ProxySpace.SHARED_CTA)


def copied_by_threads(op: ProducerCopyOp) -> bool:
    """Whether each thread copies a part, by `cp.async`, rather than one thread all in bulk."""
    by_threads = op.is_tiled and op.engine is CopyEngine.CP_ASYNC
    return by_threads or target_or_baseline(op).bulk_engine is None


def has_copies_by_threads(op: CreatePipelineOp) -> bool:
    """Whether producers of a pipeline copy by `cp.async`."""
    return any(copied_by_threads(copy) for copy in _copies(op))


def is_written_by_threads(op: CreatePipelineOp) -> bool:
    """Whether producers of a pipeline store to its stages."""
    return any(isinstance(user, ProducerWriteOp) for user in op.result.users)


def is_read_by_wgmma(op: CreatePipelineOp) -> bool:
    """Whether wgmma reads the stages of a pipeline."""
    reads = [user for user in op.result.users if isinstance(user, ConsumerReadOp)]
    tiles = [value for read in reads for value in read.values if in_shared_memory(value)]
    return bool(tiles) and bool(target_or_baseline(op).async_dots)


def copies_over_earlier_stores(op: CreatePipelineOp) -> bool:
    """Whether bulk copies write to memory that had another use before the pipeline was created."""
    if all(copied_by_threads(copy) for copy in _copies(op)):
        return False
    start = scratch_offset(op)
    end = start + allocated_bytes(op)
    for other in enclosing_function(op).walk():
        if other is not op and SCRATCH_OFFSET in other.attributes:
            offset = scratch_offset(other)
            if offset < end and start < offset + (allocated_bytes(other) or scratch_bytes(other)):
                return True
    return False


def _copies(op: CreatePipelineOp) -> Iterator[ProducerCopyOp]:
    return (user for user in op.result.users if isinstance(user, ProducerCopyOp))
