"""TMA copies and reductions of boxes: cute_nvgpu to NVVM.

Coordinates are reversed: the hardware takes the innermost dimension first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer
from tilewright.conversion.nvgpu_to_nvvm.mbarrier import barrier_address
from tilewright.conversion.nvgpu_to_nvvm.tma import coordinates
from tilewright.dialects.cute_nvgpu import tma
from tilewright.dialects.nvvm import copy
from tilewright.dialects.nvvm import tma as nvvm
from tilewright.dialects.nvvm.attributes import TMAReduxKind
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.values import Value


def _innermost_first(build: ConversionBuilder, outermost_first: Sequence[Value]) -> list[Value]:
    return coordinates(outermost_first[::-1], build)


@converts(tma.TmaLoadOp)
def load(op: tma.TmaLoadOp, new: tma.TmaLoadOp, build: ConversionBuilder) -> Result:
    """Lower to a TMA load to this block, or with a mask a multicast to blocks of the cluster."""
    return build.create(
        nvvm.TensorLoadOp,
        dst_mem=Buffer.of(op.buffer, build).element_address(new.indices, build),
        tma_descriptor=new.tensor_map,
        coordinates=_innermost_first(build, new.coordinates),
        mbar=barrier_address(new.barriers, new.mbar_id, build),
        multicast_mask=new.multicast_mask,
        l2_cache_hint=new.cache_hint,
        multicast_enable=new.multicast_mask is not None,
        cache_hint_enable=new.cache_hint is not None,
        cta_only=new.multicast_mask is None,
    )


@converts(tma.TmaStoreOp)
def store(op: tma.TmaStoreOp, new: tma.TmaStoreOp, build: ConversionBuilder) -> Result:
    """Lower to a TMA store."""
    return build.create(
        nvvm.TensorStoreOp,
        tma_descriptor=new.tensor_map,
        coordinates=_innermost_first(build, new.coordinates),
        src_mem=Buffer.of(op.buffer, build).element_address(new.indices, build),
        l2_cache_hint=new.cache_hint,
        cache_hint_enable=new.cache_hint is not None,
    )


@converts(tma.TmaReduceOp)
def reduce(op: tma.TmaReduceOp, new: tma.TmaReduceOp, build: ConversionBuilder) -> Result:
    """Lower to a TMA reduction into the tensor."""
    return build.create(
        nvvm.TensorReduceOp,
        tma_descriptor=new.tensor_map,
        coordinates=_innermost_first(build, new.coordinates),
        src_mem=Buffer.of(op.buffer, build).element_address(new.indices, build),
        l2_cache_hint=new.cache_hint,
        red_kind=TMAReduxKind[op.kind.name],
        cache_hint_enable=new.cache_hint is not None,
    )


@converts(tma.TmaPrefetchOp)
def prefetch(op: tma.TmaPrefetchOp, new: tma.TmaPrefetchOp, build: ConversionBuilder) -> Result:
    """Lower to a TMA prefetch of a box into L2."""
    return build.create(
        nvvm.TensorPrefetchOp,
        tma_descriptor=new.tensor_map,
        coordinates=_innermost_first(build, new.coordinates),
        l2_cache_hint=new.cache_hint,
    )


@converts(tma.TmaCommitOp)
def commit(op: tma.TmaCommitOp, new: tma.TmaCommitOp, build: ConversionBuilder) -> Result:
    """Lower to `cp.async.bulk.commit_group`."""
    return build.create(copy.CpAsyncBulkCommitGroupOp)


@converts(tma.TmaWaitOp)
def wait(op: tma.TmaWaitOp, new: tma.TmaWaitOp, build: ConversionBuilder) -> Result:
    """Lower to `cp.async.bulk.wait_group`: wait until at most n groups are pending."""
    return build.create(copy.CpAsyncBulkWaitGroupOp, group=op.pending, read=op.read)


PATTERNS: Final[Patterns] = (load, store, reduce, prefetch, commit, wait)
