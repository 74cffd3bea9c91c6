"""A tile in scratch memory: each thread's registers, by vectorized accesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    multiply,
    xor,
)
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
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_basis, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import select_registers
from tilewright.ir.conversion import ConversionBuilder
from tilewright.ir.types import VectorType
from tilewright.layout import gf2
from tilewright.layout.linear import REGISTER, log2

if TYPE_CHECKING:
    from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import OpFoldResult
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


class SharedTile:
    """What a thread has of a tile in shared memory: groups of registers that lie together.

    The tile begins `start` bytes behind the beginning of the scratch memory, and `further` ones.
    """

    __slots__ = ("_build", "_bytes", "_order", "_pointers", "_width")

    def __init__(
        self,
        op: Operation,
        build: ConversionBuilder,
        places: Layout,
        vector: int,
        bytes: int,
        *,
        start: OpFoldResult = 0,
        further: int = 0,
    ) -> None:
        self._build = build
        self._bytes = bytes
        self._width = vector * bytes
        self._order = vector_order(places, vector)
        own = apply_linear(build, thread_id(op, build), thread_basis(places))
        reach = gf2.support(thread_basis(places))
        # What changes bits of the thread's part is in few starts; the rest is added for nothing.
        bases: dict[int, OpFoldResult] = {}
        self._pointers: list[Value] = []
        for register in self._order[::vector]:
            place = places.packed(register=register)
            changed = place & reach
            if changed not in bases:
                part = multiply(build, xor(build, own, changed), bytes)
                bases[changed] = add(build, part, start)
            known = (place ^ changed) * bytes + further
            self._pointers.append(scratch_pointer(op, build, bases[changed], known))

    def write(self, vector: Value) -> None:
        """Put all registers where they belong."""
        build, width = self._build, self._width
        words = to_words(build, select_registers(build, vector, self._order), width)
        for number, pointer in enumerate(self._pointers):
            store_shared(build, pointer, join_access(build, words, number, width), width)

    def read(self, type: VectorType) -> Value:
        """Take all registers from where they are."""
        build, width = self._build, self._width
        words: list[Value] = []
        for pointer in self._pointers:
            moved = load_shared(build, pointer, word_type(width), width)
            words += split_access(build, moved, width)
        back = [0] * len(self._order)
        for place, register in enumerate(self._order):
            back[register] = place
        return select_registers(build, from_words(build, words, type), back)


def vector_order(places: Layout, vector: int) -> list[int]:
    """The registers in an order in which each group of so many lies side by side."""
    basis = gf2.Basis(places.vectors(REGISTER))
    masks: list[int] = []
    chosen = gf2.Basis()
    for bit in range(log2(vector)):
        mask = basis.express(1 << bit)
        assert mask is not None
        chosen.offer(bit, mask)
        masks.append(mask)
    for bit in range(len(places.vectors(REGISTER))):
        if chosen.offer(len(masks), 1 << bit):
            masks.append(1 << bit)
    return [gf2.combine(masks, number) for number in range(places.extent(REGISTER))]
