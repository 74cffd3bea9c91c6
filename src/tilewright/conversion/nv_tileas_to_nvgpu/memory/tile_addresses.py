"""The addresses and bounds checks of a thread's registers of a tile in a memory view."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import coordinate
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    as_value,
    multiply,
    to_i64,
)
from tilewright.conversion.nv_tileas_to_nvgpu.memory.global_access import VectorAccess
from tilewright.conversion.nv_tileas_to_nvgpu.predication import conjunction
from tilewright.conversion.nv_tileas_to_nvgpu.shape.rearrangements import rearrange_registers
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.elements import pointee_bytes
from tilewright.dialects.nv_tileaa.types import MemrefType
from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.ir.conversion import ConversionBuilder
from tilewright.ir.types import DYNAMIC, I64
from tilewright.layout.linear import REGISTER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.view import TileAccessOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


class MemrefDescriptor:
    """A tensor in memory while the program runs."""

    __slots__ = ("base", "sizes", "strides")

    def __init__(self, type: MemrefType, parts: Sequence[Value]) -> None:
        rest = iter(parts)
        self.base = next(rest)
        self.sizes: list[OpFoldResult] = [next(rest) if n == DYNAMIC else n for n in type.shape]
        self.strides: list[OpFoldResult] = [next(rest) if n == DYNAMIC else n for n in type.strides]


class AxisIndices(NamedTuple):
    """Where a thread's registers lie along one dimension of a tile, in numbers of 64 bits."""

    common: OpFoldResult
    """What all registers have in common."""
    parts: Sequence[OpFoldResult]
    """What each register adds."""
    size: OpFoldResult
    stride: OpFoldResult
    checked: bool
    """Whether registers may lie outside."""


def _axis_indices(
    op: TileAccessOp,
    build: ConversionBuilder,
    view: Value,
    tile: Value | Type,
    number: int,
    index: Value,
) -> AxisIndices:
    type, layout = tiled_view(view), layout_of(tile)
    memory, dim = MemrefDescriptor(type.source, build.values(view)), type.dims[number]
    checked = not (op.in_bounds and op.in_bounds[number])
    size, stride = memory.sizes[dim], memory.strides[dim]
    if type.sparse == number:
        rows = _rows(op, build, index, layout, number)
        return AxisIndices(0, rows, size, stride, checked)
    first = to_i64(build, build.value(index), signed=False)
    start = multiply(build, first, type.counted[number], I64)
    own = coordinate(op, build, layout, number)
    if own.disjoint:
        common = add(build, start, to_i64(build, own.own), I64)
        return AxisIndices(common, own.by_register, size, stride, checked)
    parts = [to_i64(build, own.at(build, r)) for r in range(len(own.by_register))]
    return AxisIndices(start, parts, size, stride, checked)


def _rows(
    op: TileAccessOp, build: ConversionBuilder, index: Value, layout: Layout, number: int
) -> Sequence[OpFoldResult]:
    """The indices of a thread's registers along the dimension that is picked row by row."""
    wanted = layout
    for other in range(len(layout.shape) - 1, -1, -1):
        wanted = wanted if other == number else wanted.drop(other)
    mine = rearrange_registers(op, build, build.value(index), layout_of(index), wanted)
    return [to_i64(build, row, signed=False) for row in elements(build, mine)]


def tile_accesses(
    op: TileAccessOp,
    build: ConversionBuilder,
    view: Value,
    indices: Sequence[Value],
    tile: Value | Type,
    vector: int = 1,
    acting: Value | None = None,
) -> list[VectorAccess]:
    """Where the registers of a tile of a view lie, so many of them at each place.

    `view`, `indices` and `tile` are those of the old program.
    """
    bytes = pointee_bytes(tiled_view(view).source.element)
    axes = [_axis_indices(op, build, view, tile, n, index) for n, index in enumerate(indices)]
    start: OpFoldResult = build.values(view)[0]
    scales = [multiply(build, axis.stride, bytes, I64) for axis in axes]
    for axis, scale in zip(axes, scales, strict=True):
        start = add(build, start, multiply(build, axis.common, scale, I64), I64)
    inside = _BoundsChecks(build, axes, acting)
    addresses = _Addresses(build, start, scales)
    found: list[VectorAccess] = []
    for register in range(0, layout_of(tile).extent(REGISTER), vector):
        moved, fixed = addresses.at([axis.parts[register] for axis in axes])
        found.append(VectorAccess(as_value(build, moved, I64), fixed, inside.at(register)))
    return found


class _Addresses:
    """Addresses of registers, each a step away from another one's.

    k strides are those of k without its lowest bit, and as many as that bit says: what strides are
    multiplied by are few powers of two, and every further register takes one addition.
    """

    __slots__ = ("_build", "_known", "_scales", "_steps")

    def __init__(
        self, build: ConversionBuilder, start: OpFoldResult, scales: Sequence[OpFoldResult]
    ) -> None:
        self._build = build
        self._scales = scales
        self._known: dict[tuple[int, ...], OpFoldResult] = {(0,) * len(scales): start}
        self._steps: dict[tuple[int, int], OpFoldResult] = {}

    def at(self, parts: Sequence[OpFoldResult]) -> tuple[OpFoldResult, int]:
        """An address for what a register adds along each dimension, and bytes behind it."""
        counts = [0] * len(parts)
        fixed = 0
        others: list[OpFoldResult] = []
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

    def _moved(self, counts: tuple[int, ...]) -> OpFoldResult:
        found = self._known.get(counts)
        if found is None:
            axis = next(number for number, count in enumerate(counts) if count)
            bit = counts[axis] & -counts[axis]
            before = (*counts[:axis], counts[axis] - bit, *counts[axis + 1 :])
            found = add(self._build, self._moved(before), self._step(axis, bit), I64)
            self._known[counts] = found
        return found

    def _step(self, axis: int, bit: int) -> OpFoldResult:
        found = self._steps.get((axis, bit))
        if found is None:
            found = multiply(self._build, self._scales[axis], bit, I64)
            self._steps[axis, bit] = found
        return found


class _BoundsChecks:
    """Whether registers lie in the tensor; what is asked twice is computed once."""

    __slots__ = ("_acting", "_axes", "_build", "_known")

    def __init__(
        self, build: ConversionBuilder, axes: Sequence[AxisIndices], acting: Value | None
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
                self._known[key] = conjunction(self._build, predicate, here)
            predicate = self._known[key]
        return predicate

    def _along(self, number: int, part: OpFoldResult) -> Value | None:
        axis, build = self._axes[number], self._build
        if not axis.checked:
            return None
        key = ("along", number, part)
        if key not in self._known:
            # A number below zero is a large one where there are no signs.
            place = as_value(build, add(build, axis.common, part, I64), I64)
            size = as_value(build, axis.size, I64)
            self._known[key] = build.create(
                CmpIOp, predicate=CmpIPredicate.ULT, lhs=place, rhs=size
            ).result
        return self._known[key]
