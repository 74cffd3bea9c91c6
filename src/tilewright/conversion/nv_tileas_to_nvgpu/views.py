"""Tiles of tensors in memory: every thread computes where its registers lie, and which exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.conversion.nv_tileas_to_nvgpu.access import Manner, Place
from tilewright.conversion.nv_tileas_to_nvgpu.arithmetic import (
    Number,
    add,
    multiply,
    value_of,
    widened,
)
from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import coordinate
from tilewright.conversion.nv_tileas_to_nvgpu.memory import both, elements, holder
from tilewright.conversion.nv_tileas_to_nvgpu.shape import within_threads
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.casts import TruncIOp
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.integer import DivUIOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import pointee_bytes
from tilewright.dialects.nv_tileaa.attributes import PaddingValue
from tilewright.dialects.nv_tileaa.types import MemrefType, TiledViewType
from tilewright.dialects.nv_tileaa.view import BlockTileOp, GetDimSizeOp, MakeMemrefOp, tiled_view
from tilewright.dialects.nv_tileas import memory
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import DYNAMIC, I64, FloatType, IntegerType, VectorType
from tilewright.layout.linear import REGISTER
from tilewright.support.floats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.view import TileAccessOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


@converts(MakeMemrefOp)
def make_memref(op: MakeMemrefOp, new: MakeMemrefOp, build: ConversionBuilder) -> Result:
    """The address, and what the type leaves open."""
    open_parts = (*new.sizes, *new.strides)
    wide = [value_of(build, widened(build, part, signed=False), I64) for part in open_parts]
    return [(new.base, *wide)]


@converts(BlockTileOp)
def block_tile(op: BlockTileOp, new: BlockTileOp, build: ConversionBuilder) -> Result:
    """A view is the memory itself; how it is cut is known."""
    return [build.values(op.source)]


class Memory:
    """A tensor in memory while the program runs."""

    __slots__ = ("base", "sizes", "strides")

    def __init__(self, type: MemrefType, parts: Sequence[Value]) -> None:
        rest = iter(parts)
        self.base = next(rest)
        self.sizes: list[Number] = [next(rest) if n == DYNAMIC else n for n in type.shape]
        self.strides: list[Number] = [next(rest) if n == DYNAMIC else n for n in type.strides]


@converts(GetDimSizeOp)
def get_dim_size(op: GetDimSizeOp, new: GetDimSizeOp, build: ConversionBuilder) -> Result:
    """An extent, or how many tiles begin within it."""
    of = op.source.type
    assert isinstance(of, MemrefType | TiledViewType)
    source = of.source if isinstance(of, TiledViewType) else of
    sizes = Memory(source, build.values(op.source)).sizes
    found = sizes[op.dim] if isinstance(of, MemrefType) else _tiles(build, of, sizes, op.dim)
    wide, type = value_of(build, found, I64), op.result.type
    assert isinstance(type, IntegerType)
    if type.width < I64.width:
        return build.create(TruncIOp, source=wide, types=[type])
    return wide


def _tiles(
    build: ConversionBuilder, view: TiledViewType, sizes: Sequence[Number], dim: int
) -> Number:
    """The number of steps that begin inside."""
    steps = view.steps if view.sparse is None else view.tile
    size, step = sizes[view.dims[dim]], steps[dim]
    if isinstance(size, int):
        return -(-size // step)
    if step == 1:
        return size
    last = value_of(build, add(build, size, step - 1, I64), I64)
    return build.create(DivUIOp, lhs=last, rhs=value_of(build, step, I64)).result


class Axis(NamedTuple):
    """Where a thread's registers lie along one dimension of a tile, in numbers of 64 bits."""

    common: Number
    """What all registers have in common."""
    parts: Sequence[Number]
    """What each register adds."""
    size: Number
    stride: Number
    checked: bool
    """Whether registers may lie outside."""


def _axis(
    op: TileAccessOp,
    build: ConversionBuilder,
    view: Value,
    tile: Value | Type,
    number: int,
    index: Value,
) -> Axis:
    type, layout = tiled_view(view), layout_of(tile)
    memory, dim = Memory(type.source, build.values(view)), type.dims[number]
    checked = not (op.in_bounds and op.in_bounds[number])
    size, stride = memory.sizes[dim], memory.strides[dim]
    if type.sparse == number:
        rows = _rows(op, build, index, layout, number)
        return Axis(0, rows, size, stride, checked)
    first = widened(build, build.value(index), signed=False)
    start = multiply(build, first, type.counted[number], I64)
    own = coordinate(op, build, layout, number)
    if own.disjoint:
        common = add(build, start, widened(build, own.own), I64)
        return Axis(common, own.by_register, size, stride, checked)
    parts = [widened(build, own.at(build, r)) for r in range(len(own.by_register))]
    return Axis(start, parts, size, stride, checked)


def _rows(
    op: TileAccessOp, build: ConversionBuilder, index: Value, layout: Layout, number: int
) -> Sequence[Number]:
    """The indices of a thread's registers along the dimension that is picked row by row."""
    wanted = layout
    for other in range(len(layout.shape) - 1, -1, -1):
        wanted = wanted if other == number else wanted.drop(other)
    mine = within_threads(op, build, build.value(index), layout_of(index), wanted)
    return [widened(build, row, signed=False) for row in elements(build, mine)]


def places(
    op: TileAccessOp,
    build: ConversionBuilder,
    view: Value,
    indices: Sequence[Value],
    tile: Value | Type,
    vector: int = 1,
    acting: Value | None = None,
) -> list[Place]:
    """Where the registers of a tile of a view lie, so many of them at each place.

    `view`, `indices` and `tile` are those of the old program.
    """
    bytes = pointee_bytes(tiled_view(view).source.element)
    axes = [_axis(op, build, view, tile, n, index) for n, index in enumerate(indices)]
    start: Number = build.values(view)[0]
    scales = [multiply(build, axis.stride, bytes, I64) for axis in axes]
    for axis, scale in zip(axes, scales, strict=True):
        start = add(build, start, multiply(build, axis.common, scale, I64), I64)
    inside = _Inside(build, axes, acting)
    addresses = _Addresses(build, start, scales)
    found: list[Place] = []
    for register in range(0, layout_of(tile).extent(REGISTER), vector):
        moved, fixed = addresses.at([axis.parts[register] for axis in axes])
        found.append(Place(value_of(build, moved, I64), fixed, inside.at(register)))
    return found


class _Addresses:
    """Addresses of registers, each a step away from another one's.

    k strides are those of k without its lowest bit, and as many as that bit says: what strides are
    multiplied by are few powers of two, and every further register takes one addition.
    """

    __slots__ = ("_build", "_known", "_scales", "_steps")

    def __init__(self, build: ConversionBuilder, start: Number, scales: Sequence[Number]) -> None:
        self._build = build
        self._scales = scales
        self._known: dict[tuple[int, ...], Number] = {(0,) * len(scales): start}
        self._steps: dict[tuple[int, int], Number] = {}

    def at(self, parts: Sequence[Number]) -> tuple[Number, int]:
        """An address for what a register adds along each dimension, and bytes behind it."""
        counts = [0] * len(parts)
        fixed = 0
        others: list[Number] = []
        for axis, (part, scale) in enumerate(zip(parts, self._scales, strict=True)):
            if not isinstance(part, int):
                others.append(multiply(self._build, part, scale, I64))
            elif isinstance(scale, int):
                fixed += part * scale
            else:
                counts[axis] = part
        moved = self._moved(tuple(counts))
        for other in others:
            moved = add(self._build, moved, other, I64)
        return moved, fixed

    def _moved(self, counts: tuple[int, ...]) -> Number:
        found = self._known.get(counts)
        if found is None:
            axis = next(number for number, count in enumerate(counts) if count)
            bit = counts[axis] & -counts[axis]
            before = (*counts[:axis], counts[axis] - bit, *counts[axis + 1 :])
            found = add(self._build, self._moved(before), self._step(axis, bit), I64)
            self._known[counts] = found
        return found

    def _step(self, axis: int, bit: int) -> Number:
        found = self._steps.get((axis, bit))
        if found is None:
            found = multiply(self._build, self._scales[axis], bit, I64)
            self._steps[axis, bit] = found
        return found


class _Inside:
    """Whether registers lie in the tensor; what is asked twice is computed once."""

    __slots__ = ("_acting", "_axes", "_build", "_known")

    def __init__(
        self, build: ConversionBuilder, axes: Sequence[Axis], acting: Value | None
    ) -> None:
        self._build = build
        self._axes = axes
        self._acting = acting
        self._known: dict[tuple[object, ...], Value | None] = {}

    def at(self, register: int) -> Value | None:
        """Whether a register lies inside along all dimensions, and the thread acts at all."""
        parts = [axis.parts[register] for axis in self._axes]
        predicate = self._acting
        for count in range(1, len(parts) + 1):
            key = tuple(parts[:count])
            if key not in self._known:
                here = self._along(count - 1, parts[count - 1])
                self._known[key] = both(self._build, predicate, here)
            predicate = self._known[key]
        return predicate

    def _along(self, number: int, part: Number) -> Value | None:
        axis, build = self._axes[number], self._build
        if not axis.checked:
            return None
        key = ("along", number, part)
        if key not in self._known:
            # A number below zero is a large one where there are no signs.
            place = value_of(build, add(build, axis.common, part, I64), I64)
            size = value_of(build, axis.size, I64)
            self._known[key] = build.create(
                CmpIOp, predicate=CmpIPredicate.ULT, lhs=place, rhs=size
            ).result
        return self._known[key]


@converts(memory.TiledLoadOp, memory.GatherLoadOp)
def tiled_load(
    op: memory.TiledLoadOp | memory.GatherLoadOp,
    new: memory.TiledLoadOp | memory.GatherLoadOp,
    build: ConversionBuilder,
) -> Result:
    """Every thread loads its registers; outside of the tensor lies the padding."""
    (type,) = build.types.convert(op.tile.type) or (I64,)
    assert isinstance(type, VectorType)
    where = places(op, build, op.view, op.indices, op.tile, op.vector)
    padding = tiled_view(op.view).padding
    other = None
    if padding is not None and any(place.predicate is not None for place in where):
        value = literal([padding_bits(padding, type.element)], type)
        other = build.create(ConstantOp, value=value, types=[type]).result
    return [Manner(op).load(build, type, where, other), ()]


def padding_bits(padding: PaddingValue, element: Type) -> int:
    """The bits of an element outside of a tensor."""
    if padding is PaddingValue.ZERO or not isinstance(element, FloatType):
        return 0
    format = FORMATS[element.format]
    if padding is PaddingValue.NEG_ZERO:
        return format.sign
    # A format without infinity has only NaN for what is too large.
    magnitude = None if padding is PaddingValue.NAN else format.infinity
    magnitude = format.nan if magnitude is None else magnitude
    return format.signed_pattern(magnitude or 0, padding is PaddingValue.NEG_INF)


@converts(memory.TiledStoreOp, memory.ScatterStoreOp)
def tiled_store(
    op: memory.TiledStoreOp | memory.ScatterStoreOp,
    new: memory.TiledStoreOp | memory.ScatterStoreOp,
    build: ConversionBuilder,
) -> Result:
    """One holder of each element stores it, if it lies in the tensor."""
    acting = holder(op, build, op.tile)
    where = places(op, build, op.view, op.indices, op.tile, op.vector, acting)
    Manner(op).store(build, new.tile, where)
    return [()]


PATTERNS: Final[Patterns] = (make_memref, block_tile, get_dim_size, tiled_load, tiled_store)
