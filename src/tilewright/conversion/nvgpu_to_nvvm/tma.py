"""nvgpu's TMA copies to NVVM, and prefetch and fence of tensor maps."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer
from tilewright.conversion.nvgpu_to_nvvm.mbarrier import barrier_address
from tilewright.conversion.nvgpu_to_nvvm.numbers import constant, resized
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.gpu.structure import GPUFuncOp
from tilewright.dialects.nvgpu import tma
from tilewright.dialects.nvvm import tma as nvvm
from tilewright.dialects.nvvm.attributes import MemScope
from tilewright.dialects.nvvm.copy import PrefetchOp
from tilewright.dialects.nvvm.sync import FenceProxyAcquireOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I32
from tilewright.ir.values import BlockArgument
from tilewright.support.tensor_map_parameters import MAP_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def box_address(tile: Value, build: ConversionBuilder) -> Value:
    """Compute the address of the first element of a memref in shared memory."""
    buffer = Buffer.of(tile, build)
    return buffer.element_address([0] * len(buffer.sizes), build)


def coordinates(numbers: Sequence[Value], build: ConversionBuilder) -> list[Value]:
    """Convert coordinates to i32."""
    return [resized(build, number, I32) for number in numbers]


def is_parameter(map: Value) -> bool:
    """Return whether a tensor map of the source program is a parameter of its kernel."""
    if not isinstance(map, BlockArgument):
        return False
    function = map.parent_block.parent_op
    return isinstance(function, GPUFuncOp) and function.kernel and map in function.arguments


def cluster_size(op: Operation) -> int | None:
    """Return the cluster size of the kernel around an operation, or `None` if it is not known."""
    function = op.parent_op
    while function is not None and not isinstance(function, GPUFuncOp):
        function = function.parent_op
    sizes = None if function is None else function.known_cluster_size
    return None if sizes is None else prod(sizes)


def _mask_problem(op: tma.TmaAsyncLoadOp) -> str | None:
    """Check a constant multicast mask: not empty, and only blocks of the cluster."""
    made = None if op.multicast_mask is None else op.multicast_mask.defining_op()
    if not isinstance(made, ConstantOp) or not isinstance(made.value, IntegerAttr):
        return None
    mask, size = made.value.value & 0xFFFF, cluster_size(op)
    if mask == 0:
        return "expected a nonzero multicast mask, got 0"
    if size is not None and mask >> size:
        return f"expected a multicast mask for {size} blocks, got {mask:#x}"
    return None


@converts(tma.TmaAsyncLoadOp)
def load(op: tma.TmaAsyncLoadOp, new: tma.TmaAsyncLoadOp, build: ConversionBuilder) -> Result:
    """Lower to a TMA load; optional operands that are absent stay absent."""
    problem = _mask_problem(op)
    if problem is not None:
        return build.reject(problem)
    return build.create(
        nvvm.TensorLoadOp,
        dst_mem=box_address(op.dst, build),
        tma_descriptor=new.tensor_map_descriptor,
        coordinates=coordinates(new.coordinates, build),
        mbar=barrier_address(new.barriers, new.mbar_id, build),
        multicast_mask=new.multicast_mask,
        l2_cache_hint=new.l2_cache_hint,
        predicate=new.predicate,
        multicast_enable=new.multicast_mask is not None,
        cache_hint_enable=new.l2_cache_hint is not None,
    )


@converts(tma.TmaAsyncStoreOp)
def store(op: tma.TmaAsyncStoreOp, new: tma.TmaAsyncStoreOp, build: ConversionBuilder) -> Result:
    """Lower to a TMA store of a box."""
    return build.create(
        nvvm.TensorStoreOp,
        tma_descriptor=new.tensor_map_descriptor,
        coordinates=coordinates(new.coordinates, build),
        src_mem=box_address(op.src, build),
        l2_cache_hint=new.l2_cache_hint,
        predicate=new.predicate,
        cache_hint_enable=new.l2_cache_hint is not None,
    )


@converts(tma.TmaPrefetchOp)
def prefetch(op: tma.TmaPrefetchOp, new: tma.TmaPrefetchOp, build: ConversionBuilder) -> Result:
    """Lower to a prefetch of the tensor map."""
    return build.create(
        PrefetchOp,
        addr=new.tensor_map_descriptor,
        predicate=new.predicate,
        tensormap=True,
        in_param_space=is_parameter(op.tensor_map_descriptor),
    )


@converts(tma.TmaFenceOp)
def fence(op: tma.TmaFenceOp, new: tma.TmaFenceOp, build: ConversionBuilder) -> Result:
    """Lower to an acquire fence of the tensormap proxy, with system scope for host writes."""
    return build.create(
        FenceProxyAcquireOp,
        scope=MemScope.SYS,
        addr=new.tensor_map_descriptor,
        size=constant(build, MAP_BYTES, I32),
    )


PATTERNS: Final[Patterns] = (load, store, prefetch, fence)
