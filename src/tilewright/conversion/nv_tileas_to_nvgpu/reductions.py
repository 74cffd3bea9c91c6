"""Reductions: in the registers of a thread, then across lanes, then across warps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.scratch import register_bytes
from tilewright.conversion.nv_tileas_to_nvgpu.arithmetic import (
    Number,
    add,
    constant,
    exclusive_or,
    multiply,
)
from tilewright.conversion.nv_tileas_to_nvgpu.bodies import combine
from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import linear
from tilewright.conversion.nv_tileas_to_nvgpu.memory import elements
from tilewright.conversion.nv_tileas_to_nvgpu.moves import where
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import (
    read_shared,
    shared_pointer,
    write_shared,
)
from tilewright.conversion.nv_tileas_to_nvgpu.shape import picked
from tilewright.conversion.nv_tileas_to_nvgpu.shuffles import shuffled
from tilewright.conversion.nv_tileas_to_nvgpu.threads import (
    LANE_BITS,
    replica_mask,
    thread,
    thread_vectors,
)
from tilewright.conversion.nv_tileas_to_nvgpu.words import (
    from_words,
    to_words,
    word_type,
)
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.integer import AndIOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.gpu.attributes import ShuffleMode
from tilewright.dialects.gpu.threads import BarrierOp
from tilewright.dialects.nv_tileas.aggregate import ReduceOp
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import TensorType, VectorType
from tilewright.layout.linear import REGISTER
from tilewright.layout.reduction import Reduction, reduction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.values import Value


SLOT_ALIGNMENT: Final = 16


@converts(ReduceOp)
def reduce(op: ReduceOp, new: ReduceOp, build: ConversionBuilder) -> Result:
    """Each step halves what is left: registers, then lanes, then warps."""
    steps = reduction(layout_of(op.sources[0]), op.axis)
    parts = _in_registers(op, build, list(new.sources), steps)
    for step in steps.lanes:
        others = [_from_lane(build, part, step.bits, step.registers) for part in parts]
        parts = combine(op, build, parts, others)
    if steps.warps:
        parts = _across_warps(op, build, parts, steps)
    scalars = not isinstance(op.results[0].type, TensorType)
    return [elements(build, part)[0] if scalars else part for part in parts]


def _in_registers(
    op: ReduceOp, build: ConversionBuilder, parts: list[Value], steps: Reduction
) -> list[Value]:
    """The registers of one line next to each other, then the first half with the second."""
    count = len(steps.groups[0])
    order = [group[member] for member in range(count) for group in steps.groups]
    parts = [picked(build, part, order) for part in parts]
    left = len(order)
    while left > len(steps.groups):
        left //= 2
        low = [picked(build, part, list(range(left))) for part in parts]
        high = [picked(build, part, list(range(left, 2 * left))) for part in parts]
        parts = combine(op, build, low, high)
    return parts


def _from_lane(build: ConversionBuilder, part: Value, bits: int, registers: int) -> Value:
    """The registers of another lane, in the order in which their lines are this lane's."""
    type = part.type
    assert isinstance(type, VectorType)
    part = picked(build, part, [register ^ registers for register in range(type.shape[0])])
    return shuffled(build, part, ShuffleMode.XOR, constant(build, bits))


def _across_warps(
    op: ReduceOp, build: ConversionBuilder, parts: list[Value], steps: Reduction
) -> list[Value]:
    """Every warp puts its part of each line into a slot; then all threads combine all slots."""
    own = linear(build, thread(op, build), thread_vectors(steps.partial))
    slot = linear(build, thread(op, build), _slot_vectors(steps))
    lines = steps.partial.size
    starts: list[int] = []
    total = 0
    for source in op.sources:
        starts.append(total)
        size = lines * register_bytes(element_of(source.type)) << len(steps.warps)
        total += -(-size // SLOT_ALIGNMENT) * SLOT_ALIGNMENT
    numbers = [steps.partial.packed(register=r) for r in range(steps.partial.extent(REGISTER))]

    def place(source: int, register: int, at: Number) -> Value:
        """The address of a line's part in a slot."""
        line = exclusive_or(build, own, numbers[register])
        index = add(build, multiply(build, at, lines), line)
        bytes = register_bytes(element_of(op.sources[source].type))
        return shared_pointer(op, build, add(build, multiply(build, index, bytes), starts[source]))

    with where(build, _speaks(op, build, steps)):
        for source, part in enumerate(parts):
            bytes = register_bytes(element_of(op.sources[source].type))
            for register, word in enumerate(to_words(build, part, bytes)):
                write_shared(build, place(source, register, slot), word, bytes)
    build.create(BarrierOp)
    found: list[Value] = []
    for at in range(1 << len(steps.warps)):
        taken = [
            _taken(op, build, part, [place(source, r, at) for r in range(len(numbers))], source)
            for source, part in enumerate(parts)
        ]
        found = combine(op, build, found, taken) if found else taken
    return found


def _taken(
    op: ReduceOp, build: ConversionBuilder, part: Value, pointers: Sequence[Value], source: int
) -> Value:
    bytes = register_bytes(element_of(op.sources[source].type))
    words = [read_shared(build, pointer, word_type(bytes), bytes) for pointer in pointers]
    assert isinstance(part.type, VectorType)
    return from_words(build, words, part.type)


def _slot_vectors(steps: Reduction) -> list[int]:
    """What each bit of the thread's number contributes to the number of its slot."""
    vectors = [0] * len(thread_vectors(steps.partial))
    for number, step in enumerate(steps.warps):
        vectors[LANE_BITS + step.leading] = 1 << number
    return vectors


def _speaks(op: ReduceOp, build: ConversionBuilder, steps: Reduction) -> Value | None:
    """Whether the thread is the one that speaks for its lines in its slot."""
    mask = replica_mask(steps.partial)
    for step in steps.warps:
        mask &= ~(1 << (LANE_BITS + step.leading))
    if not mask:
        return None
    bits = build.create(AndIOp, lhs=thread(op, build), rhs=constant(build, mask)).result
    zero = constant(build, 0)
    return build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=bits, rhs=zero).result


PATTERNS: Final[Patterns] = (reduce,)
