"""histogram: bins in shared memory, in which the owner of each element counts it."""

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
from tilewright.conversion.nv_tileas_to_nvgpu.threads import synchronize
from tilewright.conversion.nv_tileas_to_nvgpu.types import vector_type
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import as_vector, elements, splat_constant
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.casts import ExtUIOp, TruncIOp
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.elements import width_of, with_element
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
    """Clear the bins, count elements, read the bins; many bins take several passes."""
    bits = histogram_pieces(op)
    passes = _BinPasses(op, build, as_vector(build, new.source), bits)
    type = vector_type(build, op.result)
    counts: dict[int, Value] = {}
    for pass_index in range(1 << len(bits)):
        if pass_index:
            synchronize(op, build)
        registers = piece_registers(layout_of(op.result), bits, pass_index)
        part = passes.counts(pass_index, VectorType((len(registers),), I32))
        counts.update(zip(registers, elements(build, part), strict=True))
    ordered = [counts[register] for register in range(len(counts))]
    return build.create(FromElementsOp, elements=ordered, types=[type]).result


class _BinPasses:
    """The passes over a thread's elements: bits of a bin index select its pass."""

    __slots__ = ("_bits", "_build", "_has_bin", "_is_owner", "_numbers", "_op", "_slots", "_tile")

    def __init__(
        self, op: HistogramOp, build: ConversionBuilder, source: Value, bits: tuple[int, ...]
    ) -> None:
        self._op, self._build, self._bits = op, build, bits
        bins = layout_of(op.result)
        self._is_owner = is_owner(op, build, op.source)
        self._has_bin = _below(build, source, bins.size)
        self._numbers = elements(build, _as_i32(build, source))
        part = one_piece(bins, bits)
        self._tile = SharedTile(op, build, part, _vector_length(part), REGISTER_BYTES)
        kept = [bit for bit in range(log2(bins.size)) if 1 << bit not in bits]
        self._slots = [0] * log2(bins.size)
        """The image of each bit of a bin index in its slot among the bins of a pass."""
        for position, bit in enumerate(kept):
            self._slots[bit] = 1 << position

    def counts(self, pass_index: int, type: VectorType) -> Value:
        """The counts of the bins of a pass."""
        build = self._build
        with predicated(build, is_owner(self._op, build, self._op.result)):
            self._tile.write(splat_constant(build, 0, type))
        synchronize(self._op, build)
        with predicated(build, self._is_owner):
            for register, number in enumerate(self._numbers):
                with predicated(build, self._in_pass(pass_index, register)):
                    self._count(number)
        synchronize(self._op, build)
        return self._tile.read(type)

    def _in_pass(self, pass_index: int, register: int) -> Value | None:
        """Whether the element in a register has a bin in a pass; None if every element has."""
        build = self._build
        has_bin = None if self._has_bin is None else elements(build, self._has_bin)[register]
        if not self._bits:
            return has_bin
        wanted = sum(bit for position, bit in enumerate(self._bits) if pass_index >> position & 1)
        bits = extract_bits(build, self._numbers[register], sum(self._bits), 0)
        wanted_value = constant(build, wanted)
        in_pass = build.create(
            CmpIOp, predicate=CmpIPredicate.EQ, lhs=bits, rhs=wanted_value
        ).result
        return conjunction(build, has_bin, in_pass)

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
    """Which elements have a bin; None if all values of the type do."""
    if bins >= 1 << width_of(numbers.type):
        return None
    limit = splat_constant(build, bins, numbers.type)
    return build.create(CmpIOp, predicate=CmpIPredicate.ULT, lhs=numbers, rhs=limit).result


def _as_i32(build: ConversionBuilder, numbers: Value) -> Value:
    """Elements as i32, which holds every bin index."""
    width = width_of(numbers.type)
    if width == I32.width:
        return numbers
    kind = ExtUIOp if width < I32.width else TruncIOp
    return build.create(kind, source=numbers, types=[with_element(numbers.type, I32)]).result


def _vector_length(layout: Layout) -> int:
    """How many of a thread's bins are contiguous, up to the widest access."""
    length = 1
    while length * REGISTER_BYTES < MAX_ACCESS_BYTES and length in layout.vectors(REGISTER):
        length *= 2
    return length


PATTERNS: Final[Patterns] = (histogram,)
