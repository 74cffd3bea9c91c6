"""convert_layout: within threads, by shuffles within warps, or through shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.targets import target_or_baseline
from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import constant
from tilewright.conversion.nv_tileas_to_nvgpu.predication import conjunction, is_owner, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import scratch_offset
from tilewright.conversion.nv_tileas_to_nvgpu.shape.convert_layout_shuffle import (
    shuffle_within_warps,
    shuffle_words,
)
from tilewright.conversion.nv_tileas_to_nvgpu.shape.ldmatrix import LdMatrixTile
from tilewright.conversion.nv_tileas_to_nvgpu.shape.rearrangements import rearrange_registers
from tilewright.conversion.nv_tileas_to_nvgpu.shape.stmatrix import StMatrixTile
from tilewright.conversion.nv_tileas_to_nvgpu.shared_tile import SharedTile
from tilewright.conversion.nv_tileas_to_nvgpu.threads import synchronize, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.types import vector_type
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements, select_registers
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.cute_nvgpu.threads import WarpSyncOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, layout_of
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.vector.elements import FromElementsOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import VectorType
from tilewright.layout import gf2
from tilewright.layout.linear import LANE, WARP
from tilewright.layout.matrices import ROW, exchange_memory, matrix_access, matrix_memory
from tilewright.layout.pieces import one_piece, piece_bits, piece_of_thread, piece_registers
from tilewright.layout.staging import common_vector, staging
from tilewright.layout.transfer import Move, is_shuffled, transfer
from tilewright.layout.vector_access import contiguous_offsets
from tilewright.plans.scratch import exchanged_words, register_bytes, stays_in_warps

if TYPE_CHECKING:
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


@converts(ConvertLayoutOp)
def convert_layout(op: ConvertLayoutOp, new: ConvertLayoutOp, build: ConversionBuilder) -> Result:
    """Use the cheapest exchange: registers of a thread, shuffles, shared memory."""
    if in_shared_memory(op.result):
        return _store_to_placement(op, new, build)
    source, target = layout_of(op.source), layout_of(op.result)
    exchange = transfer(source, target)
    if exchange.move <= Move.REGISTERS:
        return rearrange_registers(op, build, new.source, source, target)
    if is_shuffled(exchange):
        return shuffle_within_warps(op, build, new.source, exchange.origin)
    words = exchanged_words(op)
    if words is not None:
        return shuffle_words(op, build, new.source, words)
    return _SharedMemoryConversion(op, build).convert(new.source)


def _store_to_placement(
    op: ConvertLayoutOp, new: ConvertLayoutOp, build: ConversionBuilder
) -> Value:
    """Store a tile to shared memory: the owner of each element does. A barrier follows later."""
    bytes = register_bytes(element_of(op.source.type))
    offsets = layout_of(op.source).then(layout_of(op.result).inverse())
    vector, owner = contiguous_offsets(offsets, bytes), is_owner(op, build, op.source)
    by_vectors = vector * bytes >= ROW or owner is not None
    access = None if by_vectors else matrix_access(offsets, bytes)
    if access is not None and not access.transposed and target_or_baseline(op).stores_matrices:
        # A thread of accumulators has few neighbours of a row.
        warps = [each * bytes for each in offsets.vectors(WARP)]
        StMatrixTile(op, build, access, warps).write(new.source)
    else:
        with predicated(build, owner):
            SharedTile(op, build, offsets, vector, bytes).write(new.source)
    return constant(build, scratch_offset(op))


class _SharedMemoryConversion:
    """A layout conversion through shared memory: small tiles at once, large ones in pieces."""

    __slots__ = (
        "_bits",
        "_build",
        "_is_owner",
        "_op",
        "_reads",
        "_source",
        "_stays_in_warps",
        "_target",
        "_writes",
    )

    def __init__(self, op: ConvertLayoutOp, build: ConversionBuilder) -> None:
        self._op, self._build = op, build
        self._stays_in_warps = stays_in_warps(op)
        self._source, self._target = layout_of(op.source), layout_of(op.result)
        bytes = register_bytes(element_of(op.source.type))
        self._bits = piece_bits(self._source, self._target, bytes)
        source, target = (one_piece(each, self._bits) for each in (self._source, self._target))
        self._is_owner = is_owner(op, build, op.source)
        stored = self._stored_matrices(source, target, bytes)
        loaded = matrix_memory(source, target, bytes) if stored is None else None
        if stored is None and loaded is None and self._stores_matrices():
            stored = loaded = exchange_memory(source, target, bytes)
        memory = stored or loaded
        vector = ROW // bytes if memory else 1 << len(common_vector(source, target, bytes))
        offsets = (memory or staging(source, target, bytes)).inverse()
        written, read = source.then(offsets), target.then(offsets)
        writes = matrix_access(written, bytes) if stored else None
        reads = matrix_access(read, bytes) if loaded else None
        self._writes = (
            SharedTile(op, build, written, vector, bytes)
            if writes is None
            else StMatrixTile(op, build, writes, [v * bytes for v in written.vectors(WARP)])
        )
        self._reads = (
            SharedTile(op, build, read, vector, bytes)
            if reads is None
            else LdMatrixTile(op, build, reads, [v * bytes for v in read.vectors(WARP)])
        )

    def _stored_matrices(self, source: Layout, target: Layout, bytes: int) -> Layout | None:
        """The memory that stmatrix writes and threads read in rows of 16 bytes, if there is one.

        It takes registers as they are, while ldmatrix would need rows of 16 bytes, which a thread
        of accumulators has to assemble.
        """
        if not self._stores_matrices():
            return None
        memory = matrix_memory(target, source, bytes)
        access = None if memory is None else matrix_access(source.then(memory.inverse()), bytes)
        return None if access is None or access.transposed else memory

    def _stores_matrices(self) -> bool:
        """Whether stmatrix may write the memory: all lanes of a warp take part in it."""
        has_stmatrix = target_or_baseline(self._op).stores_matrices
        are_whole_warps = not any(
            vector & bit for vector in self._source.vectors(LANE) for bit in self._bits
        )
        return has_stmatrix and self._is_owner is None and are_whole_warps

    def convert(self, vector: Value) -> Value:
        """The registers of the result."""
        build, type = self._build, vector_type(self._build, self._op.result)
        if self._stays_in_warps:
            # Other lanes may still read what the operation exchanged the last time.
            self._synchronize()
        if not self._bits:
            return self._piece(vector, 0, type)
        results: dict[int, Value] = {}
        count = type.shape[0] >> len(self._bits)
        for piece in range(1 << len(self._bits)):
            if piece:
                self._synchronize()
            part = self._piece(vector, piece, VectorType((count,), type.element))
            registers = piece_registers(self._target, self._bits, piece)
            results.update(zip(registers, elements(build, part), strict=True))
        ordered = [results[register] for register in range(len(results))]
        return build.create(FromElementsOp, elements=ordered, types=[type]).result

    def _piece(self, vector: Value, piece: int, type: VectorType) -> Value:
        build = self._build
        with predicated(build, conjunction(build, self._is_owner, self._holds(piece))):
            registers = piece_registers(self._source, self._bits, piece)
            self._writes.write(select_registers(build, vector, registers))
        self._synchronize()
        return self._reads.read(type)

    def _synchronize(self) -> None:
        """Wait for the threads that exchange data: those of the warp, or all."""
        if self._stays_in_warps:
            self._build.create(WarpSyncOp)
        else:
            synchronize(self._op, self._build)

    def _holds(self, piece: int) -> Value | None:
        """Whether a thread holds elements of a piece; None if every thread does."""
        build = self._build
        images = piece_of_thread(self._source, self._bits)
        own = apply_linear(build, thread_id(self._op, build), images)
        if isinstance(own, int):
            return None
        wanted = constant(build, piece & gf2.support(images))
        return build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=own, rhs=wanted).result


PATTERNS: Final[Patterns] = (convert_layout,)
