"""A and B of an FMA dot: in registers, in a tile in shared memory, or staged slice by slice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    constant,
    multiply,
    xor,
)
from tilewright.conversion.nv_tileas_to_nvgpu.predication import conjunction, is_owner, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import (
    load_shared,
    scratch_offset,
    scratch_pointer,
    store_shared,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_basis, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements, select_registers
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.vector.elements import FromElementsOp
from tilewright.ir.types import FloatType, VectorType
from tilewright.layout import gf2
from tilewright.layout.fma_smem import element_offset
from tilewright.layout.linear import REGISTER, log2, unpack
from tilewright.target.arch import MAX_ACCESS_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileas.matrix import DotOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value
    from tilewright.layout.fma_lines import HeldOperand
    from tilewright.layout.linear import Layout

UNROLLED: Final = 4
"""The unroll factor of the loop along K."""


class KIndex(NamedTuple):
    """A k: the first of its slice, plus the loop's variable if there is a loop, plus a number."""

    slice_start: int
    loop: Value | None
    step: int


class Accumulators(NamedTuple):
    """The accumulators of a dot, as a batch of matrices."""

    op: DotOp
    build: ConversionBuilder
    layout: Layout


class RegisterOperand:
    """An operand of which each thread holds what its accumulators need."""

    __slots__ = ("_build", "_count", "_held", "_vector")

    def __init__(self, accumulators: Accumulators, vector: Value, held: HeldOperand) -> None:
        self._build, self._vector, self._held = accumulators.build, vector, held
        self._count = accumulators.layout.extent(REGISTER)

    def write(self, k_slice: int) -> None:
        """Nothing: no thread needs what another has."""

    def parts(self) -> list[list[int]]:
        """All accumulators at once: nothing is loaded for them."""
        return [list(range(self._count))]

    def read(self, k: KIndex, accumulators: Sequence[int]) -> Value:
        """The operand element for each of some accumulators, at a k."""
        at = k.slice_start + k.step
        registers = [self._held.register(each, at) for each in accumulators]
        return select_registers(self._build, self._vector, registers)


class SharedOperand:
    """An operand in shared memory, from which a thread loads what its accumulators need.

    `memory` maps elements to offsets from the byte `start`: of the scratch memory of the dot if it
    is a number, of all shared memory if it is a value. `k_extent` is that of what is in memory at a
    time.
    """

    __slots__ = (
        "_build",
        "_element",
        "_k_extent",
        "_k_offsets",
        "_needed",
        "_op",
        "_start",
        "_thread_bits",
        "_thread_part",
    )

    def __init__(
        self,
        accumulators: Accumulators,
        element: Type,
        shape: tuple[int, ...],
        memory: Layout,
        k_dimension: int,
        k_extent: int,
        start: OpFoldResult,
    ) -> None:
        self._op, self._build, layout = accumulators
        self._element, self._start, self._k_extent = element, start, k_extent

        def offset(position: tuple[int, ...]) -> int:
            row, column = (position[1], 0) if k_dimension == 2 else (0, position[2])
            return element_offset(memory, shape, (position[0] % shape[0], row, column))

        self._k_offsets = [
            element_offset(memory, shape, _k_coordinate(k_dimension, 1 << bit))
            for bit in range(log2(k_extent))
        ]
        thread_images = [offset(unpack(v, layout.shape)) for v in thread_basis(layout)]
        registers = range(layout.extent(REGISTER))
        self._needed = [offset(layout.at(register=r)) for r in registers]
        self._thread_part = apply_linear(
            self._build, thread_id(self._op, self._build), thread_images
        )
        self._thread_bits = gf2.support(thread_images)

    def write(self, k_slice: int) -> None:
        """Nothing: all of it is in memory."""

    def parts(self) -> list[list[int]]:
        """The accumulators that one load at each k serves, load by load."""
        parts: list[list[int]] = []
        for first, count in self._runs(set(self._needed)):
            run = range(first, first + count)
            parts.append([each for each, offset in enumerate(self._needed) if offset in run])
        return parts

    def _runs(self, offsets: set[int]) -> list[tuple[int, int]]:
        dynamic_bits = self._thread_bits | gf2.support(self._k_offsets)
        return _runs(sorted(offsets), dynamic_bits, self._max_vector)

    def read(self, k: KIndex, accumulators: Sequence[int]) -> Value:
        """The operand element for each of some accumulators, at a k."""
        build, base, base_bits = self._build, self._thread_part, self._thread_bits
        if k.loop is not None:
            # Iterations begin at multiples of the unroll factor.
            images = [0 if 1 << bit < UNROLLED else v for bit, v in enumerate(self._k_offsets)]
            base = xor(build, base, apply_linear(build, k.loop, images))
            base_bits |= gf2.support(images)
        shift = gf2.combine(self._k_offsets, (k.slice_start + k.step) % self._k_extent)
        loaded_elements: dict[int, Value] = {}
        needed = [self._needed[each] for each in accumulators]
        for first, count in self._runs(set(needed)):
            pointer = self._pointer(base, first ^ shift, base_bits)
            loaded = load_shared(build, pointer, self._type(count), count * self._bytes)
            for number, value in enumerate(elements(build, loaded)):
                loaded_elements[first + number] = value
        values = [loaded_elements[offset] for offset in needed]
        type = VectorType((len(values),), self._element)
        return build.create(FromElementsOp, elements=values, types=[type]).result

    @property
    def _bytes(self) -> int:
        assert isinstance(self._element, FloatType)
        return self._element.width // 8

    @property
    def _max_vector(self) -> int:
        return MAX_ACCESS_BYTES // self._bytes

    def _pointer(self, thread_part: OpFoldResult, offset: int, thread_bits: int) -> Value:
        """The address of an element, from the thread's part of the offset and a constant one."""
        build, bytes = self._build, self._bytes
        changed = offset & thread_bits
        scaled = multiply(build, xor(build, thread_part, changed), bytes)
        displacement = (offset ^ changed) * bytes
        if isinstance(self._start, int):
            return scratch_pointer(self._op, build, scaled, self._start + displacement)
        # The tile is not in the scratch memory that the dot may own for its other operand.
        displacement -= scratch_offset(self._op)
        return scratch_pointer(self._op, build, add(build, self._start, scaled), displacement)

    def _type(self, count: int) -> Type:
        return self._element if count == 1 else VectorType((count,), self._element)


class StagedOperand(SharedOperand):
    """An operand in registers of any threads, which store it slice by slice."""

    __slots__ = ("_is_owner", "_offsets", "_size", "_values")

    def __init__(
        self,
        accumulators: Accumulators,
        tile: Value,
        vector: Value,
        layout: Layout,
        memory: Layout,
        k_dimension: int,
        k_extent: int,
        start: int,
    ) -> None:
        assert isinstance(vector.type, VectorType)
        element = vector.type.element
        super().__init__(accumulators, element, layout.shape, memory, k_dimension, k_extent, start)
        self._values = elements(self._build, vector)
        self._is_owner = is_owner(self._op, self._build, tile)
        self._offsets = layout.then(memory)
        self._size = layout.size // layout.shape[k_dimension] * k_extent

    def write(self, k_slice: int) -> None:
        """Store a thread's elements of a slice of K."""
        build, offsets = self._build, self._offsets
        images = [vector // self._size for vector in thread_basis(offsets)]
        own = apply_linear(build, thread_id(self._op, build), images)
        groups: dict[int, list[int]] = {}
        for register in range(offsets.extent(REGISTER)):
            groups.setdefault(offsets.packed(register=register) // self._size, []).append(register)
        dynamic_bits = gf2.support(images)
        for number, registers in groups.items():
            if (number ^ k_slice) & ~dynamic_bits:
                continue
            in_slice = self._equals(own, number ^ k_slice)
            with predicated(build, conjunction(build, self._is_owner, in_slice)):
                self._store(registers)

    def _equals(self, value: OpFoldResult, wanted: int) -> Value | None:
        if isinstance(value, int):
            return None
        wanted_value = constant(self._build, wanted)
        return self._build.create(
            CmpIOp, predicate=CmpIPredicate.EQ, lhs=value, rhs=wanted_value
        ).result

    def _store(self, registers: list[int]) -> None:
        build, layout = self._build, self._offsets
        images = [vector % self._size for vector in thread_basis(layout)]
        thread_part = apply_linear(build, thread_id(self._op, build), images)
        thread_bits = gf2.support(images)
        offsets = {layout.packed(register=r) % self._size: r for r in registers}
        for first, count in _runs(sorted(offsets), thread_bits, self._max_vector):
            values = [self._values[offsets[first + n]] for n in range(count)]
            pointer = self._pointer(thread_part, first, thread_bits)
            store_shared(build, pointer, self._vector(values), count * self._bytes)

    def _vector(self, values: list[Value]) -> Value:
        if len(values) == 1:
            return values[0]
        type = VectorType((len(values),), self._element)
        return self._build.create(FromElementsOp, elements=values, types=[type]).result


def _k_coordinate(k_dimension: int, k: int) -> tuple[int, int, int]:
    return (0, 0, k) if k_dimension == 2 else (0, k, 0)


def _runs(offsets: list[int], dynamic_bits: int, most: int) -> list[tuple[int, int]]:
    """Sorted offsets as vector accesses: aligned, contiguous runs of at most `most` elements."""
    present = set(offsets)
    runs: list[tuple[int, int]] = []
    done = -1
    for offset in offsets:
        if offset <= done:
            continue
        count = most
        while count > 1 and not _is_run(offset, count, present, dynamic_bits):
            count //= 2
        runs.append((offset, count))
        done = offset + count - 1
    return runs


def _is_run(offset: int, count: int, present: set[int], dynamic_bits: int) -> bool:
    if (offset | dynamic_bits) & (count - 1):
        return False
    return all(offset + number in present for number in range(count))
