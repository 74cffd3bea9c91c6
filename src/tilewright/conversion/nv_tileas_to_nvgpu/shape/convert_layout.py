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
)
from tilewright.conversion.nv_tileas_to_nvgpu.shape.ldmatrix import LdMatrixTile
from tilewright.conversion.nv_tileas_to_nvgpu.shape.rearrangements import rearrange_registers
from tilewright.conversion.nv_tileas_to_nvgpu.shared_tile import SharedTile
from tilewright.conversion.nv_tileas_to_nvgpu.threads import synchronize, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.types import vector_type
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements, select_registers
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.cute_nvgpu.attributes import ProxySpace
from tilewright.dialects.cute_nvgpu.threads import FenceProxyAsyncOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, layout_of
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.vector.elements import FromElementsOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import VectorType
from tilewright.layout import gf2
from tilewright.layout.linear import WARP
from tilewright.layout.matrices import ROW, matrix_access, matrix_memory
from tilewright.layout.pieces import one_piece, piece_bits, piece_of_thread, piece_registers
from tilewright.layout.staging import common_vector, staging
from tilewright.layout.transfer import Move, is_shuffled, transfer
from tilewright.layout.vector_access import contiguous_offsets
from tilewright.plans.scratch import register_bytes
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from tilewright.ir.values import Value


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
    return _SharedMemoryConversion(op, build).convert(new.source)


def _store_to_placement(
    op: ConvertLayoutOp, new: ConvertLayoutOp, build: ConversionBuilder
) -> Value:
    """Store a tile to shared memory: the owner of each element does. A barrier follows later."""
    bytes = register_bytes(element_of(op.source.type))
    offsets = layout_of(op.source).then(layout_of(op.result).inverse())
    vector = contiguous_offsets(offsets, bytes)
    with predicated(build, is_owner(op, build, op.source)):
        SharedTile(op, build, offsets, vector, bytes).write(new.source)
    if Feature.WGMMA in target_or_baseline(op):
        # wgmma reads through the async proxy.
        build.create(FenceProxyAsyncOp, space=ProxySpace.SHARED_CTA)
    return constant(build, scratch_offset(op))


class _SharedMemoryConversion:
    """A layout conversion through shared memory: small tiles at once, large ones in pieces."""

    __slots__ = ("_bits", "_build", "_is_owner", "_op", "_reads", "_source", "_target", "_writes")

    def __init__(self, op: ConvertLayoutOp, build: ConversionBuilder) -> None:
        self._op, self._build = op, build
        self._source, self._target = layout_of(op.source), layout_of(op.result)
        bytes = register_bytes(element_of(op.source.type))
        self._bits = piece_bits(self._source, self._target, bytes)
        source, target = (one_piece(each, self._bits) for each in (self._source, self._target))
        matrices = matrix_memory(source, target, bytes)
        offsets = (matrices or staging(source, target, bytes)).inverse()
        vector = ROW // bytes if matrices else 1 << len(common_vector(source, target, bytes))
        self._is_owner = is_owner(op, build, op.source)
        self._writes = SharedTile(op, build, source.then(offsets), vector, bytes)
        read_offsets = target.then(offsets)
        access = matrix_access(read_offsets, bytes) if matrices else None
        if access is None:
            self._reads = SharedTile(op, build, read_offsets, vector, bytes)
        else:
            self._reads = LdMatrixTile(
                op, build, access, [v * bytes for v in read_offsets.vectors(WARP)]
            )

    def convert(self, vector: Value) -> Value:
        """The registers of the result."""
        build, type = self._build, vector_type(self._build, self._op.result)
        if not self._bits:
            return self._piece(vector, 0, type)
        results: dict[int, Value] = {}
        count = type.shape[0] >> len(self._bits)
        for piece in range(1 << len(self._bits)):
            if piece:
                synchronize(self._op, build)
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
        synchronize(self._op, build)
        return self._reads.read(type)

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
