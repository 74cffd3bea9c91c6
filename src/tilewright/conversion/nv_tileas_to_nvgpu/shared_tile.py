"""A tile in shared memory: each thread's registers, by vectorized accesses."""

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
from tilewright.layout.vector_access import vector_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import OpFoldResult
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


class SharedTile:
    """A thread's registers of a tile in scratch memory, accessed in vectors.

    `offsets` maps registers to elements of the memory. The tile begins at the byte `start` plus
    `displacement` of the operation's scratch memory; `first` is the offset of its first element,
    which is added bit by bit where memory is swizzled.
    """

    __slots__ = ("_build", "_bytes", "_order", "_pointers", "_width")

    def __init__(
        self,
        op: Operation,
        build: ConversionBuilder,
        offsets: Layout,
        vector: int,
        bytes: int,
        *,
        start: OpFoldResult = 0,
        displacement: int = 0,
        first: int = 0,
    ) -> None:
        self._build = build
        self._bytes = bytes
        self._width = vector * bytes
        self._order = vector_order(offsets, vector)
        thread_part = apply_linear(build, thread_id(op, build), thread_basis(offsets))
        thread_bits = gf2.support(thread_basis(offsets))
        # Few registers change bits of the thread's part of the offset; those share a base each, and
        # what remains is an immediate operand.
        bases: dict[int, OpFoldResult] = {}
        self._pointers: list[Value] = []
        for register in self._order[::vector]:
            offset = offsets.packed(register=register) ^ first
            changed = offset & thread_bits
            if changed not in bases:
                scaled = multiply(build, xor(build, thread_part, changed), bytes)
                bases[changed] = add(build, scaled, start)
            immediate = (offset ^ changed) * bytes + displacement
            self._pointers.append(scratch_pointer(op, build, bases[changed], immediate))

    @property
    def pointers(self) -> Sequence[Value]:
        """The address of each access."""
        return self._pointers

    def write(self, vector: Value) -> None:
        """Store all registers."""
        build, width = self._build, self._width
        words = to_words(build, select_registers(build, vector, self._order), width)
        for number, pointer in enumerate(self._pointers):
            store_shared(build, pointer, join_access(build, words, number, width), width)

    def read(self, type: VectorType) -> Value:
        """Load all registers."""
        build, width = self._build, self._width
        words: list[Value] = []
        for pointer in self._pointers:
            loaded = load_shared(build, pointer, word_type(width), width)
            words += split_access(build, loaded, width)
        inverse = [0] * len(self._order)
        for position, register in enumerate(self._order):
            inverse[register] = position
        return select_registers(build, from_words(build, words, type), inverse)
