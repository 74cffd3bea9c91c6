"""Synchronization of warps, warpgroups, blocks and clusters: cute_nvgpu to NVVM."""

from __future__ import annotations

from typing import Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer
from tilewright.conversion.nvgpu_to_nvvm.fragments import unpack_registers
from tilewright.conversion.nvgpu_to_nvvm.mbarrier import barrier_address
from tilewright.conversion.nvgpu_to_nvvm.numbers import constant, resized
from tilewright.dialects.cute_nvgpu import threads
from tilewright.dialects.cute_nvgpu.attributes import ProxySpace
from tilewright.dialects.llvm.calls import CallIntrinsicOp
from tilewright.dialects.llvm.types import PTR_CLUSTER
from tilewright.dialects.nvvm import copy, matrix, mbarrier, sync, warp
from tilewright.dialects.nvvm.attributes import (
    GridDepAction,
    MemScope,
    MMALayout,
    ProxyKind,
    SetMaxRegisterAction,
    SharedSpace,
)
from tilewright.dialects.nvvm.registers import REGISTERS
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I1, I32

ALL_LANES: Final = -1
NANOSLEEP: Final = "llvm.nvvm.nanosleep"


@converts(threads.ElectOneOp)
def elect(op: threads.ElectOneOp, new: threads.ElectOneOp, build: ConversionBuilder) -> Result:
    """Lower to `elect.sync` over all lanes."""
    return build.create(warp.ElectSyncOp, types=[I1])


@converts(threads.WarpSyncOp)
def warp_sync(op: threads.WarpSyncOp, new: threads.WarpSyncOp, build: ConversionBuilder) -> Result:
    """Lower to `bar.warp.sync` of all lanes."""
    return build.create(sync.SyncWarpOp, mask=constant(build, ALL_LANES, I32))


@converts(threads.NamedBarrierSyncOp)
def named_sync(
    op: threads.NamedBarrierSyncOp, new: threads.NamedBarrierSyncOp, build: ConversionBuilder
) -> Result:
    """Lower to `barrier.sync` with an id and a number of threads."""
    return build.create(sync.BarrierOp, barrier_id=new.barrier, number_of_threads=new.threads)


@converts(threads.NamedBarrierArriveOp)
def named_arrive(
    op: threads.NamedBarrierArriveOp, new: threads.NamedBarrierArriveOp, build: ConversionBuilder
) -> Result:
    """Lower to `barrier.arrive`."""
    return build.create(sync.BarrierArriveOp, barrier_id=new.barrier, number_of_threads=new.threads)


@converts(threads.ClusterArriveOp)
def cluster_arrive(
    op: threads.ClusterArriveOp, new: threads.ClusterArriveOp, build: ConversionBuilder
) -> Result:
    """Lower to `barrier.cluster.arrive`."""
    kind = sync.ClusterArriveRelaxedOp if op.relaxed else sync.ClusterArriveOp
    return build.create(kind, aligned=op.aligned)


@converts(threads.ClusterWaitOp)
def cluster_wait(
    op: threads.ClusterWaitOp, new: threads.ClusterWaitOp, build: ConversionBuilder
) -> Result:
    """Lower to `barrier.cluster.wait`."""
    return build.create(sync.ClusterWaitOp, aligned=op.aligned)


@converts(threads.SetMaxRegistersOp)
def set_max_registers(
    op: threads.SetMaxRegistersOp, new: threads.SetMaxRegistersOp, build: ConversionBuilder
) -> Result:
    """Lower to `setmaxnreg`."""
    action = SetMaxRegisterAction[op.action.name]
    return build.create(sync.SetMaxRegisterOp, reg_count=op.count, action=action)


_PROXIES: Final = {
    ProxySpace.ALL: (ProxyKind.ASYNC, None),
    ProxySpace.GLOBAL: (ProxyKind.ASYNC__GLOBAL, None),
    ProxySpace.SHARED_CTA: (ProxyKind.ASYNC__SHARED, SharedSpace.CTA),
    ProxySpace.SHARED_CLUSTER: (ProxyKind.ASYNC__SHARED, SharedSpace.CLUSTER),
}


@converts(threads.FenceProxyAsyncOp)
def fence_proxy_async(
    op: threads.FenceProxyAsyncOp, new: threads.FenceProxyAsyncOp, build: ConversionBuilder
) -> Result:
    """Lower to `fence.proxy.async` of a state space."""
    kind, space = _PROXIES[op.space]
    return build.create(sync.FenceProxyOp, kind=kind, space=space)


@converts(threads.FenceMBarrierInitOp)
def fence_mbarrier_init(
    op: threads.FenceMBarrierInitOp, new: threads.FenceMBarrierInitOp, build: ConversionBuilder
) -> Result:
    """Lower to `fence.mbarrier_init`."""
    return build.create(sync.FenceMbarrierInitOp)


@converts(threads.MBarrierArriveRemoteOp)
def arrive_remote(
    op: threads.MBarrierArriveRemoteOp,
    new: threads.MBarrierArriveRemoteOp,
    build: ConversionBuilder,
) -> Result:
    """Lower to an arrival at the barrier of another block, with CTA scope.

    A wider scope would make the arrival a fence of that scope.
    """
    local = barrier_address(new.barriers, new.mbar_id, build)
    remote = build.create(sync.MapaOp, a=local, b=new.block, types=[PTR_CLUSTER]).res
    return build.create(
        mbarrier.MBarrierArriveClusterOp,
        scope=MemScope.CTA,
        addr=remote,
        count=constant(build, 1, I32),
    )


@converts(threads.MBarrierArriveOnCopiesOp)
def arrive_on_copies(
    op: threads.MBarrierArriveOnCopiesOp,
    new: threads.MBarrierArriveOnCopiesOp,
    build: ConversionBuilder,
) -> Result:
    """Lower to `cp.async.mbarrier.arrive.noinc`: the expected count includes this arrival."""
    address = barrier_address(new.barriers, new.mbar_id, build)
    return build.create(copy.CpAsyncMBarrierArriveOp, addr=address, noinc=True)


@converts(threads.MBarrierExpectTxOp)
def expect_tx(
    op: threads.MBarrierExpectTxOp, new: threads.MBarrierExpectTxOp, build: ConversionBuilder
) -> Result:
    """Lower to `mbarrier.expect_tx`."""
    return build.create(
        mbarrier.MBarrierExpectTxOp,
        addr=barrier_address(new.barriers, new.mbar_id, build),
        txcount=resized(build, new.txcount, I32),
    )


@converts(threads.MBarrierInvalidateOp)
def invalidate(
    op: threads.MBarrierInvalidateOp, new: threads.MBarrierInvalidateOp, build: ConversionBuilder
) -> Result:
    """Lower to `mbarrier.inval`."""
    address = barrier_address(new.barriers, new.mbar_id, build)
    return build.create(mbarrier.MBarrierInvalSharedOp, addr=address)


@converts(threads.BulkLoadOp)
def bulk_load(op: threads.BulkLoadOp, new: threads.BulkLoadOp, build: ConversionBuilder) -> Result:
    """Lower to `cp.async.bulk`, which completes transactions of the barrier."""
    return build.create(
        copy.CpAsyncBulkGlobalToSharedClusterOp,
        dst_mem=new.target,
        src_mem=new.source,
        mbar=barrier_address(new.barriers, new.mbar_id, build),
        size=constant(build, op.bytes, I32),
    )


@converts(threads.GridLaunchDependentsOp)
def launch_dependents(
    op: threads.GridLaunchDependentsOp,
    new: threads.GridLaunchDependentsOp,
    build: ConversionBuilder,
) -> Result:
    """Lower to `griddepcontrol.launch_dependents`."""
    return build.create(sync.GriddepcontrolOp, kind=GridDepAction.LAUNCH_DEPENDENTS)


@converts(threads.GridWaitOp)
def grid_wait(op: threads.GridWaitOp, new: threads.GridWaitOp, build: ConversionBuilder) -> Result:
    """Lower to `griddepcontrol.wait`."""
    return build.create(sync.GriddepcontrolOp, kind=GridDepAction.WAIT)


@converts(threads.SmIdOp)
def sm_id(op: threads.SmIdOp, new: threads.SmIdOp, build: ConversionBuilder) -> Result:
    """Lower to a read of `%smid`."""
    return build.create(REGISTERS["smid"])


@converts(threads.NanosleepOp)
def nanosleep(
    op: threads.NanosleepOp, new: threads.NanosleepOp, build: ConversionBuilder
) -> Result:
    """Lower to the intrinsic: the NVVM operation takes only a constant duration."""
    return build.create(CallIntrinsicOp, intrin=NANOSLEEP, args=[new.duration], types=[])


@converts(threads.StMatrixOp)
def stmatrix(op: threads.StMatrixOp, new: threads.StMatrixOp, build: ConversionBuilder) -> Result:
    """Lower to `stmatrix` with one register per matrix."""
    return build.create(
        matrix.StMatrixOp,
        ptr=Buffer.of(op.buffer, build).element_address(new.indices, build),
        sources=unpack_registers(build, new.fragments, I32),
        layout=MMALayout.COL if op.transpose else MMALayout.ROW,
    )


PATTERNS: Final[Patterns] = (
    elect,
    warp_sync,
    named_sync,
    named_arrive,
    cluster_arrive,
    cluster_wait,
    set_max_registers,
    fence_proxy_async,
    fence_mbarrier_init,
    arrive_remote,
    arrive_on_copies,
    expect_tx,
    invalidate,
    bulk_load,
    launch_dependents,
    grid_wait,
    sm_id,
    nanosleep,
    stmatrix,
)
