"""Histograms: bins in shared memory, in which one holder of each element counts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    constant,
    extract_bits,
    multiply,
)
from tilewright.conversion.nv_tileas_to_nvgpu.predication import conjunction, is_owner, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import scratch_pointer
from tilewright.conversion.nv_tileas_to_nvgpu.shared_tile import SharedTile
from tilewright.conversion.nv_tileas_to_nvgpu.types import vector_type
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import as_vector, elements, splat_constant
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.casts import ExtUIOp, TruncIOp
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.elements import width_of, with_element
from tilewright.dialects.gpu.threads import BarrierOp
from tilewright.dialects.llvm.attributes import AtomicBinOp, AtomicOrdering
from tilewright.dialects.llvm.memory import AtomicRMWOp
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.nv_tileas.shape import HistogramOp
from tilewright.dialects.vector.elements import FromElementsOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I32, VectorType
from tilewright.layout.linear import REGISTER, log2
from tilewright.layout.pieces import one_piece, piece_registers
from tilewright.plans.scratch import histogram_pieces
from tilewright.target.arch import MAX_ACCESS_BYTES, REGISTER_BYTES

if TYPE_CHECKING:
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


@converts(HistogramOp)
def histogram(op: HistogramOp, new: HistogramOp, build: ConversionBuilder) -> Result:
    """Bins are cleared, elements are counted, bins are read; many bins take several rounds."""
    bits = histogram_pieces(op)
    rounds = _BinPasses(op, build, as_vector(build, new.source), bits)
    type = vector_type(build, op.result)
    found: dict[int, Value] = {}
    for piece in range(1 << len(bits)):
        if piece:
            build.create(BarrierOp)
        registers = piece_registers(layout_of(op.result), bits, piece)
        part = rounds.counts(piece, VectorType((len(registers),), I32))
        found.update(zip(registers, elements(build, part), strict=True))
    ordered = [found[register] for register in range(len(found))]
    return build.create(FromElementsOp, elements=ordered, types=[type]).result


class _BinPasses:
    """What a thread counts, round by round: bits of a number say in which one it is."""

    __slots__ = ("_acting", "_bits", "_build", "_has_bin", "_numbers", "_op", "_shares", "_slots")

    def __init__(
        self, op: HistogramOp, build: ConversionBuilder, source: Value, bits: tuple[int, ...]
    ) -> None:
        self._op, self._build, self._bits = op, build, bits
        bins = layout_of(op.result)
        self._acting = is_owner(op, build, op.source)
        self._has_bin = _below(build, source, bins.size)
        self._numbers = elements(build, _as_i32(build, source))
        part = one_piece(bins, bits)
        self._shares = SharedTile(op, build, part, _vector_length(part), REGISTER_BYTES)
        kept = [bit for bit in range(log2(bins.size)) if 1 << bit not in bits]
        self._slots = [0] * log2(bins.size)
        """What each bit of a number contributes to its place among the bins of a round."""
        for place, bit in enumerate(kept):
            self._slots[bit] = 1 << place

    def counts(self, piece: int, type: VectorType) -> Value:
        """How often the numbers of a round occur."""
        build = self._build
        with predicated(build, is_owner(self._op, build, self._op.result)):
            self._shares.write(splat_constant(build, 0, type))
        build.create(BarrierOp)
        with predicated(build, self._acting):
            for register, number in enumerate(self._numbers):
                with predicated(build, self._is_in(piece, register)):
                    self._count(number)
        build.create(BarrierOp)
        return self._shares.read(type)

    def _is_in(self, piece: int, register: int) -> Value | None:
        """Whether the number in a register has a bin in a round; nothing if every number has."""
        build = self._build
        there = None if self._has_bin is None else elements(build, self._has_bin)[register]
        if not self._bits:
            return there
        wanted = sum(bit for place, bit in enumerate(self._bits) if piece >> place & 1)
        found = extract_bits(build, self._numbers[register], sum(self._bits), 0)
        other = constant(build, wanted)
        here = build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=found, rhs=other).result
        return conjunction(build, there, here)

    def _count(self, number: Value) -> None:
        build = self._build
        slot = apply_linear(build, number, self._slots) if self._bits else number
        build.create(
            AtomicRMWOp,
            bin_op=AtomicBinOp.ADD,
            ptr=scratch_pointer(self._op, build, multiply(build, slot, REGISTER_BYTES)),
            val=constant(build, 1),
            ordering=AtomicOrdering.MONOTONIC,
            syncscope="block",
        )


def _below(build: ConversionBuilder, numbers: Value, bins: int) -> Value | None:
    """Which numbers have a bin; nothing if the type has no others."""
    if bins >= 1 << width_of(numbers.type):
        return None
    limit = splat_constant(build, bins, numbers.type)
    return build.create(CmpIOp, predicate=CmpIPredicate.ULT, lhs=numbers, rhs=limit).result


def _as_i32(build: ConversionBuilder, numbers: Value) -> Value:
    """Numbers as i32, which holds those that have a bin."""
    width = width_of(numbers.type)
    if width == I32.width:
        return numbers
    kind = ExtUIOp if width < I32.width else TruncIOp
    return build.create(kind, source=numbers, types=[with_element(numbers.type, I32)]).result


def _vector_length(layout: Layout) -> int:
    """How many of a thread's bins lie side by side, up to the widest access."""
    length = 1
    while length * REGISTER_BYTES < MAX_ACCESS_BYTES and length in layout.vectors(REGISTER):
        length *= 2
    return length


PATTERNS: Final[Patterns] = (histogram,)
