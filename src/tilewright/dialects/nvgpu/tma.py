"""TMA copies of boxes between global tensors and shared memory, and tensor maps."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.elements import (
    ANY_MEMREF,
    I1_TYPE,
    I16_TYPE,
    I64_TYPE,
    INDEX_TYPE,
    RANKED_MEMREF,
    memref,
)
from tilewright.dialects.gpu.attributes import is_shared
from tilewright.dialects.nvgpu.constraints import (
    BARRIERS,
    TENSOR_MAP,
    box_problems,
    coordinate_problems,
    map_problems,
    tensor_map,
)
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects
from tilewright.ir.types import MemRefType
from tilewright.target.engines import TMA


class TmaAsyncLoadOp(Operation):
    """Start a copy of a box to shared memory, which completes transactions of the barrier.

    The coordinates are those of the first element, innermost dimension first, as in the
    instruction. With a mask the box is multicast to the same offset in every block of the cluster
    whose bit is set, and signals the barrier at the same offset there.
    """

    name = "nvgpu.tma.async.load"
    syntax = (
        "$tensor_map_descriptor `[` $coordinates `]` `,` $barriers `[` $mbar_id `]` `to` $dst "
        "(`multicast_mask` `=` $multicast_mask^)? (`,` `predicate` `=` $predicate^)? "
        "(`l2_cache_hint` `=` $l2_cache_hint^)? attr-dict "
        "`:` type($tensor_map_descriptor) `,` type($barriers) `->` type($dst)"
    )

    dst = d.operand(RANKED_MEMREF)
    barriers = d.operand(BARRIERS)
    tensor_map_descriptor = d.operand(TENSOR_MAP)
    coordinates = d.operands(INDEX_TYPE)
    mbar_id = d.operand(INDEX_TYPE)
    multicast_mask = d.optional_operand(I16_TYPE)
    predicate = d.optional_operand(I1_TYPE)
    l2_cache_hint = d.optional_operand(I64_TYPE)

    def verify(self) -> Iterator[str]:
        map = tensor_map(self.tensor_map_descriptor)
        yield from box_problems(map, memref(self.dst))
        yield from coordinate_problems(map, self.coordinates)


class TmaAsyncStoreOp(Operation):
    """Start a copy of a box from shared memory to the tensor; coordinates as of a load."""

    name = "nvgpu.tma.async.store"
    syntax = (
        "$src `to` $tensor_map_descriptor `[` $coordinates `]` "
        "(`,` `predicate` `=` $predicate^)? (`l2_cache_hint` `=` $l2_cache_hint^)? attr-dict "
        "`:` type($src) `->` type($tensor_map_descriptor)"
    )

    src = d.operand(RANKED_MEMREF)
    tensor_map_descriptor = d.operand(TENSOR_MAP)
    coordinates = d.operands(INDEX_TYPE)
    predicate = d.optional_operand(I1_TYPE)
    l2_cache_hint = d.optional_operand(I64_TYPE)

    def verify(self) -> Iterator[str]:
        map = tensor_map(self.tensor_map_descriptor)
        yield from box_problems(map, memref(self.src))
        yield from coordinate_problems(map, self.coordinates)


class TmaCreateDescriptorOp(Operation):
    """Create the tensor map of a tensor in global memory, for boxes of this shape.

    Extents of the box are in the order of the tensor, outermost dimension first. The result holds
    the arguments of the driver's encoder in local memory, which copies cannot read.
    """

    name = "nvgpu.tma.create.descriptor"
    effects = Effects.PURE
    syntax = (
        "$tensor `box` `[` $box_dimensions `]` attr-dict `:` type($tensor) `->` type($tensor_map)"
    )

    tensor = d.operand(ANY_MEMREF)
    box_dimensions = d.operands(INDEX_TYPE)
    tensor_map = d.result(TENSOR_MAP)

    def verify(self) -> Iterator[str]:
        map, tensor = tensor_map(self.tensor_map), self.tensor.type
        assert isinstance(tensor, MemRefType)
        yield from map_problems(map)
        rank = len(map.tensor.shape or ())
        if is_shared(tensor.space):
            yield f"expected a tensor in global memory, got '{tensor}'"
        if tensor.element is not map.tensor.element:
            actual = f"'{tensor.element}'"
            yield f"expected elements of type '{map.tensor.element}' like the box, got {actual}"
        if tensor.shape is not None and len(tensor.shape) != rank:
            yield f"expected a tensor of rank {rank} like the box, got '{tensor}'"
        if len(self.box_dimensions) not in range(1, TMA.max_rank + 1):
            count = len(self.box_dimensions)
            yield f"expected 1 to {TMA.max_rank} box dimensions, got {count}"
        elif len(self.box_dimensions) != rank:
            yield f"expected {rank} box dimensions, got {len(self.box_dimensions)}"


class TmaPrefetchOp(Operation):
    """Prefetch a tensor map."""

    name = "nvgpu.tma.prefetch.descriptor"
    syntax = (
        "$tensor_map_descriptor (`,` `predicate` `=` $predicate^)? attr-dict "
        "`:` type($tensor_map_descriptor)"
    )

    tensor_map_descriptor = d.operand(TENSOR_MAP)
    predicate = d.optional_operand(I1_TYPE)


class TmaFenceOp(Operation):
    """Acquire fence: later copies see earlier writes to the tensor map."""

    name = "nvgpu.tma.fence.descriptor"
    syntax = "$tensor_map_descriptor attr-dict `:` type($tensor_map_descriptor)"

    tensor_map_descriptor = d.operand(TENSOR_MAP)
