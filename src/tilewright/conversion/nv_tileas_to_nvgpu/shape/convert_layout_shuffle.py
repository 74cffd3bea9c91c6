"""Tiles from one layout to another within warps: each register by one shuffle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import as_value, xor
from tilewright.conversion.nv_tileas_to_nvgpu.shape.rearrangements import swap_registers
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_basis, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.types import vector_type
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements, select_registers
from tilewright.conversion.nv_tileas_to_nvgpu.warp_shuffles import shuffle_registers
from tilewright.dialects.elements import vector as vector_of
from tilewright.dialects.gpu.attributes import ShuffleMode
from tilewright.dialects.vector.elements import FromElementsOp
from tilewright.ir.types import I32
from tilewright.layout import gf2
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value


class LaneExchange:
    """Who gives which register to whom.

    Register `r` of lane `l` is register `a(r) ^ b(l)` of lane `d(r) ^ e(l)`. Lanes that read from
    one lane want the same register, so there is a linear `f` with `f(e(l)) = b(l)`: the lane that
    gives knows by its own number which register is wanted, but for a constant.
    """

    __slots__ = ("_basis", "_registers", "_wanted", "origin")

    def __init__(self, origin: Layout, registers: int) -> None:
        self.origin = origin
        self._registers = log2(registers)
        vectors = origin.vectors(LANE)
        self._wanted = [self.register(v) for v in vectors]
        units = [1 << bit for bit in range(log2(WARP_SIZE))]
        self._basis = gf2.Basis([*(self.lane(v) for v in vectors), *units])

    def register(self, place: int) -> int:
        """The register of a place in the source."""
        return place & ((1 << self._registers) - 1)

    def lane(self, place: int) -> int:
        """The lane of a place in the source."""
        return place >> self._registers & (WARP_SIZE - 1)

    def known(self, lane: int) -> int:
        """What a lane knows of the register that is wanted from it."""
        sources = self._basis.express(lane)
        assert sources is not None
        found = 0
        for number, wanted in enumerate(self._wanted):
            found ^= wanted if sources >> number & 1 else 0
        return found

    def given(self) -> list[int]:
        """What each bit of the number of the giving thread contributes to the register."""
        lanes = [self.known(1 << bit) for bit in range(log2(WARP_SIZE))]
        warps = self.origin.vectors(WARP)
        return [*lanes, *(self.register(v) ^ self.known(self.lane(v)) for v in warps)]


def shuffle_within_warps(
    op: ConvertLayoutOp, build: ConversionBuilder, vector: Value, origin: Layout
) -> Value:
    """Every lane puts what it gives in order; then all read, a shuffle for each word."""
    exchange = LaneExchange(origin, vector_of(vector).shape[0])
    vector = swap_registers(op, build, vector, exchange.given())
    mine = apply_linear(
        build, thread_id(op, build), [exchange.lane(v) for v in thread_basis(origin)]
    )
    together: dict[int, list[int]] = {}
    for register in range(origin.extent(REGISTER)):
        lane = exchange.lane(origin.packed(register=register))
        together.setdefault(lane, []).append(register)
    found: dict[int, Value] = {}
    for lane, registers in together.items():
        order = [
            exchange.register(origin.packed(register=r)) ^ exchange.known(lane) for r in registers
        ]
        other = as_value(build, xor(build, mine, lane), I32)
        part = shuffle_registers(
            build, select_registers(build, vector, order), ShuffleMode.IDX, other
        )
        found.update(zip(registers, elements(build, part), strict=True))
    type = vector_type(build, op.result)
    ordered = [found[register] for register in range(len(found))]
    return build.create(FromElementsOp, elements=ordered, types=[type]).result
