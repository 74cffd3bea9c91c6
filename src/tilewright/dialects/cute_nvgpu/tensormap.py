"""Tensor maps that a kernel encodes itself, and the slots in global memory that hold them.

A launcher that passes only pointers passes no tensor maps. The kernel fills one in shared memory
(`fill`, on 128 bytes of zeros), and a warp copies it to a slot in global memory (`publish`), from
where copies read it (`at`, after an `nvgpu.tma.fence.descriptor`). A slot belongs to one block
at a time: its lock is a reference count.
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
from tilewright.dialects.nvgpu.constraints import TENSOR_MAP, bits_of, tensor_map
from tilewright.dialects.nvgpu.types import TensorMapDescriptorType
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR, TYPE_ATTR
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects
from tilewright.ir.types import DYNAMIC, I32
from tilewright.target.engines import TMA


def _count_problems(map: TensorMapDescriptorType, sizes: int, strides: int) -> Iterator[str]:
    rank = len(map.tensor.shape or ())
    if not 1 <= rank <= TMA.max_rank:
        yield f"expected a box of rank 1 to {TMA.max_rank}, got '{map.tensor}'"
    elif (sizes, strides) != (rank, rank - 1):
        yield f"expected {rank} sizes and {rank - 1} strides, got {sizes} and {strides}"


class TensorMapFillOp(Operation):
    """Write all fields of a tensor map over 128 bytes of zeros in shared memory.

    The address of the tensor is a multiple of 16. Sizes are in elements, outermost dimension
    first; strides, of all dimensions but the last, are in bytes, multiples of 16. The other fields
    follow from the type; dynamic extents of its box are operands.
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
    """Replace the tensor of a tensor map in global memory by another one of the same type and rank.

    One thread of the block executes it. The update is ordered with earlier and later copies of
    the threads in its scope.
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
    """Copy a tensor map from shared memory to a slot, visible in a scope.

    All threads of a warp execute it together.
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
    """Return the tensor map whose 128 bytes start at an element of a buffer in global memory."""

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
    """Base of the operations on the lock of a slot."""

    locks = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)

    def verify(self) -> Iterator[str]:
        locks = memref(self.locks)
        yield from index_count_problems(locks, self.indices)
        if not is_global(locks.space) or locks.element is not I32:
            yield f"expected locks that are i32 in global memory, got '{locks}'"


class SlotAcquireOp(LockOp):
    """Try to acquire a slot for a number of users; return whether it was free."""

    name = "cute_nvgpu.slot.acquire"
    syntax = "$locks `[` $indices `]` `users` $users attr-dict `:` type($locks)"

    users = d.attribute(I32_ATTR)
    result = d.result(I1_TYPE)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        if self.users < 1:
            yield f"expected at least one user, got {self.users}"


class SlotReleaseOp(LockOp):
    """Release a slot for one user; the last release frees it."""

    name = "cute_nvgpu.slot.release"
    syntax = "$locks `[` $indices `]` attr-dict `:` type($locks)"
