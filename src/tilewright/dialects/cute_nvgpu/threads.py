"""Synchronization of warps, warpgroups, blocks and clusters; bulk copies; stmatrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.cute_nvgpu.attributes import (
    PROXY_SPACE,
    REGISTER_ACTION,
    ProxySpace,
)
from tilewright.dialects.elements import (
    ANY_VECTOR,
    I1_TYPE,
    I32_TYPE,
    INDEX_TYPE,
    RANKED_MEMREF,
    memref,
    vector,
)
from tilewright.dialects.gpu.attributes import in_shared_memory
from tilewright.dialects.llvm.constraints import pointer
from tilewright.dialects.memref.access import index_count_problems
from tilewright.dialects.nvgpu.constraints import BARRIERS, bits_of
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects
from tilewright.target.resources import REALLOCATED

GLOBAL: Final = pointer(1)
SHARED: Final = pointer(3)


class ElectOneOp(Operation):
    """Return true for one thread of the warp, which must be converged."""

    name = "cute_nvgpu.elect_one"
    effects = Effects.NONE
    syntax = "attr-dict"

    result = d.result(I1_TYPE)


class WarpSyncOp(Operation):
    """Synchronize the threads of a warp, and order their memory accesses."""

    name = "cute_nvgpu.warp_sync"
    syntax = "attr-dict"


class NamedBarrierOp(Operation):
    """Base of the named barriers: barrier id and number of threads.

    Barrier 0 is that of the whole block. The threads of a warp must be converged.
    """

    barrier = d.operand(I32_TYPE)
    threads = d.operand(I32_TYPE)


class NamedBarrierSyncOp(NamedBarrierOp):
    """Arrive at a named barrier, and wait until `threads` threads have arrived."""

    name = "cute_nvgpu.named_barrier.sync"
    syntax = "$barrier `,` $threads attr-dict"


class NamedBarrierArriveOp(NamedBarrierOp):
    """Arrive at a named barrier without waiting."""

    name = "cute_nvgpu.named_barrier.arrive"
    syntax = "$barrier `,` $threads attr-dict"


class ClusterArriveOp(Operation):
    """Arrive at the barrier of the cluster.

    `aligned` requires that the threads of a warp are converged; `relaxed` orders no memory
    accesses.
    """

    name = "cute_nvgpu.cluster.arrive"
    syntax = "(`aligned` $aligned^)? (`relaxed` $relaxed^)? attr-dict"

    aligned = d.flag()
    relaxed = d.flag()


class ClusterWaitOp(Operation):
    """Wait until all threads of the cluster have arrived."""

    name = "cute_nvgpu.cluster.wait"
    syntax = "(`aligned` $aligned^)? attr-dict"

    aligned = d.flag()


class SetMaxRegistersOp(Operation):
    """Set the number of registers per thread of a warpgroup (`setmaxnreg`)."""

    name = "cute_nvgpu.set_max_registers"
    syntax = "$action $count attr-dict"

    action = d.attribute(REGISTER_ACTION)
    count = d.attribute(I32_ATTR)

    def verify(self) -> Iterator[str]:
        if self.count not in REALLOCATED:
            bounds = f"{REALLOCATED[0]} to {REALLOCATED[-1]}"
            yield f"expected a multiple of 8 in {bounds}, got {self.count}"


class FenceProxyAsyncOp(Operation):
    """Order earlier writes of this thread before later accesses through the async proxy."""

    name = "cute_nvgpu.fence.proxy_async"
    syntax = "$space attr-dict"

    space = d.attribute(PROXY_SPACE, default=ProxySpace.ALL)


class FenceMBarrierInitOp(Operation):
    """Make initialized barriers visible to the cluster and to the async proxy."""

    name = "cute_nvgpu.fence.mbarrier_init"
    syntax = "attr-dict"


class MBarrierArriveRemoteOp(Operation):
    """Arrive at the barrier of the same offset in another block of the cluster.

    It does not publish writes of this thread: it signals that a stage was read.
    """

    name = "cute_nvgpu.mbarrier.arrive_remote"
    syntax = "$barriers `[` $mbar_id `]` `,` $block attr-dict `:` type($barriers)"

    barriers = d.operand(BARRIERS)
    mbar_id = d.operand(INDEX_TYPE)
    block = d.operand(I32_TYPE)


class MBarrierArriveOnCopiesOp(Operation):
    """Arrive at a barrier when all `cp.async` of this thread have completed.

    The arrival is part of the barrier's arrival count.
    """

    name = "cute_nvgpu.mbarrier.arrive_on_copies"
    syntax = "$barriers `[` $mbar_id `]` attr-dict `:` type($barriers)"

    barriers = d.operand(BARRIERS)
    mbar_id = d.operand(INDEX_TYPE)


class MBarrierExpectTxOp(Operation):
    """Add to the expected bytes of the current phase of a barrier, without an arrival."""

    name = "cute_nvgpu.mbarrier.expect_tx"
    syntax = "$barriers `[` $mbar_id `]` `,` $txcount attr-dict `:` type($barriers)"

    barriers = d.operand(BARRIERS)
    mbar_id = d.operand(INDEX_TYPE)
    txcount = d.operand(INDEX_TYPE)


class MBarrierInvalidateOp(Operation):
    """Invalidate a barrier, so that its memory can be reused."""

    name = "cute_nvgpu.mbarrier.invalidate"
    syntax = "$barriers `[` $mbar_id `]` attr-dict `:` type($barriers)"

    barriers = d.operand(BARRIERS)
    mbar_id = d.operand(INDEX_TYPE)


class BulkLoadOp(Operation):
    """Copy bytes from global to shared memory (`cp.async.bulk`), completing at a barrier.

    One thread issues it. Both addresses and the number of bytes are multiples of 16.
    """

    name = "cute_nvgpu.bulk.load"
    syntax = (
        "$source `,` $barriers `[` $mbar_id `]` `to` $target `,` $bytes attr-dict "
        "`:` type($source) `,` type($barriers) `to` type($target)"
    )

    source = d.operand(GLOBAL)
    target = d.operand(SHARED)
    barriers = d.operand(BARRIERS)
    mbar_id = d.operand(INDEX_TYPE)
    bytes = d.attribute(I32_ATTR)

    def verify(self) -> Iterator[str]:
        if self.bytes <= 0 or self.bytes % 16:
            yield f"expected a multiple of 16 bytes, got {self.bytes}"


class GridLaunchDependentsOp(Operation):
    """Allow the dependent grid to launch (programmatic dependent launch)."""

    name = "cute_nvgpu.grid.launch_dependents"
    syntax = "attr-dict"


class GridWaitOp(Operation):
    """Wait until the prerequisite grids have completed, and acquire their writes."""

    name = "cute_nvgpu.grid.wait"
    syntax = "attr-dict"


class SmIdOp(Operation):
    """Return the id of the SM that runs this block; it may change."""

    name = "cute_nvgpu.sm_id"
    effects = Effects.NONE
    syntax = "attr-dict"

    result = d.result(I32_TYPE)


class NanosleepOp(Operation):
    """Suspend the thread for about `duration` nanoseconds."""

    name = "cute_nvgpu.nanosleep"
    syntax = "$duration attr-dict"

    duration = d.operand(I32_TYPE)


class StMatrixOp(Operation):
    """Store fragments of 8x8 matrices to shared memory, the inverse of `nvgpu.ldmatrix`.

    Each lane gives the address of a row: the first eight lanes for the first matrix, and so on.
    """

    name = "cute_nvgpu.stmatrix"
    effects = Effects.WRITE
    syntax = (
        "$fragments `,` $buffer `[` $indices `]` (`transpose` $transpose^)? attr-dict "
        "`:` type($fragments) `,` type($buffer)"
    )

    fragments = d.operand(ANY_VECTOR)
    buffer = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    transpose = d.flag()

    def verify(self) -> Iterator[str]:
        fragments, buffer = vector(self.fragments), memref(self.buffer)
        yield from index_count_problems(buffer, self.indices)
        if not in_shared_memory(buffer):
            yield f"expected a buffer in shared memory, got '{buffer}'"
        if fragments.element is not buffer.element:
            yield f"expected fragments of '{buffer.element}', got '{fragments}'"
        tiles = fragments.shape[0] if fragments.shape else 0
        is_pair = fragments.shape[1:] == (2,) and bits_of(fragments.element) == 16
        if tiles not in (1, 2, 4) or not is_pair:
            yield f"expected 1, 2 or 4 pairs of 16-bit elements, got '{fragments}'"
