"""dot by fma, without tensor cores: slices of A and B along K go through shared memory.

Every thread accumulates its own elements: for each k it loads the elements of A and B that they
need, and issues one fma for each accumulator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    constant,
    multiply,
    xor,
)
from tilewright.conversion.nv_tileas_to_nvgpu.predication import conjunction, is_owner, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import (
    load_shared,
    scratch_pointer,
    store_shared,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import synchronize, thread_basis, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.nv_tileas.attributes import Atom, layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.dialects.vector.elements import FmaOp, FromElementsOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.operation import Block
from tilewright.ir.types import I32, FloatType, VectorType
from tilewright.layout import gf2
from tilewright.layout.fma_smem import element_offset, slice_smem
from tilewright.layout.linear import REGISTER, log2, unpack
from tilewright.plans.mma import FmaDotPlan
from tilewright.target.arch import MAX_ACCESS_BYTES

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout

UNROLLED: Final = 4
"""The unroll factor of the loop along K."""


@converts(DotOp)
def fma_dot(op: DotOp, new: DotOp, build: ConversionBuilder) -> Result:
    """For each slice of K: store A and B, barrier, accumulate; a barrier before the next."""
    plan = FmaDotPlan.of(op)
    type = new.c.type
    if op.atom is not Atom.FMA or plan is None or not isinstance(type, VectorType):
        return build.reject("expected a dot of floats of one type")
    accumulators = layout_of(op.c).reshape((plan.batch, plan.rows, plan.columns))
    a_operand = FmaOperand(op, build, op.a, new.a, 2, plan, accumulators, 0)
    b_operand = FmaOperand(op, build, op.b, new.b, 1, plan, accumulators, plan.right)
    accumulator = new.c
    for k_slice in range(plan.k // plan.k_slice):
        if k_slice:
            synchronize(op, build)
        a_operand.write(k_slice)
        b_operand.write(k_slice)
        synchronize(op, build)
        accumulator = _accumulate_slice(build, a_operand, b_operand, plan.k_slice, accumulator)
    return accumulator


def _accumulate_slice(
    build: ConversionBuilder,
    a_operand: FmaOperand,
    b_operand: FmaOperand,
    k: int,
    accumulator: Value,
) -> Value:
    """Accumulate over a slice of K."""
    step = min(UNROLLED, k)
    if k == step:
        return _unrolled_fmas(build, a_operand, b_operand, None, step, accumulator)
    bounds = [constant(build, number) for number in (0, k, step)]
    body = Block([I32, accumulator.type], [build.location] * 2)
    loop = build.create(
        ForOp,
        lower_bound=bounds[0],
        upper_bound=bounds[1],
        step=bounds[2],
        init_args=[accumulator],
        body=body,
        types=[accumulator.type],
    )
    with build.at(InsertPoint.at_end(body)):
        result = _unrolled_fmas(build, a_operand, b_operand, body.args[0], step, body.args[1])
        build.create(YieldOp, values=[result])
    return loop.outputs[0]


def _unrolled_fmas(
    build: ConversionBuilder,
    a_operand: FmaOperand,
    b_operand: FmaOperand,
    k: Value | None,
    count: int,
    accumulator: Value,
) -> Value:
    for step in range(count):
        a, b = a_operand.read(k, step), b_operand.read(k, step)
        accumulator = build.create(FmaOp, lhs=a, rhs=b, acc=accumulator).result
    return accumulator


class FmaOperand:
    """A or B in shared memory: a thread stores its part, and loads what its accumulators need."""

    __slots__ = (
        "_build",
        "_element",
        "_is_owner",
        "_k_offsets",
        "_needed",
        "_offsets",
        "_op",
        "_size",
        "_start",
        "_thread_bits",
        "_thread_part",
        "_values",
    )

    def __init__(
        self,
        op: DotOp,
        build: ConversionBuilder,
        tile: Value,
        vector: Value,
        k_dimension: int,
        plan: FmaDotPlan,
        accumulators: Layout,
        start: int,
    ) -> None:
        self._op, self._build, self._start = op, build, start
        assert isinstance(vector.type, VectorType)
        self._element = vector.type.element
        self._values = elements(build, vector)
        self._is_owner = is_owner(op, build, tile)
        *_, rows, columns = layout_of(tile).shape
        layout = layout_of(tile).reshape((plan.batch, rows, columns))
        memory = slice_smem(layout, k_dimension, plan.k_slice)
        self._offsets = layout.then(memory)
        self._size = layout.size // plan.k * plan.k_slice

        def offset(position: tuple[int, ...]) -> int:
            row, column = (position[1], 0) if k_dimension == 2 else (0, position[2])
            return element_offset(memory, layout.shape, (position[0], row, column))

        self._k_offsets = [
            element_offset(memory, layout.shape, _k_coordinate(k_dimension, 1 << bit))
            for bit in range(log2(plan.k_slice))
        ]
        thread_images = [offset(unpack(v, accumulators.shape)) for v in thread_basis(accumulators)]
        registers = range(accumulators.extent(REGISTER))
        self._needed = [offset(accumulators.at(register=r)) for r in registers]
        self._thread_part = apply_linear(build, thread_id(op, build), thread_images)
        self._thread_bits = gf2.support(thread_images)

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

    @property
    def _bytes(self) -> int:
        assert isinstance(self._element, FloatType)
        return self._element.width // 8

    @property
    def _max_vector(self) -> int:
        return MAX_ACCESS_BYTES // self._bytes

    def _vector(self, values: list[Value]) -> Value:
        if len(values) == 1:
            return values[0]
        type = VectorType((len(values),), self._element)
        return self._build.create(FromElementsOp, elements=values, types=[type]).result

    def _pointer(self, thread_part: OpFoldResult, offset: int, thread_bits: int) -> Value:
        """The address of an element, from the thread's part of the offset and a constant one."""
        build, bytes = self._build, self._bytes
        changed = offset & thread_bits
        scaled = multiply(build, xor(build, thread_part, changed), bytes)
        displacement = self._start + (offset ^ changed) * bytes
        return scratch_pointer(self._op, build, scaled, displacement)

    def read(self, k: Value | None, step: int) -> Value:
        """The operand element for each accumulator of the thread, at `k + step`."""
        build, base, base_bits = self._build, self._thread_part, self._thread_bits
        if k is not None:
            # Iterations begin at multiples of the unroll factor.
            images = [0 if 1 << bit < UNROLLED else v for bit, v in enumerate(self._k_offsets)]
            base = xor(build, base, apply_linear(build, k, images))
            base_bits |= gf2.support(images)
        shift = gf2.combine(self._k_offsets, step)
        loaded_elements: dict[int, Value] = {}
        dynamic_bits = self._thread_bits | gf2.support(self._k_offsets)
        for first, count in _runs(sorted(set(self._needed)), dynamic_bits, self._max_vector):
            pointer = self._pointer(base, first ^ shift, base_bits)
            loaded = load_shared(build, pointer, self._type(count), count * self._bytes)
            for number, value in enumerate(elements(build, loaded)):
                loaded_elements[first + number] = value
        values = [loaded_elements[offset] for offset in self._needed]
        type = VectorType((len(values),), self._element)
        return build.create(FromElementsOp, elements=values, types=[type]).result

    def _type(self, count: int) -> Type:
        return self._element if count == 1 else VectorType((count,), self._element)


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


PATTERNS: Final[Patterns] = (fma_dot,)
