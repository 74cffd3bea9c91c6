"""Accesses to a value in a stage of a pipeline or buffer: loads, stores, and copies by threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilewright.conversion.nv_tileas_to_nvgpu.addresses import (
    global_buffer,
    global_pointer,
    shared_buffer,
)
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    add,
    as_index,
    as_value,
    constant,
    index_constant,
    multiply,
)
from tilewright.conversion.nv_tileas_to_nvgpu.memory.global_access import pointer_accesses
from tilewright.conversion.nv_tileas_to_nvgpu.memory.tile_addresses import tile_accesses
from tilewright.conversion.nv_tileas_to_nvgpu.predication import is_owner, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import (
    from_words,
    join_access,
    split_access,
    to_words,
    word_type,
)
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import (
    load_shared,
    scratch_pointer,
    store_shared,
)
from tilewright.conversion.nv_tileas_to_nvgpu.shape.ldmatrix import LdMatrixTile
from tilewright.conversion.nv_tileas_to_nvgpu.shared_tile import SharedTile
from tilewright.conversion.nv_tileas_to_nvgpu.types import vector_type
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import as_vector, elements
from tilewright.dialects.arith.casts import ExtUIOp
from tilewright.dialects.arith.integer import MulIOp, ShLIOp
from tilewright.dialects.cute_nvgpu.copies import DeviceAsyncCopyOp as CachedCopyOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.types import TiledViewType
from tilewright.dialects.nv_tileas.attributes import layout_of, maybe_layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.types import pipeline, register_bytes
from tilewright.dialects.nvgpu.async_copy import DeviceAsyncCopyOp
from tilewright.dialects.nvvm.attributes import EvictionPriority
from tilewright.dialects.nvvm.copy import CreatePolicyOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.types import I8, I32, VectorType
from tilewright.ir.values import BlockArgument
from tilewright.layout.linear import WARP, log2, pack
from tilewright.layout.matrices import ROW, matrix_access
from tilewright.layout.swizzle import row_major
from tilewright.layout.vector_access import contiguous_offsets
from tilewright.target.arch import MAX_ACCESS_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.conversion.nv_tileas_to_nvgpu.memory.global_access import VectorAccess
    from tilewright.dialects.nv_tileas.pipeline import ProducerCopyOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


def stage_offset(build: ConversionBuilder, first: Value, stage: Value, bytes: int) -> Value:
    """The byte offset of a stage, given that of the first one."""
    return as_value(build, add(build, first, multiply(build, stage, bytes)))


def placement_of(type: Type) -> Layout:
    """The placement of a tile in a stage: its layout, or row-major."""
    return maybe_layout_of(type) or row_major(shape(type))


class StageAccess:
    """A thread's accesses to a value in a stage, at a byte offset in shared memory.

    `value` is one of the old program, `element` the type of the value in the stage; `at` has the
    coordinates of the value if it is a part of a tile.
    """

    __slots__ = ("_at", "_build", "_offset", "_op", "_placement", "_value")

    def __init__(
        self,
        op: Operation,
        build: ConversionBuilder,
        value: Value,
        element: Type,
        offset: Value,
        at: Sequence[int] | None = None,
    ) -> None:
        self._op, self._build, self._value, self._offset = op, build, value, offset
        self._placement = None if maybe_layout_of(value) is None else placement_of(element)
        self._at = at

    def _tile(self, offsets: Layout, bytes: int, first: int = 0) -> SharedTile:
        vector = contiguous_offsets(offsets, bytes)
        while first % vector:
            vector //= 2
        op, build, start = self._op, self._build, self._offset
        return SharedTile(op, build, offsets, vector, bytes, start=start, first=first)

    def write(self, registers: Value) -> None:
        """Store the thread's registers; the owner of each element does."""
        build, bytes = self._build, register_bytes(element_of(self._value.type))
        with predicated(build, is_owner(self._op, build, self._value)):
            if self._placement is not None:
                offsets = layout_of(self._value).then(self._placement.inverse())
                self._tile(offsets, bytes).write(registers)
                return
            words = to_words(build, as_vector(build, registers), bytes)
            pointer = scratch_pointer(self._op, build, self._offset)
            store_shared(build, pointer, join_access(build, words, 0, bytes), bytes)

    def read(self) -> Value:
        """Load the thread's registers."""
        build, bytes = self._build, register_bytes(element_of(self._value.type))
        if self._placement is not None:
            return self._read_tile(self._placement, bytes)
        word = word_type(bytes)
        pointer = scratch_pointer(self._op, build, self._offset)
        words = split_access(build, load_shared(build, pointer, word, bytes), bytes)
        (type,) = build.types.convert(self._value.type) or (word,)
        return elements(build, from_words(build, words, VectorType((1,), type)))[0]

    def _read_tile(self, placement: Layout, bytes: int) -> Value:
        """Load a tile: fragments of an mma by ldmatrix where possible."""
        type = vector_type(self._build, self._value)
        memory = placement.inverse()
        offsets = layout_of(self._value).resize(placement.shape).then(memory)
        first = memory.packed(element=pack(self._at, placement.shape)) if self._at else 0
        vector = contiguous_offsets(offsets, bytes)
        access = matrix_access(offsets, bytes)
        if access is None or vector * bytes == MAX_ACCESS_BYTES or first * bytes % ROW:
            return self._tile(offsets, bytes, first).read(type)
        warps = [vector * bytes for vector in offsets.vectors(WARP)]
        tile = LdMatrixTile(self._op, self._build, access, warps, self._offset, first=first * bytes)
        return tile.read(type)


def copy_tile(
    op: ProducerCopyOp, new: ProducerCopyOp, build: ConversionBuilder, offset: Value
) -> None:
    """Start to copy a tile to a stage: the owner of each element copies it by `cp.async`.

    Elements out of bounds and masked-off ones are zero-filled, not read.
    """
    assert op.tile is not None
    element = register_bytes(element_of(op.tile))
    placement = placement_of(pipeline(op.pipeline).elements[op.number])
    offsets = layout_of(op.tile).then(placement.inverse())
    target = SharedTile(op, build, offsets, op.vector, element, start=offset)
    if isinstance(op.source.type, TiledViewType):
        view, indices = op.source, op.indices
        separate = _has_registers_for_addresses(op)
        accesses = tile_accesses(
            op,
            build,
            view,
            indices,
            op.tile,
            op.vector,
            active=new.mask,
            separate=separate,
            recomputed=not separate,
            partial=op.partial,
        )
    else:
        accesses = pointer_accesses(build, new.source, new.mask, op.vector)
    bytes, policy = op.vector * element, cache_policy(op, build)
    with predicated(build, is_owner(op, build, op.tile)):
        for access, pointer in zip(accesses, target.pointers, strict=True):
            source = global_pointer(build, access.address, access.offset)
            read = _bytes_read(build, access, bytes, element)
            copy_bytes(build, source, pointer, bytes, read=read, policy=policy)


def copy_bytes(
    build: ConversionBuilder,
    source: Value,
    target: Value,
    count: int,
    *,
    read: Value | None = None,
    policy: Value | None = None,
) -> None:
    """Let a thread start to copy bytes to shared memory; those after the first `read` are zeros."""
    kind = DeviceAsyncCopyOp if policy is None else CachedCopyOp
    hint: dict[str, Any] = {} if policy is None else {"cache_hint": policy}
    build.create(
        kind,
        src=global_buffer(build, source, count, I8),
        src_indices=[index_constant(build, 0)],
        dst=shared_buffer(build, target, count, I8),
        dst_indices=[index_constant(build, 0)],
        dst_elements=count,
        src_elements=None if read is None else as_index(build, read),
        bypass_l1=count == MAX_ACCESS_BYTES,
        **hint,
    )


def cache_policy(op: ProducerCopyOp, build: ConversionBuilder) -> Value | None:
    """The cache policy of a copy; None if it has the default one."""
    if not op.evict_first:
        return None
    return build.create(CreatePolicyOp, priority=EvictionPriority.EVICT_FIRST).res


def _has_registers_for_addresses(op: ProducerCopyOp) -> bool:
    """Whether the loop around a copy can keep an address for each access in registers.

    Not if it reads accumulators, as attention does: what is computed from them takes registers.
    """
    loop = next((outer for outer in op.ancestors() if isinstance(outer, ForOp)), None)
    if loop is None:
        return True
    dots = [inner for inner in loop.body.walk() if isinstance(inner, DotOp)]
    return all(isinstance(dot.c, BlockArgument) or dot.c.defined_by(DotOp) for dot in dots)


def _bytes_read(
    build: ConversionBuilder, access: VectorAccess, bytes: int, element: int
) -> Value | None:
    """The bytes to read: none where the predicate is false; None if all.

    Not by a `select`, which LLVM would turn into one for each part of the predicate.
    """
    if access.elements is None and access.predicate is None:
        return None
    one = None
    if access.predicate is not None:
        one = build.create(ExtUIOp, source=access.predicate, types=[I32]).result
    if access.elements is None:
        assert one is not None
        return build.create(ShLIOp, lhs=one, rhs=constant(build, log2(bytes))).result
    shift = constant(build, log2(element))
    read = build.create(ShLIOp, lhs=access.elements, rhs=shift).result
    return read if one is None else build.create(MulIOp, lhs=one, rhs=read).result
