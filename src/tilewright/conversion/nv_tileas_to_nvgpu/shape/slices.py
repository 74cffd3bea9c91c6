"""cat, extract_slice, insert_slice, extract: registers selected by constant or dynamic indices."""

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
from tilewright.conversion.nv_tileas_to_nvgpu.threads import synchronize, thread_basis
from tilewright.conversion.nv_tileas_to_nvgpu.types import registers
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements, select, select_registers
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import element_of
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
    """Take each register from the first tile or the second."""
    layout, size = layout_of(op.result), extents(op.lhs.type)
    part = inside(layout, size)
    assert part is not None
    sides = [
        rearrange_registers(op, build, build.value(side), layout_of(side), part)
        for side in (op.lhs, op.rhs)
    ]
    count = part.extent(REGISTER)
    register_at = {part.at(register=register): register for register in range(count)}
    order: list[int] = []
    for register in range(layout.extent(REGISTER)):
        coordinate = list(layout.at(register=register))
        from_rhs = coordinate[op.axis] >= size[op.axis]
        coordinate[op.axis] %= size[op.axis]
        order.append(register_at[tuple(coordinate)] + (count if from_rhs else 0))
    (type,) = build.types.convert_all([op.result.type]) or (I32,)
    return build.create(ShuffleOp, v1=sides[0], v2=sides[1], mask=order, types=[type])


def _linear_index(
    build: ConversionBuilder, indices: Sequence[Value], counts: Sequence[int]
) -> OpFoldResult:
    """The row-major index of a slice among all slices."""
    result: OpFoldResult = 0
    scale = 1
    for index, count in zip(reversed(indices), reversed(counts), strict=True):
        result = add(build, result, multiply(build, _folded(index), scale))
        scale *= count
    return result


def _folded(index: Value) -> OpFoldResult:
    """An index as an integer if it is constant."""
    definition = index.defined_by(ConstantOp)
    if definition is not None and isinstance(definition.value, IntegerAttr):
        return definition.value.value
    return index


def _counts(whole: Value, part: Value) -> list[int]:
    sizes = zip(extents(whole.type), extents(part.type), strict=True)
    return [outer // inner for outer, inner in sizes]


def select_group(build: ConversionBuilder, vector: Value, number: OpFoldResult, size: int) -> Value:
    """The `number`th group of `size` registers; a dynamic number halves the groups bit by bit."""
    assert isinstance(vector.type, VectorType)
    count = vector.type.shape[0]
    if isinstance(number, int):
        start = number * size % count
        return select_registers(build, vector, list(range(start, start + size)))
    for bit in range(log2(count // size)):
        groups = range(0, count >> bit, 2 * size)
        even = [start + register for start in groups for register in range(size)]
        parts = [select_registers(build, vector, [r + side for r in even]) for side in (0, size)]
        condition = parity(build, number, 1 << bit)
        vector = select(build, condition, parts[1], parts[0])
    return vector


@converts(shape.ExtractSliceOp)
def extract_slice(
    op: shape.ExtractSliceOp, new: shape.ExtractSliceOp, build: ConversionBuilder
) -> Result:
    """The registers of one slice."""
    tiled = beside(layout_of(op.result), extents(op.source.type))
    vector = rearrange_registers(op, build, new.source, layout_of(op.source), tiled)
    number = _linear_index(build, new.indices, _counts(op.source, op.result))
    return select_group(build, vector, number, registers(op.result))


@converts(shape.InsertSliceOp)
def insert_slice(
    op: shape.InsertSliceOp, new: shape.InsertSliceOp, build: ConversionBuilder
) -> Result:
    """The registers of the new slice in place of the old ones."""
    layout, extent = layout_of(op.result), extents(op.result.type)
    tiled = beside(layout_of(op.source), extent)
    vector = rearrange_registers(op, build, new.destination, layout, tiled)
    size, count = registers(op.source), tiled.extent(REGISTER)
    number = _linear_index(build, new.indices, _counts(op.result, op.source))
    repeated = select_registers(build, new.source, [register % size for register in range(count)])
    groups = constants(build, [register // size for register in range(count)])
    value = as_value(build, number)
    inserted = build.create(BroadcastOp, source=value, types=[groups.type]).result
    is_inserted = build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=groups, rhs=inserted).result
    changed = select(build, is_inserted, repeated, vector)
    return rearrange_registers(op, build, changed, tiled, layout)


@converts(shape.ExtractOp)
def extract(op: shape.ExtractOp, new: shape.ExtractOp, build: ConversionBuilder) -> Result:
    """Select a register if every thread holds the whole tile; else broadcast from the owner."""
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
    """The owner stores the element to scratch memory, from which all threads load it."""
    owner, register = owner_of(op.source, number, build)
    one = select_group(build, tile, register, 1)
    bytes = register_bytes(element_of(op.source.type))
    pointer = scratch_pointer(op, build, 0)
    with predicated(build, is_thread(op, owner, build)):
        store_shared(build, pointer, to_words(build, one, bytes)[0], bytes)
    synchronize(op, build)
    word = load_shared(build, pointer, word_type(bytes), bytes)
    assert isinstance(one.type, VectorType)
    return elements(build, from_words(build, [word], one.type))[0]


def owner_of(
    tile: Value, index: OpFoldResult, build: ConversionBuilder
) -> tuple[OpFoldResult, OpFoldResult]:
    """The thread that owns an element, and its register there."""
    layout = layout_of(tile)
    width = log2(layout.extent(REGISTER))
    vectors = list(layout.inverse().vectors("element"))
    if isinstance(index, int):
        position = combine(vectors, index)
        return position >> width, position & (1 << width) - 1
    thread = apply_linear(build, index, [vector >> width for vector in vectors])
    return thread, apply_linear(build, index, [vector & (1 << width) - 1 for vector in vectors])


PATTERNS: Final[Patterns] = (
    cat,
    extract_slice,
    insert_slice,
    extract,
)
