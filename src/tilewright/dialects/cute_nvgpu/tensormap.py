"""Tensor maps that a kernel makes for itself, and the slots in global memory that they live in.

A launcher that passes only pointers passes no tensor maps. The kernel fills one in shared memory
(`fill`, on 128 bytes of zeros), and a warp copies it to a slot in global memory (`publish`), from
where the copies follow it (`at`, behind an `nvgpu.tma.fence.descriptor`). A slot belongs to one
block at a time: the word that locks it counts those who still need it.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.attributes import SCOPE, Scope
from tilewright.dialects.elements import (
    I1_TYPE,
    I32_TYPE,
    I64_TYPE,
    INDEX_TYPE,
    RANKED_MEMREF,
    memref,
)
from tilewright.dialects.gpu.attributes import in_shared_memory, is_global
from tilewright.dialects.memref.access import index_count_problems
from tilewright.dialects.nvgpu.constraints import MAX_RANK, TENSOR_MAP, bits_of, tensor_map
from tilewright.dialects.nvgpu.types import TensorMapDescriptorType
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR, TYPE_ATTR
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects
from tilewright.ir.types import DYNAMIC, I32


def _count_problems(map: TensorMapDescriptorType, sizes: int, strides: int) -> Iterator[str]:
    rank = len(map.tensor.shape or ())
    if not 1 <= rank <= MAX_RANK:
        yield f"expected a box of rank 1 to {MAX_RANK}, got '{map.tensor}'"
    elif (sizes, strides) != (rank, rank - 1):
        yield f"expected {rank} sizes and {rank - 1} strides, got {sizes} and {strides}"


class TensorMapFillOp(Operation):
    """Writes all fields of a tensor map over 128 bytes of zeros in shared memory.

    The tensor starts at the address, a multiple of 16; its sizes count elements, outermost
    dimension first, its strides bytes, multiples of 16, of all dimensions but the last. The type
    says the rest; extents of the box that it leaves open are given.
    """

    name = "cute_nvgpu.tensormap.fill"
    syntax = (
        "$storage `[` $indices `]` `,` $address `sizes` `[` $sizes `]` `strides` `[` $strides `]` "
        "(`box` `[` $box^ `]`)? attr-dict `:` type($storage) `,` $map"
    )

    storage = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    address = d.operand(I64_TYPE)
    sizes = d.operands(I32_TYPE)
    strides = d.operands(I64_TYPE)
    box = d.operands(I32_TYPE)
    map = d.attribute(TYPE_ATTR)

    def verify(self) -> Iterator[str]:
        storage, map = memref(self.storage), self.map
        yield from index_count_problems(storage, self.indices)
        if not in_shared_memory(storage):
            yield f"expected storage in shared memory, got '{storage}'"
        if not isinstance(map, TensorMapDescriptorType):
            yield f"expected the type of a tensor map, got '{map}'"
            return
        yield from _count_problems(map, len(self.sizes), len(self.strides))
        open_extents = (map.tensor.shape or ()).count(DYNAMIC)
        if open_extents != len(self.box):
            yield f"expected {open_extents} extents of the box, got {len(self.box)}"
        if bits_of(map.tensor.element) is None:
            yield f"expected a box of integers or floats, got '{map.tensor}'"


class TensorMapRebindOp(Operation):
    """Lets a tensor map in global memory describe another tensor of the same kind.

    One thread of the block does it. The change is ordered with the copies before and behind it,
    as those see it that the scope names.
    """

    name = "cute_nvgpu.tensormap.rebind"
    syntax = (
        "$tensor_map `,` $address `sizes` `[` $sizes `]` `strides` `[` $strides `]` "
        "(`scope` $scope^)? attr-dict `:` type($tensor_map)"
    )

    tensor_map = d.operand(TENSOR_MAP)
    address = d.operand(I64_TYPE)
    sizes = d.operands(I32_TYPE)
    strides = d.operands(I64_TYPE)
    scope = d.attribute(SCOPE, default=Scope.GPU)

    def verify(self) -> Iterator[str]:
        map = tensor_map(self.tensor_map)
        yield from _count_problems(map, len(self.sizes), len(self.strides))


class TensorMapPublishOp(Operation):
    """Copies a tensor map from shared memory to a slot, for those that the scope names.

    All threads of a warp do it together.
    """

    name = "cute_nvgpu.tensormap.publish"
    syntax = (
        "$storage `[` $indices `]` `to` $slots `[` $slot_indices `]` (`scope` $scope^)? attr-dict "
        "`:` type($storage) `to` type($slots)"
    )

    storage = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    slots = d.operand(RANKED_MEMREF)
    slot_indices = d.operands(INDEX_TYPE)
    scope = d.attribute(SCOPE, default=Scope.GPU)

    def verify(self) -> Iterator[str]:
        storage, slots = memref(self.storage), memref(self.slots)
        yield from index_count_problems(storage, self.indices)
        yield from index_count_problems(slots, self.slot_indices)
        if not in_shared_memory(storage):
            yield f"expected storage in shared memory, got '{storage}'"
        if not is_global(slots.space):
            yield f"expected slots in global memory, got '{slots}'"


class TensorMapAtOp(Operation):
    """The tensor map whose 128 bytes start at an element of a buffer in global memory."""

    name = "cute_nvgpu.tensormap.at"
    effects = Effects.PURE
    syntax = "$slots `[` $indices `]` attr-dict `:` type($slots) `->` type($tensor_map)"

    slots = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    tensor_map = d.result(TENSOR_MAP)

    def verify(self) -> Iterator[str]:
        slots = memref(self.slots)
        yield from index_count_problems(slots, self.indices)
        if not is_global(slots.space):
            yield f"expected slots in global memory, got '{slots}'"


class LockOp(Operation):
    """Base of what happens to the word that locks a slot."""

    locks = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)

    def verify(self) -> Iterator[str]:
        locks = memref(self.locks)
        yield from index_count_problems(locks, self.indices)
        if not is_global(locks.space) or locks.element is not I32:
            yield f"expected locks that are i32 in global memory, got '{locks}'"


class SlotAcquireOp(LockOp):
    """Tries to take a slot for so many holders; says whether it was free."""

    name = "cute_nvgpu.slot.acquire"
    syntax = "$locks `[` $indices `]` `holders` $holders attr-dict `:` type($locks)"

    holders = d.attribute(I32_ATTR)
    result = d.result(I1_TYPE)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        if self.holders < 1:
            yield f"expected at least one holder, got {self.holders}"


class SlotReleaseOp(LockOp):
    """One holder needs the slot no more; the last one frees it."""

    name = "cute_nvgpu.slot.release"
    syntax = "$locks `[` $indices `]` attr-dict `:` type($locks)"
