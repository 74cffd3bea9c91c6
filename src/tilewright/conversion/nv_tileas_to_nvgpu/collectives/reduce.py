"""reduce: in the registers of a thread, then across lanes, then across warps."""

from __future__ import annotations

import functools
from operator import xor
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.collectives.vectorized_body import combine_vectors
from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    constant,
    multiply,
)
from tilewright.conversion.nv_tileas_to_nvgpu.predication import predicated
from tilewright.conversion.nv_tileas_to_nvgpu.shared_tile import SharedTile
from tilewright.conversion.nv_tileas_to_nvgpu.threads import (
    LANE_BITS,
    replica_mask,
    synchronize,
    thread_basis,
    thread_id,
)
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import (
    elements,
    map_elements,
    select_registers,
)
from tilewright.conversion.nv_tileas_to_nvgpu.warp_shuffles import shuffle_registers
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.integer import AndIOp, MaxSIOp, MaxUIOp, MinSIOp, MinUIOp
from tilewright.dialects.elements import element_of, vector
from tilewright.dialects.gpu.attributes import AllReduceOperation, ShuffleMode
from tilewright.dialects.gpu.threads import SubgroupReduceOp
from tilewright.dialects.nv_tileaa import integer as tileaa
from tilewright.dialects.nv_tileaa.conversion import ExtIOp
from tilewright.dialects.nv_tileas.aggregate import ReduceOp
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.vector.elements import FromElementsOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I1, I32, TensorType, VectorType
from tilewright.layout.pieces import one_piece, piece_registers
from tilewright.layout.reduction import Reduction, reduction
from tilewright.layout.staging import common_vector, staging
from tilewright.plans.scratch import register_bytes, slot_exchanges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout

_REDUCTIONS: Final[Mapping[type[Operation], AllReduceOperation]] = {
    tileaa.AddIOp: AllReduceOperation.ADD,
    tileaa.AndIOp: AllReduceOperation.AND,
    tileaa.OrIOp: AllReduceOperation.OR,
    tileaa.XOrIOp: AllReduceOperation.XOR,
    MaxSIOp: AllReduceOperation.MAXSI,
    MaxUIOp: AllReduceOperation.MAXUI,
    MinSIOp: AllReduceOperation.MINSI,
    MinUIOp: AllReduceOperation.MINUI,
}
"""The operations of `redux.sync`, by the operation in the body of a reduction."""
CHAINS_LOG2: Final = 2
"""Of the chains in which a thread adds conditions, so that it waits for none of them."""


@converts(ReduceOp)
def reduce(op: ReduceOp, new: ReduceOp, build: ConversionBuilder) -> Result:
    """A tree reduction: each step halves the registers, then the lanes, then the warps."""
    steps = reduction(layout_of(op.sources[0]), op.axis)
    parts = _across_lanes(op, build, _in_registers(op, build, list(new.sources), steps), steps)
    if steps.warps:
        parts = _across_warps(op, build, parts, steps)
    scalars = not isinstance(op.results[0].type, TensorType)
    return [elements(build, part)[0] if scalars else part for part in parts]


def _in_registers(
    op: ReduceOp, build: ConversionBuilder, parts: list[Value], steps: Reduction
) -> list[Value]:
    """Combine half of the registers with the other half until each line has one left.

    Registers far from each other are combined first, so that pairs of 16-bit elements share a
    register for as long as possible.
    """
    remaining = list(range(sum(map(len, steps.groups))))
    masks = steps.registers
    if _counts(op):
        masks = masks[-CHAINS_LOG2:]
        parts, remaining = _in_chains(op, build, parts, steps.registers[:-CHAINS_LOG2], remaining)
    for mask in masks:
        positions = {register: position for position, register in enumerate(remaining)}
        remaining = [register for register in remaining if register ^ mask > register]
        low = [positions[register] for register in remaining]
        high = [positions[register ^ mask] for register in remaining]
        parts = combine_vectors(
            op,
            build,
            [select_registers(build, part, low) for part in parts],
            [select_registers(build, part, high) for part in parts],
        )
    positions = {register: position for position, register in enumerate(remaining)}
    order = [next(positions[each] for each in group if each in positions) for group in steps.groups]
    return [select_registers(build, part, order) for part in parts]


def _counts(op: ReduceOp) -> bool:
    """Whether a reduction counts how often a condition holds."""
    source, body = op.sources[0].defining_op(), op.regions[0].block
    is_sum = len(op.sources) == 1 and isinstance(body.first, tileaa.AddIOp)
    return is_sum and isinstance(source, ExtIOp) and element_of(source.source.type) is I1


def _in_chains(
    op: ReduceOp,
    build: ConversionBuilder,
    parts: list[Value],
    masks: Sequence[int],
    registers: Sequence[int],
) -> tuple[list[Value], list[int]]:
    """Add registers one after the other to those that remain; returns these.

    ptxas adds a condition to a sum by one instruction and a predicate, but makes each of two
    conditions a number to add them.
    """
    remaining = [each for each in registers if all(each ^ mask > each for mask in masks)]
    results = [select_registers(build, part, remaining) for part in parts]
    for number in range(1, 1 << len(masks)):
        offset = functools.reduce(xor, (m for bit, m in enumerate(masks) if number >> bit & 1))
        others = [register ^ offset for register in remaining]
        results = combine_vectors(
            op, build, results, [select_registers(build, part, others) for part in parts]
        )
    return results, remaining


def _across_lanes(
    op: ReduceOp, build: ConversionBuilder, parts: list[Value], steps: Reduction
) -> list[Value]:
    """Combine partial results of lanes: those of a whole warp at once, if an instruction can."""
    kind = _warp_reduction(op, steps)
    if kind is not None:

        def reduced(each: Sequence[Value]) -> Value:
            return build.create(SubgroupReduceOp, value=each[0], op=kind).result

        return [map_elements(build, reduced, part) for part in parts]
    for step in steps.lanes:
        others = [_from_lane(build, part, step.bits, step.registers) for part in parts]
        parts = combine_vectors(op, build, parts, others)
    return parts


def _warp_reduction(op: ReduceOp, steps: Reduction) -> AllReduceOperation | None:
    """The operation of `redux.sync` that the body is, on an i32 that all lanes of a warp hold."""
    if len(steps.lanes) != LANE_BITS or any(step.registers for step in steps.lanes):
        return None
    body = op.regions[0].block
    (first, *_), end = body, body.terminator
    is_whole_body = end is not None and tuple(end.operands) == first.results
    if not is_whole_body or set(first.operands) != set(body.args):
        return None
    if element_of(op.sources[0].type) is not I32:
        return None
    return _REDUCTIONS.get(type(first))


def _from_lane(build: ConversionBuilder, part: Value, bits: int, registers: int) -> Value:
    """The registers of another lane, ordered so that each is of the same line as this lane's."""
    type = part.type
    assert isinstance(type, VectorType)
    part = select_registers(
        build, part, [register ^ registers for register in range(type.shape[0])]
    )
    return shuffle_registers(build, part, ShuffleMode.XOR, constant(build, bits))


def _across_warps(
    op: ReduceOp, build: ConversionBuilder, parts: list[Value], steps: Reduction
) -> list[Value]:
    """Combine partial results of warps through shared memory; many lines take several passes."""
    bits = steps.iterations(sum(register_bytes(element_of(source.type)) for source in op.sources))
    if not bits:
        return _combine_across_warps(op, build, parts, steps, steps.partial)
    lines = one_piece(steps.partial, bits)
    results: list[dict[int, Value]] = [{} for _ in parts]
    for index in range(1 << len(bits)):
        if index:
            synchronize(op, build)
        registers = piece_registers(steps.partial, bits, index)
        selected = [select_registers(build, part, registers) for part in parts]
        for registers_of, part in zip(
            results, _combine_across_warps(op, build, selected, steps, lines), strict=True
        ):
            registers_of.update(zip(registers, elements(build, part), strict=True))
    return [
        build.create(
            FromElementsOp,
            elements=[registers_of[register] for register in range(len(registers_of))],
            types=[part.type],
        ).result
        for registers_of, part in zip(results, parts, strict=True)
    ]


def _combine_across_warps(
    op: ReduceOp, build: ConversionBuilder, parts: list[Value], steps: Reduction, lines: Layout
) -> list[Value]:
    """Every warp stores its partial results to a slot; then all threads combine all slots.

    Of many sources, some are exchanged after others, through the same memory.
    """
    slot = apply_linear(build, thread_id(op, build), _slot_vectors(steps))
    is_owner = _is_slot_owner(op, build, steps)
    received: list[list[Value]] = [[] for _ in range(1 << len(steps.warps))]
    combined: list[Value] = []
    for exchange in slot_exchanges(op, steps):
        if received[0]:
            synchronize(op, build)
        areas: dict[int, _Slots] = {}
        start = 0
        for source, bytes in exchange.items():
            element = register_bytes(element_of(op.sources[source].type))
            areas[source] = _Slots(op, build, lines, element, start)
            start += bytes
        with predicated(build, is_owner):
            for source, area in areas.items():
                area.at(slot).write(parts[source])
        synchronize(op, build)
        for index, values in enumerate(received):
            values += [area.at(index).read(vector(parts[each])) for each, area in areas.items()]
            if len(values) == len(parts):
                combined = combine_vectors(op, build, combined, values) if combined else values
    return combined


class _Slots:
    """Scratch memory for the partial results of one source: a slot for each warp."""

    __slots__ = ("_build", "_element", "_offsets", "_op", "_start", "_vector", "bytes")

    def __init__(
        self, op: ReduceOp, build: ConversionBuilder, lines: Layout, element: int, start: int
    ) -> None:
        self._op, self._build = op, build
        self._element, self._start = element, start
        self._offsets = lines.then(staging(lines, lines, element).inverse())
        self._vector = 1 << len(common_vector(lines, lines, element))
        self.bytes = lines.size * element
        """The size of a slot."""

    def at(self, slot: OpFoldResult) -> SharedTile:
        """A slot; constant indices share a base address."""
        index = slot if isinstance(slot, int) else 0
        start = 0 if isinstance(slot, int) else multiply(self._build, slot, self.bytes)
        return SharedTile(
            self._op,
            self._build,
            self._offsets,
            self._vector,
            self._element,
            start=start,
            displacement=self._start + index * self.bytes,
        )


def _slot_vectors(steps: Reduction) -> list[int]:
    """The images of the thread id's bits in the index of its slot."""
    vectors = [0] * len(thread_basis(steps.partial))
    for number, step in enumerate(steps.warps):
        vectors[LANE_BITS + step.leading] = 1 << number
    return vectors


def _is_slot_owner(op: ReduceOp, build: ConversionBuilder, steps: Reduction) -> Value | None:
    """Whether the thread owns its lines in the slot of its warp; None if every thread does."""
    mask = replica_mask(steps.partial)
    for step in steps.warps:
        mask &= ~(1 << (LANE_BITS + step.leading))
    if not mask:
        return None
    bits = build.create(AndIOp, lhs=thread_id(op, build), rhs=constant(build, mask)).result
    zero = constant(build, 0)
    return build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=bits, rhs=zero).result


PATTERNS: Final[Patterns] = (reduce,)
