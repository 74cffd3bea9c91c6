"""How warps, warpgroups and blocks work together, and what a fragment of a matrix becomes."""

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

GLOBAL: Final = pointer(1)
SHARED: Final = pointer(3)
MIN_REGISTERS: Final = 24
MAX_REGISTERS: Final = 256


class ElectOneOp(Operation):
    """True for one thread of the warp, which must be together."""

    name = "cute_nvgpu.elect_one"
    effects = Effects.NONE
    syntax = "attr-dict"

    result = d.result(I1_TYPE)


class WarpSyncOp(Operation):
    """All threads of the warp wait for each other, and see what the others wrote."""

    name = "cute_nvgpu.warp_sync"
    syntax = "attr-dict"


class NamedBarrierOp(Operation):
    """Base of the barriers of a part of the block: which one, and how many threads it has.

    Barrier 0 is that of the whole block. The threads of each warp come together.
    """

    barrier = d.operand(I32_TYPE)
    threads = d.operand(I32_TYPE)


class NamedBarrierSyncOp(NamedBarrierOp):
    """Arrives at a barrier, and waits until so many threads have."""

    name = "cute_nvgpu.named_barrier.sync"
    syntax = "$barrier `,` $threads attr-dict"


class NamedBarrierArriveOp(NamedBarrierOp):
    """Arrives at a barrier without waiting."""

    name = "cute_nvgpu.named_barrier.arrive"
    syntax = "$barrier `,` $threads attr-dict"


class ClusterArriveOp(Operation):
    """Arrives at the barrier of the cluster.

    `aligned` promises that the threads of each warp come together, `relaxed` that nobody needs to
    see what was written before.
    """

    name = "cute_nvgpu.cluster.arrive"
    syntax = "(`aligned` $aligned^)? (`relaxed` $relaxed^)? attr-dict"

    aligned = d.flag()
    relaxed = d.flag()


class ClusterWaitOp(Operation):
    """Waits until all threads of the cluster have arrived."""

    name = "cute_nvgpu.cluster.wait"
    syntax = "(`aligned` $aligned^)? attr-dict"

    aligned = d.flag()


class SetMaxRegistersOp(Operation):
    """Gives a warpgroup so many registers a thread, taken from others or left to them."""

    name = "cute_nvgpu.set_max_registers"
    syntax = "$action $count attr-dict"

    action = d.attribute(REGISTER_ACTION)
    count = d.attribute(I32_ATTR)

    def verify(self) -> Iterator[str]:
        if self.count % 8 or not MIN_REGISTERS <= self.count <= MAX_REGISTERS:
            bounds = f"{MIN_REGISTERS} to {MAX_REGISTERS}"
            yield f"expected a multiple of 8 in {bounds}, got {self.count}"


class FenceProxyAsyncOp(Operation):
    """Asynchronous copies that follow see what this thread wrote."""

    name = "cute_nvgpu.fence.proxy_async"
    syntax = "$space attr-dict"

    space = d.attribute(PROXY_SPACE, default=ProxySpace.ALL)


class FenceMBarrierInitOp(Operation):
    """The cluster and its copies see the barriers that this thread has made ready."""

    name = "cute_nvgpu.fence.mbarrier_init"
    syntax = "attr-dict"


class MBarrierArriveRemoteOp(Operation):
    """Arrives at the barrier of the same place in another block of the cluster.

    It shows nothing that this thread wrote: it says that a stage has been read.
    """

    name = "cute_nvgpu.mbarrier.arrive_remote"
    syntax = "$barriers `[` $mbar_id `]` `,` $block attr-dict `:` type($barriers)"

    barriers = d.operand(BARRIERS)
    mbar_id = d.operand(INDEX_TYPE)
    block = d.operand(I32_TYPE)


class MBarrierArriveOnCopiesOp(Operation):
    """Arrives at a barrier when all copies that this thread has started by itself are done.

    The arrival is one of those that the barrier was made for.
    """

    name = "cute_nvgpu.mbarrier.arrive_on_copies"
    syntax = "$barriers `[` $mbar_id `]` attr-dict `:` type($barriers)"

    barriers = d.operand(BARRIERS)
    mbar_id = d.operand(INDEX_TYPE)


class MBarrierExpectTxOp(Operation):
    """The phase of a barrier waits for so many more bytes; nobody arrives by that."""

    name = "cute_nvgpu.mbarrier.expect_tx"
    syntax = "$barriers `[` $mbar_id `]` `,` $txcount attr-dict `:` type($barriers)"

    barriers = d.operand(BARRIERS)
    mbar_id = d.operand(INDEX_TYPE)
    txcount = d.operand(INDEX_TYPE)


class MBarrierInvalidateOp(Operation):
    """Ends a barrier, so that another may be made in its place."""

    name = "cute_nvgpu.mbarrier.invalidate"
    syntax = "$barriers `[` $mbar_id `]` attr-dict `:` type($barriers)"

    barriers = d.operand(BARRIERS)
    mbar_id = d.operand(INDEX_TYPE)


class BulkLoadOp(Operation):
    """Copies bytes from global to shared memory; the barrier counts them. One thread issues it.

    Both addresses and the number of bytes are multiples of 16.
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
    """Lets the next grid start, as far as this block is concerned."""

    name = "cute_nvgpu.grid.launch_dependents"
    syntax = "attr-dict"


class GridWaitOp(Operation):
    """Waits until the grids before are done, and shows what they wrote."""

    name = "cute_nvgpu.grid.wait"
    syntax = "attr-dict"


class SmIdOp(Operation):
    """The number of the multiprocessor that runs this block; a hint, nothing more."""

    name = "cute_nvgpu.sm_id"
    effects = Effects.NONE
    syntax = "attr-dict"

    result = d.result(I32_TYPE)


class NanosleepOp(Operation):
    """Pauses the thread for about so many nanoseconds."""

    name = "cute_nvgpu.nanosleep"
    syntax = "$duration attr-dict"

    duration = d.operand(I32_TYPE)


class StMatrixOp(Operation):
    """Writes fragments of 8 by 8 matrices to shared memory, as `nvgpu.ldmatrix` reads them.

    Each lane says where a row goes: the first eight lanes for the first matrix, and so on.
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
