"""Barriers of CTAs, warps and clusters; fences; register counts, dependent launch, exit."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.llvm.constraints import INT32, pointer
from tilewright.dialects.llvm.types import PointerType
from tilewright.dialects.nvvm.attributes import (
    ACTION,
    GRID_DEP_ACTION,
    MEM_SCOPE,
    PROXY_KIND,
    SHARED_SPACE,
    ProxyKind,
)
from tilewright.dialects.nvvm.base import NvvmOp
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR, IntegerKind
from tilewright.ir.types import I32
from tilewright.target.resources import REALLOCATED


class Barrier0Op(NvvmOp):
    """Synchronize all threads of the CTA at barrier 0."""

    name = "nvvm.barrier0"
    syntax = "attr-dict"


class BarSyncAlignedOp(NvvmOp):
    """Synchronize all threads of the CTA at a barrier; warps must be converged."""

    name = "nvvm.bar.sync.aligned"
    syntax = "$barrier_id attr-dict `:` type($barrier_id)"

    barrier_id = d.operand(INT32)


class BarrierOp(NvvmOp):
    """Synchronize all threads or some warps of the CTA at one of sixteen barriers."""

    name = "nvvm.barrier"
    syntax = "(`id` `=` $barrier_id^)? (`number_of_threads` `=` $number_of_threads^)? attr-dict"

    barrier_id = d.optional_operand(INT32)
    number_of_threads = d.optional_operand(INT32)

    def verify(self) -> Iterator[str]:
        if self.number_of_threads is not None and self.barrier_id is None:
            yield "expected the id of a barrier with a number of threads"


class BarrierArriveOp(NvvmOp):
    """Arrive at a barrier without waiting."""

    name = "nvvm.barrier.arrive"
    syntax = "(`id` `=` $barrier_id^)? `number_of_threads` `=` $number_of_threads attr-dict"

    barrier_id = d.optional_operand(INT32)
    number_of_threads = d.operand(INT32)


class SyncWarpOp(NvvmOp):
    """Synchronize the lanes of the mask."""

    name = "nvvm.bar.warp.sync"
    syntax = "$mask attr-dict `:` type($mask)"

    mask = d.operand(INT32)


class ClusterArriveOp(NvvmOp):
    """Arrive at the barrier of the cluster, and release earlier writes."""

    name = "nvvm.cluster.arrive"
    syntax = "attr-dict"

    aligned = d.flag()
    """Whether all threads of a warp execute it converged."""


class ClusterArriveRelaxedOp(NvvmOp):
    """Arrive at the barrier of the cluster without ordering accesses."""

    name = "nvvm.cluster.arrive.relaxed"
    syntax = "attr-dict"

    aligned = d.flag()


class ClusterWaitOp(NvvmOp):
    """Wait until all threads of the cluster have arrived."""

    name = "nvvm.cluster.wait"
    syntax = "attr-dict"

    aligned = d.flag()


class MembarOp(NvvmOp):
    """Order earlier accesses of this thread before later ones, in a scope."""

    name = "nvvm.memory_barrier"
    syntax = "custom<Bracketed>($scope) attr-dict"

    scope = d.attribute(MEM_SCOPE)


class FenceScClusterOp(NvvmOp):
    """Sequentially consistent fence in the scope of the cluster."""

    name = "nvvm.fence.sc.cluster"
    syntax = "attr-dict"


class FenceMbarrierInitOp(NvvmOp):
    """Make initialized barriers visible to the cluster."""

    name = "nvvm.fence.mbarrier.init"
    syntax = "attr-dict"


class FenceProxyOp(NvvmOp):
    """Order accesses through different memory proxies."""

    name = "nvvm.fence.proxy"
    syntax = "attr-dict"

    kind = d.attribute(PROXY_KIND)
    space = d.optional_attribute(SHARED_SPACE)

    def verify(self) -> Iterator[str]:
        if self.kind in (ProxyKind.TENSORMAP, ProxyKind.GENERIC):
            yield f"cannot fence '{self.kind.keyword}' in both directions"
        elif (self.kind is ProxyKind.ASYNC__SHARED) != (self.space is not None):
            yield "expected a space if and only if the kind is 'async.shared'"


class FenceProxyAcquireOp(NvvmOp):
    """Acquire updates of the tensor map at an address for TMA."""

    name = "nvvm.fence.proxy.acquire"
    syntax = (
        "custom<Bracketed>($scope) $addr `,` $size "
        "(`from_proxy` `=` custom<Bracketed>($from_proxy)^)? "
        "(`to_proxy` `=` custom<Bracketed>($to_proxy)^)? attr-dict"
    )

    scope = d.attribute(MEM_SCOPE)
    addr = d.operand(pointer(0))
    size = d.operand(INT32)
    """The number of bytes, the constant 128."""
    from_proxy = d.attribute(PROXY_KIND, default=ProxyKind.GENERIC, spelling="fromProxy")
    to_proxy = d.attribute(PROXY_KIND, default=ProxyKind.TENSORMAP, spelling="toProxy")

    def verify(self) -> Iterator[str]:
        yield from _direction_problems(self.from_proxy, self.to_proxy)


class FenceProxyReleaseOp(NvvmOp):
    """Release updates of tensor maps to the TMA accesses of other threads."""

    name = "nvvm.fence.proxy.release"
    syntax = (
        "custom<Bracketed>($scope) (`from_proxy` `=` custom<Bracketed>($from_proxy)^)? "
        "(`to_proxy` `=` custom<Bracketed>($to_proxy)^)? attr-dict"
    )

    scope = d.attribute(MEM_SCOPE)
    from_proxy = d.attribute(PROXY_KIND, default=ProxyKind.GENERIC, spelling="fromProxy")
    to_proxy = d.attribute(PROXY_KIND, default=ProxyKind.TENSORMAP, spelling="toProxy")

    def verify(self) -> Iterator[str]:
        yield from _direction_problems(self.from_proxy, self.to_proxy)


def _direction_problems(before: ProxyKind, after: ProxyKind) -> Iterator[str]:
    if before is not ProxyKind.GENERIC or after is not ProxyKind.TENSORMAP:
        direction = f"'{before.keyword}' to '{after.keyword}'"
        yield f"expected a fence from 'generic' to 'tensormap', got {direction}"


class SetMaxRegisterOp(NvvmOp):
    """Increase or decrease the register count of a warpgroup's threads."""

    name = "nvvm.setmaxregister"
    syntax = "$action $reg_count attr-dict"

    reg_count = d.attribute(I32_ATTR, spelling="regCount")
    action = d.attribute(ACTION)

    def verify(self) -> Iterator[str]:
        count = self.reg_count
        if count not in REALLOCATED:
            least, most, step = REALLOCATED[0], REALLOCATED[-1], REALLOCATED.step
            yield f"expected a multiple of {step} from {least} to {most}, got {count}"


class GriddepcontrolOp(NvvmOp):
    """Wait for the prerequisite grids, or allow the dependent grids to launch."""

    name = "nvvm.griddepcontrol"
    syntax = "$kind attr-dict"

    kind = d.attribute(GRID_DEP_ACTION)


class NanosleepOp(NvvmOp):
    """Suspend the thread for about `duration` nanoseconds."""

    name = "nvvm.nanosleep"
    syntax = "attr-dict $duration"

    duration = d.attribute(IntegerKind(I32, 1))

    def verify(self) -> Iterator[str]:
        if self.duration > 1_000_000:
            yield f"expected at most a millisecond, got {self.duration} ns"


class ExitOp(NvvmOp):
    """Exit the thread."""

    name = "nvvm.exit"
    syntax = "attr-dict"


class MapaOp(NvvmOp):
    """Map a shared address to the same variable in another CTA of the cluster."""

    name = "nvvm.mapa"
    syntax = "$a `,` $b attr-dict `:` type($a) `->` type($res)"

    a = d.operand(pointer(0, 3))
    b = d.operand(INT32)
    """The rank of the CTA."""
    res = d.result(pointer(0, 7))

    def verify(self) -> Iterator[str]:
        a, res = self.a.type, self.res.type
        assert isinstance(a, PointerType)
        assert isinstance(res, PointerType)
        spaces = (a.space, res.space)
        if spaces not in ((3, 7), (0, 0)):
            yield f"expected address spaces 3 and 7, or 0 and 0, got {spaces[0]} and {spaces[1]}"
