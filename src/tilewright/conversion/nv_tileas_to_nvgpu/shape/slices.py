"""Parts of tiles: registers of a thread, counted by indices that may be known or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    as_value,
    constants,
    multiply,
    parity,
)
from tilewright.conversion.nv_tileas_to_nvgpu.predication import is_thread, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import (
    from_words,
    to_words,
    word_type,
)
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import (
    load_shared,
    scratch_pointer,
    store_shared,
)
from tilewright.conversion.nv_tileas_to_nvgpu.shape.rearrangements import rearrange_registers
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_basis
from tilewright.conversion.nv_tileas_to_nvgpu.types import registers
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements, select, select_registers
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.gpu.threads import BarrierOp
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileas import shape
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.vector.shapes import BroadcastOp, ShuffleOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I32, VectorType
from tilewright.layout.gf2 import combine
from tilewright.layout.linear import REGISTER, log2
from tilewright.layout.parts import beside, inside
from tilewright.plans.scratch import register_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.values import Value


@converts(shape.CatOp)
def cat(op: shape.CatOp, new: shape.CatOp, build: ConversionBuilder) -> Result:
    """Each register is one of the first tile or one of the second."""
    whole, size = layout_of(op.result), extents(op.lhs.type)
    part = inside(whole, size)
    assert part is not None
    sides = [
        rearrange_registers(op, build, build.value(side), layout_of(side), part)
        for side in (op.lhs, op.rhs)
    ]
    count = part.extent(REGISTER)
    homes = {part.at(register=register): register for register in range(count)}
    order: list[int] = []
    for register in range(whole.extent(REGISTER)):
        place = list(whole.at(register=register))
        second = place[op.axis] >= size[op.axis]
        place[op.axis] %= size[op.axis]
        order.append(homes[tuple(place)] + (count if second else 0))
    (type,) = build.types.convert_all([op.result.type]) or (I32,)
    return build.create(ShuffleOp, v1=sides[0], v2=sides[1], mask=order, types=[type])


def _linear_index(
    build: ConversionBuilder, indices: Sequence[Value], counts: Sequence[int]
) -> OpFoldResult:
    """Which of all parts the indices mean; the last dimension counts fastest."""
    total: OpFoldResult = 0
    scale = 1
    for index, count in zip(reversed(indices), reversed(counts), strict=True):
        total = add(build, total, multiply(build, _folded(index), scale))
        scale *= count
    return total


def _folded(index: Value) -> OpFoldResult:
    """An index as a number, if it is a constant."""
    maker = index.defined_by(ConstantOp)
    if maker is not None and isinstance(maker.value, IntegerAttr):
        return maker.value.value
    return index


def _counts(whole: Value, part: Value) -> list[int]:
    sizes = zip(extents(whole.type), extents(part.type), strict=True)
    return [outer // inner for outer, inner in sizes]


def select_group(build: ConversionBuilder, vector: Value, number: OpFoldResult, size: int) -> Value:
    """So many registers, by the number of the group that they are; groups are halved bit by bit."""
    assert isinstance(vector.type, VectorType)
    count = vector.type.shape[0]
    if isinstance(number, int):
        start = number * size % count
        return select_registers(build, vector, list(range(start, start + size)))
    for bit in range(log2(count // size)):
        groups = range(0, count >> bit, 2 * size)
        even = [start + register for start in groups for register in range(size)]
        halves = [select_registers(build, vector, [r + side for r in even]) for side in (0, size)]
        odd = parity(build, number, 1 << bit)
        vector = select(build, odd, halves[1], halves[0])
    return vector


@converts(shape.ExtractSliceOp)
def extract_slice(
    op: shape.ExtractSliceOp, new: shape.ExtractSliceOp, build: ConversionBuilder
) -> Result:
    """The registers of one part."""
    whole = beside(layout_of(op.result), extents(op.source.type))
    vector = rearrange_registers(op, build, new.source, layout_of(op.source), whole)
    number = _linear_index(build, new.indices, _counts(op.source, op.result))
    return select_group(build, vector, number, registers(op.result))


@converts(shape.InsertSliceOp)
def insert_slice(
    op: shape.InsertSliceOp, new: shape.InsertSliceOp, build: ConversionBuilder
) -> Result:
    """The registers of all other parts, and those of the new one."""
    mine, outer = layout_of(op.result), extents(op.result.type)
    whole = beside(layout_of(op.source), outer)
    vector = rearrange_registers(op, build, new.destination, mine, whole)
    size, count = registers(op.source), whole.extent(REGISTER)
    number = _linear_index(build, new.indices, _counts(op.result, op.source))
    repeated = select_registers(build, new.source, [register % size for register in range(count)])
    groups = constants(build, [register // size for register in range(count)])
    value = as_value(build, number)
    here = build.create(BroadcastOp, source=value, types=[groups.type]).result
    taken = build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=groups, rhs=here).result
    changed = select(build, taken, repeated, vector)
    return rearrange_registers(op, build, changed, whole, mine)


@converts(shape.ExtractOp)
def extract(op: shape.ExtractOp, new: shape.ExtractOp, build: ConversionBuilder) -> Result:
    """Every thread picks a register if all hold the tile; else its holders write it down."""
    layout, sizes = layout_of(op.source), extents(op.source.type)
    if layout.size == 1:
        return elements(build, new.source)[0]
    number = _linear_index(build, new.indices, sizes)
    if any(thread_basis(layout)):
        return _broadcast_from_owner(op, new.source, number, build)
    order = [0] * layout.size
    for register in range(layout.extent(REGISTER)):
        order[layout.packed(register=register)] = register
    one = select_group(build, select_registers(build, new.source, order), number, 1)
    return elements(build, one)[0]


def _broadcast_from_owner(
    op: shape.ExtractOp, tile: Value, number: OpFoldResult, build: ConversionBuilder
) -> Value:
    """The thread that has the element writes it to shared memory, where all read it."""
    owner, register = owner_of(op.source, number, build)
    one = select_group(build, tile, register, 1)
    bytes = register_bytes(element_of(op.source.type))
    pointer = scratch_pointer(op, build, 0)
    with predicated(build, is_thread(op, owner, build)):
        store_shared(build, pointer, to_words(build, one, bytes)[0], bytes)
    build.create(BarrierOp)
    word = load_shared(build, pointer, word_type(bytes), bytes)
    assert isinstance(one.type, VectorType)
    return elements(build, from_words(build, [word], one.type))[0]


def owner_of(
    tile: Value, number: OpFoldResult, build: ConversionBuilder
) -> tuple[OpFoldResult, OpFoldResult]:
    """The thread, and the register of it, that hold an element; replicas are passed over."""
    layout = layout_of(tile)
    width = log2(layout.extent(REGISTER))
    vectors = list(layout.inverse().vectors("element"))
    if isinstance(number, int):
        place = combine(vectors, number)
        return place >> width, place & (1 << width) - 1
    threads = apply_linear(build, number, [vector >> width for vector in vectors])
    return threads, apply_linear(build, number, [vector & (1 << width) - 1 for vector in vectors])


PATTERNS: Final[Patterns] = (
    cat,
    extract_slice,
    insert_slice,
    extract,
)
