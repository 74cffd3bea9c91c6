"""convert_layout within warps: each register, or word of several, by one shuffle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import as_value, xor
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import to_words
from tilewright.conversion.nv_tileas_to_nvgpu.shape.rearrangements import (
    rearrange_registers,
    swap_registers,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_basis, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.types import vector_type
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements, select_registers
from tilewright.conversion.nv_tileas_to_nvgpu.warp_shuffles import shuffle_registers
from tilewright.dialects.elements import vector as vector_of
from tilewright.dialects.gpu.attributes import ShuffleMode
from tilewright.dialects.vector.elements import FromElementsOp
from tilewright.dialects.vector.shapes import BitcastOp
from tilewright.ir.types import I16, I32, VectorType
from tilewright.layout import gf2
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2
from tilewright.layout.transfer import transfer
from tilewright.layout.word_exchange import WORD
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value
    from tilewright.layout.word_exchange import WordExchange


class LaneExchange:
    """The source lane and register of each register of the result.

    Register `r` of lane `l` is register `a(r) ^ b(l)` of lane `d(r) ^ e(l)` of the source. Lanes
    that read from one lane read the same register, so there is a linear `f` with
    `f(e(l)) = b(l)`: but for a constant, the source lane's own id determines the register.
    """

    __slots__ = ("_basis", "_read_registers", "_registers", "origin")

    def __init__(self, origin: Layout, registers: int) -> None:
        self.origin = origin
        self._registers = log2(registers)
        vectors = origin.vectors(LANE)
        self._read_registers = [self.register(v) for v in vectors]
        units = [1 << bit for bit in range(log2(WARP_SIZE))]
        self._basis = gf2.Basis([*(self.lane(v) for v in vectors), *units])

    def register(self, index: int) -> int:
        """The register bits of a source index."""
        return index & ((1 << self._registers) - 1)

    def lane(self, index: int) -> int:
        """The lane bits of a source index."""
        return index >> self._registers & (WARP_SIZE - 1)

    def sent_register(self, lane: int) -> int:
        """The register that is read from a source lane, but for a constant: `f`."""
        sources = self._basis.express(lane)
        assert sources is not None
        register = 0
        for number, read in enumerate(self._read_registers):
            register ^= read if sources >> number & 1 else 0
        return register

    def sent_images(self) -> list[int]:
        """The images of the source thread id's bits in the register that is read from it."""
        lanes = [self.sent_register(1 << bit) for bit in range(log2(WARP_SIZE))]
        warps = self.origin.vectors(WARP)
        return [*lanes, *(self.register(v) ^ self.sent_register(self.lane(v)) for v in warps)]


def shuffle_within_warps(
    op: ConvertLayoutOp, build: ConversionBuilder, vector: Value, origin: Layout
) -> Value:
    """Order the registers that other lanes read, then exchange each word by one shuffle."""
    exchange = LaneExchange(origin, vector_of(vector).shape[0])
    vector = swap_registers(op, build, vector, exchange.sent_images())
    source_lane = apply_linear(
        build, thread_id(op, build), [exchange.lane(v) for v in thread_basis(origin)]
    )
    registers_by_lane: dict[int, list[int]] = {}
    for register in range(origin.extent(REGISTER)):
        lane = exchange.lane(origin.packed(register=register))
        registers_by_lane.setdefault(lane, []).append(register)
    results: dict[int, Value] = {}
    for lane, registers in registers_by_lane.items():
        order = [
            exchange.register(origin.packed(register=r)) ^ exchange.sent_register(lane)
            for r in registers
        ]
        lane_value = as_value(build, xor(build, source_lane, lane), I32)
        received = shuffle_registers(
            build, select_registers(build, vector, order), ShuffleMode.IDX, lane_value
        )
        results.update(zip(registers, elements(build, received), strict=True))
    ordered = [results[register] for register in range(len(results))]
    return _vector(build, ordered)


def shuffle_words(
    op: ConvertLayoutOp, build: ConversionBuilder, vector: Value, exchange: WordExchange
) -> Value:
    """Exchange words of several registers, swap words where a lane has to, and reorder pairs."""
    words = _vector(build, to_words(build, vector, WORD))
    origin = transfer(exchange.source, exchange.shuffled).origin
    words = shuffle_within_warps(op, build, words, origin)
    words = rearrange_registers(op, build, words, exchange.shuffled, exchange.target)
    pairs = VectorType((len(exchange.order),), I16)
    split = build.create(BitcastOp, source=words, types=[pairs]).result
    ordered = select_registers(build, split, list(exchange.order))
    type = vector_type(build, op.result)
    return build.create(BitcastOp, source=ordered, types=[type]).result


def _vector(build: ConversionBuilder, values: Sequence[Value]) -> Value:
    """A vector of values of one type."""
    type = VectorType((len(values),), values[0].type)
    return build.create(FromElementsOp, elements=values, types=[type]).result
