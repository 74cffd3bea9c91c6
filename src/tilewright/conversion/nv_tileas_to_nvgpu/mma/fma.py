"""Products of matrices without tensor cores: factors go through shared memory, slab by slab.

Every thread sums up its elements: at each place along the depth it reads the rows and columns
that it needs, and multiplies all of them at once.
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
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_basis, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.gpu.threads import BarrierOp
from tilewright.dialects.nv_tileas.attributes import Atom, layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.dialects.vector.elements import FmaOp, FromElementsOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.operation import Block
from tilewright.ir.types import I32, FloatType, VectorType
from tilewright.layout import gf2
from tilewright.layout.linear import REGISTER, log2, unpack
from tilewright.layout.slabs import line_offset, slab_memory
from tilewright.plans.mma import FmaDotPlan
from tilewright.target.arch import MAX_ACCESS_BYTES

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout

UNROLLED: Final = 4
"""How many places along the depth one iteration multiplies."""


@converts(DotOp)
def fma_dot(op: DotOp, new: DotOp, build: ConversionBuilder) -> Result:
    """Write a slab of both factors, wait, multiply; wait before the next."""
    plan = FmaDotPlan.of(op)
    type = new.c.type
    if op.atom is not Atom.FMA or plan is None or not isinstance(type, VectorType):
        return build.reject("expected a product of floats of one type")
    total = layout_of(op.c).reshape((plan.batch, plan.rows, plan.columns))
    left = FmaOperand(op, build, op.a, new.a, 2, plan, total, 0)
    right = FmaOperand(op, build, op.b, new.b, 1, plan, total, plan.right)
    sums = new.c
    for slab in range(plan.depth // plan.slab):
        if slab:
            build.create(BarrierOp)
        left.write(slab)
        right.write(slab)
        build.create(BarrierOp)
        sums = _accumulate_slab(build, left, right, plan.slab, sums)
    return sums


def _accumulate_slab(
    build: ConversionBuilder, left: FmaOperand, right: FmaOperand, depth: int, sums: Value
) -> Value:
    """The sums with all products of a slab."""
    step = min(UNROLLED, depth)
    if depth == step:
        return _unrolled_fmas(build, left, right, None, step, sums)
    bounds = [constant(build, number) for number in (0, depth, step)]
    body = Block([I32, sums.type], [build.location] * 2)
    loop = build.create(
        ForOp,
        lower_bound=bounds[0],
        upper_bound=bounds[1],
        step=bounds[2],
        init_args=[sums],
        body=body,
        types=[sums.type],
    )
    with build.at(InsertPoint.at_end(body)):
        found = _unrolled_fmas(build, left, right, body.args[0], step, body.args[1])
        build.create(YieldOp, values=[found])
    return loop.outputs[0]


def _unrolled_fmas(
    build: ConversionBuilder,
    left: FmaOperand,
    right: FmaOperand,
    start: Value | None,
    count: int,
    sums: Value,
) -> Value:
    for inside in range(count):
        a, b = left.read(start, inside), right.read(start, inside)
        sums = build.create(FmaOp, lhs=a, rhs=b, acc=sums).result
    return sums


class FmaOperand:
    """A or B in shared memory: how a thread writes its part, and what it reads for its sums."""

    __slots__ = (
        "_acting",
        "_build",
        "_depths",
        "_element",
        "_needed",
        "_op",
        "_own",
        "_places",
        "_reach",
        "_size",
        "_start",
        "_values",
    )

    def __init__(
        self,
        op: DotOp,
        build: ConversionBuilder,
        tile: Value,
        vector: Value,
        along: int,
        plan: FmaDotPlan,
        total: Layout,
        start: int,
    ) -> None:
        self._op, self._build, self._start = op, build, start
        assert isinstance(vector.type, VectorType)
        self._element = vector.type.element
        self._values = elements(build, vector)
        self._acting = is_owner(op, build, tile)
        *_, rows, columns = layout_of(tile).shape
        held = layout_of(tile).reshape((plan.batch, rows, columns))
        memory = slab_memory(held, along, plan.slab)
        self._places = held.then(memory)
        self._size = held.size // plan.depth * plan.slab

        def offset(place: tuple[int, ...]) -> int:
            row, column = (place[1], 0) if along == 2 else (0, place[2])
            return line_offset(memory, held.shape, (place[0], row, column))

        self._depths = [
            line_offset(memory, held.shape, _k_coordinate(along, 1 << bit))
            for bit in range(log2(plan.slab))
        ]
        own = [offset(unpack(v, total.shape)) for v in thread_basis(total)]
        self._needed = [offset(total.at(register=r)) for r in range(total.extent(REGISTER))]
        self._own = apply_linear(build, thread_id(op, build), own)
        self._reach = gf2.support(own)

    def write(self, slab: int) -> None:
        """Put what a thread holds of a slab into memory."""
        build, places = self._build, self._places
        moved = [vector // self._size for vector in thread_basis(places)]
        mine = apply_linear(build, thread_id(self._op, build), moved)
        groups: dict[int, list[int]] = {}
        for register in range(places.extent(REGISTER)):
            groups.setdefault(places.packed(register=register) // self._size, []).append(register)
        reach = gf2.support(moved)
        for number, registers in groups.items():
            if (number ^ slab) & ~reach:
                continue
            with predicated(build, conjunction(build, self._acting, self._is(mine, number ^ slab))):
                self._store(registers)

    def _is(self, mine: OpFoldResult, wanted: int) -> Value | None:
        if isinstance(mine, int):
            return None
        other = constant(self._build, wanted)
        return self._build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=mine, rhs=other).result

    def _store(self, registers: list[int]) -> None:
        build, places = self._build, self._places
        inside = [vector % self._size for vector in thread_basis(places)]
        own = apply_linear(build, thread_id(self._op, build), inside)
        reach = gf2.support(inside)
        offsets = {places.packed(register=r) % self._size: r for r in registers}
        for first, count in _runs(sorted(offsets), reach, self._most):
            values = [self._values[offsets[first + n]] for n in range(count)]
            pointer = self._pointer(own, first, reach)
            store_shared(build, pointer, self._joined(values), count * self._bytes)

    @property
    def _bytes(self) -> int:
        assert isinstance(self._element, FloatType)
        return self._element.width // 8

    @property
    def _most(self) -> int:
        return MAX_ACCESS_BYTES // self._bytes

    def _joined(self, values: list[Value]) -> Value:
        if len(values) == 1:
            return values[0]
        type = VectorType((len(values),), self._element)
        return self._build.create(FromElementsOp, elements=values, types=[type]).result

    def _pointer(self, own: OpFoldResult, offset: int, reach: int) -> Value:
        """The address of an element: the thread's part of the offset, and another."""
        build, bytes = self._build, self._bytes
        changed = offset & reach
        scaled = multiply(build, xor(build, own, changed), bytes)
        further = self._start + (offset ^ changed) * bytes
        return scratch_pointer(self._op, build, scaled, further)

    def read(self, depth: Value | None, further: int) -> Value:
        """For each sum of the thread, the factor so much further than a place along the depth."""
        build, own, reach = self._build, self._own, self._reach
        if depth is not None:
            # Iterations begin at multiples of so many places.
            steps = [0 if 1 << bit < UNROLLED else v for bit, v in enumerate(self._depths)]
            own = xor(build, own, apply_linear(build, depth, steps))
            reach |= gf2.support(steps)
        shift = gf2.combine(self._depths, further)
        found: dict[int, Value] = {}
        apart = self._reach | gf2.support(self._depths)
        for first, count in _runs(sorted(set(self._needed)), apart, self._most):
            pointer = self._pointer(own, first ^ shift, reach)
            loaded = load_shared(build, pointer, self._type(count), count * self._bytes)
            for number, value in enumerate(elements(build, loaded)):
                found[first + number] = value
        values = [found[offset] for offset in self._needed]
        whole = VectorType((len(values),), self._element)
        return build.create(FromElementsOp, elements=values, types=[whole]).result

    def _type(self, count: int) -> Type:
        return self._element if count == 1 else VectorType((count,), self._element)


def _k_coordinate(along: int, depth: int) -> tuple[int, int, int]:
    return (0, 0, depth) if along == 2 else (0, depth, 0)


def _runs(offsets: list[int], reach: int, most: int) -> list[tuple[int, int]]:
    """Sorted offsets as runs that can be accessed at once: aligned, and side by side."""
    present = set(offsets)
    runs: list[tuple[int, int]] = []
    done = -1
    for offset in offsets:
        if offset <= done:
            continue
        count = most
        while count > 1 and not _is_run(offset, count, present, reach):
            count //= 2
        runs.append((offset, count))
        done = offset + count - 1
    return runs


def _is_run(offset: int, count: int, present: set[int], reach: int) -> bool:
    if (offset | reach) & (count - 1):
        return False
    return all(offset + number in present for number in range(count))


PATTERNS: Final[Patterns] = (fma_dot,)
