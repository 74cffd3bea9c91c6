"""The addresses and bounds checks of a thread's registers of a tile in a memory view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import coordinate
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    as_value,
    constant,
    multiply,
    to_i64,
)
from tilewright.conversion.nv_tileas_to_nvgpu.memory.global_access import VectorAccess
from tilewright.conversion.nv_tileas_to_nvgpu.predication import conjunction
from tilewright.conversion.nv_tileas_to_nvgpu.shape.rearrangements import rearrange_registers
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.casts import ExtUIOp, TruncIOp
from tilewright.dialects.arith.comparison import CmpIOp, SelectOp
from tilewright.dialects.arith.integer import AndIOp, MinSIOp, MinUIOp, SubIOp
from tilewright.dialects.elements import pointee_bytes
from tilewright.dialects.nv_tileaa.types import MemrefType
from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.nvvm.arithmetic import OpaqueOp
from tilewright.ir.conversion import ConversionBuilder
from tilewright.ir.types import DYNAMIC, I32, I64
from tilewright.layout.linear import REGISTER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.view import TileAccessOp
    from tilewright.dialects.nv_tileas.pipeline import ProducerCopyOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


COMPARISONS_WITHOUT_LIMIT: Final = 2
"""The comparisons along a dimension up to which 64-bit ones take fewer instructions than a limit.

A 64-bit comparison takes two; a limit about five, and then one for each comparison.
"""


class MemrefDescriptor:
    """The address, extents and strides of a memref; those that its type fixes are constants."""

    __slots__ = ("base", "sizes", "strides")

    def __init__(self, type: MemrefType, parts: Sequence[Value]) -> None:
        rest = iter(parts)
        self.base = next(rest)
        self.sizes: list[OpFoldResult] = [next(rest) if n == DYNAMIC else n for n in type.shape]
        self.strides: list[OpFoldResult] = [next(rest) if n == DYNAMIC else n for n in type.strides]


class Window(NamedTuple):
    """A tile along one dimension, if it is in bounds from its first element on or not at all."""

    start: OpFoldResult
    """The index of its first element, as i64."""
    thread_part: OpFoldResult
    """The part of an index within the tile that depends on the thread, as i32."""
    extent: int


class AxisIndices(NamedTuple):
    """The indices of a thread's registers along one dimension of a tensor, as i64."""

    common: OpFoldResult
    """The part that all registers have in common."""
    parts: Sequence[OpFoldResult]
    """The part that each register adds."""
    size: OpFoldResult
    stride: OpFoldResult
    checked: bool
    """Whether indices may be out of bounds."""
    window: Window | None = None


def _axis_indices(
    op: TileAccessOp | ProducerCopyOp,
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
    coordinates = coordinate(op, build, layout, number)
    if coordinates.disjoint:
        common = add(build, start, to_i64(build, coordinates.thread_part), I64)
        window = None
        if type.counted[number] % type.tile[number] == 0:
            window = Window(start, coordinates.thread_part, type.tile[number])
        return AxisIndices(common, coordinates.register_parts, size, stride, checked, window)
    parts = [
        to_i64(build, coordinates.at(build, r)) for r in range(len(coordinates.register_parts))
    ]
    return AxisIndices(start, parts, size, stride, checked)


def _rows(
    op: TileAccessOp | ProducerCopyOp,
    build: ConversionBuilder,
    index: Value,
    layout: Layout,
    number: int,
) -> Sequence[OpFoldResult]:
    """The indices of a thread's registers along the dimension that a gather or scatter selects."""
    index_layout = layout
    for dimension in range(len(layout.shape) - 1, -1, -1):
        index_layout = index_layout if dimension == number else index_layout.drop(dimension)
    indices = rearrange_registers(op, build, build.value(index), layout_of(index), index_layout)
    return [to_i64(build, each, signed=False) for each in elements(build, indices)]


def tile_accesses(
    op: TileAccessOp | ProducerCopyOp,
    build: ConversionBuilder,
    view: Value,
    indices: Sequence[Value],
    tile: Value | Type,
    vector: int = 1,
    active: Value | None = None,
    *,
    separate: bool = False,
    recomputed: bool = False,
    partial: bool = False,
) -> list[VectorAccess]:
    """The accesses of a thread to a tile of a view, of `vector` elements each.

    `view`, `indices` and `tile` are those of the old program; `active` says which threads access
    memory at all. With `separate`, each access has an address of its own, which a loop over tiles
    keeps in its own registers and advances by an addition; else they are computed from each other.
    With `recomputed`, also in each iteration of a loop: LLVM would else advance every address. With
    `partial`, each has the number of its elements that are in bounds.
    """
    bytes = pointee_bytes(tiled_view(view).source.element)
    axes = [_axis_indices(op, build, view, tile, n, index) for n, index in enumerate(indices)]
    start: OpFoldResult = build.values(view)[0]
    scales = [multiply(build, axis.stride, bytes, I64) for axis in axes]
    moving: OpFoldResult = 0
    for axis, scale, index in zip(axes, scales, indices, strict=True):
        common = axis.common
        if separate and axis.window is not None and _varies(index, op):
            common = to_i64(build, axis.window.thread_part)
            moving = add(build, moving, multiply(build, axis.window.start, scale, I64), I64)
        start = add(build, start, multiply(build, common, scale, I64), I64)
    if recomputed:
        start = build.create(OpaqueOp, arg=as_value(build, start, I64), types=[I64]).res
    registers = range(0, layout_of(tile).extent(REGISTER), vector)
    along = vector_dimension(layout_of(tile)) if partial else 0
    in_bounds = _BoundsChecks(build, axes, registers, active, always_limits=separate)
    addresses = _Addresses(build, start, scales)
    accesses: list[VectorAccess] = []
    for register in registers:
        address, offset = addresses.at([axis.parts[register] for axis in axes])
        if separate:
            own = build.create(OpaqueOp, arg=as_value(build, address, I64), types=[I64]).res
            address = add(build, own, moving, I64)
        count = in_bounds.count(register, vector, along) if partial else None
        value = as_value(build, address, I64)
        accesses.append(VectorAccess(value, offset, in_bounds.at(register), count))
    return accesses


def has_whole_vectors(
    op: TileAccessOp,
    build: ConversionBuilder,
    view: Value,
    indices: Sequence[Value],
    tile: Value,
    vector: int,
) -> Value | None:
    """Whether no vector of a tile is partly out of bounds, for all threads alike; None if unknown.

    The number of a tile's elements in bounds, along the dimension of the vectors, is a multiple of
    their length then.
    """
    number = vector_dimension(layout_of(tile))
    axis = _axis_indices(op, build, view, tile, number, indices[number])
    if axis.window is None:
        return None
    limit = _elements_in_bounds(build, axis, axis.window)
    rest = build.create(AndIOp, lhs=limit, rhs=constant(build, vector - 1)).result
    zero = constant(build, 0)
    return build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=rest, rhs=zero).result


def vector_dimension(layout: Layout) -> int:
    """The dimension along which the first registers of a thread are neighbours."""
    first, second = layout.at(register=0), layout.at(register=1)
    return next(number for number, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)


def _varies(index: Value, op: Operation) -> bool:
    """Whether an index differs between iterations of the loop around an operation."""
    loop = next((outer for outer in op.ancestors() if outer.loop_body is not None), None)
    return loop is not None and index.is_inside(loop)


class _Addresses:
    """Addresses of registers, each one addition away from another one's.

    The offset k * stride is that of k without its lowest set bit, plus stride times that bit: so
    strides are multiplied by few powers of two.
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
        """The address for the index parts of a register, and a constant offset in bytes from it."""
        strided = [0] * len(parts)
        offset = 0
        dynamic: list[OpFoldResult] = []
        for axis, (part, scale) in enumerate(zip(parts, self._scales, strict=True)):
            if not isinstance(part, int):
                dynamic.append(multiply(self._build, part, scale, I64))
            elif isinstance(scale, int):
                offset += part * scale
            else:
                strided[axis] = part
        address = self._strided(tuple(strided))
        for term in dynamic:
            address = add(self._build, address, term, I64)
        return address, offset

    def _strided(self, counts: tuple[int, ...]) -> OpFoldResult:
        address = self._known.get(counts)
        if address is None:
            axis = next(number for number, count in enumerate(counts) if count)
            bit = counts[axis] & -counts[axis]
            smaller = (*counts[:axis], counts[axis] - bit, *counts[axis + 1 :])
            address = add(self._build, self._strided(smaller), self._step(axis, bit), I64)
            self._known[counts] = address
        return address

    def _step(self, axis: int, bit: int) -> OpFoldResult:
        step = self._steps.get((axis, bit))
        if step is None:
            step = multiply(self._build, self._scales[axis], bit, I64)
            self._steps[axis, bit] = step
        return step


def _elements_in_bounds(build: ConversionBuilder, axis: AxisIndices, window: Window) -> Value:
    """How many of a tile's elements along a dimension are in bounds, as i32.

    All threads have the same tile, so this takes no registers of a thread, and a comparison with it
    takes one instruction.
    """
    start, size = as_value(build, window.start, I64), as_value(build, axis.size, I64)
    # Unsigned, a negative index is a large one.
    begins = build.create(CmpIOp, predicate=CmpIPredicate.ULT, lhs=start, rhs=size).result
    rest = build.create(SubIOp, lhs=size, rhs=start).result
    within = build.create(MinUIOp, lhs=rest, rhs=constant(build, window.extent, I64)).result
    short = build.create(TruncIOp, source=within, types=[I32]).result
    return build.create(
        SelectOp, condition=begins, true_value=short, false_value=constant(build, 0)
    ).result


def _comparisons(axis: AxisIndices, registers: Sequence[int]) -> int:
    """How many different indices along a dimension the given registers have."""
    return len({axis.parts[register] for register in registers})


class _BoundsChecks:
    """Predicates that a register is in bounds; each comparison is emitted once.

    Along a dimension, a register's index is compared with the size of the tensor, in 64 bits, or
    its index within the tile with a limit: how many of the tile's elements are in bounds.
    """

    __slots__ = ("_active", "_axes", "_build", "_elements", "_folded", "_known", "_limits")

    def __init__(
        self,
        build: ConversionBuilder,
        axes: Sequence[AxisIndices],
        registers: Sequence[int],
        active: Value | None,
        *,
        always_limits: bool,
    ) -> None:
        self._build = build
        self._axes = axes
        self._known: dict[tuple[object, ...], Value | None] = {}
        self._limits: dict[int, Value] = {}
        self._elements: dict[int, Value] = {}
        self._folded: set[int] = set()
        for number, axis in enumerate(axes):
            if not axis.checked or axis.window is None:
                continue
            if always_limits or _comparisons(axis, registers) > COMPARISONS_WITHOUT_LIMIT:
                self._limits[number] = _elements_in_bounds(build, axis, axis.window)
        self._active = active
        self._fold(registers)

    def _fold(self, registers: Sequence[int]) -> None:
        """Let one comparison for each register check as much as possible.

        Whatever holds for all registers of a thread or for none lowers the limit along a dimension
        that each register is compared with anyway.
        """
        build, axes = self._build, self._axes
        varying = [number for number in self._limits if _comparisons(axes[number], registers) > 1]
        if not varying:
            return
        common = self._active
        for number, axis in enumerate(axes):
            if _comparisons(axis, registers) == 1:
                along = self._along(number, axis.parts[registers[0]])
                common = conjunction(build, common, along)
                self._folded.add(number)
        self._active = None
        if common is not None:
            self._limits[varying[0]] = build.create(
                SelectOp,
                condition=common,
                true_value=self._limits[varying[0]],
                false_value=constant(build, 0),
            ).result

    def count(self, register: int, vector: int, number: int) -> Value:
        """How many elements of a vector along a dimension are in bounds, if its first one is."""
        build, axis = self._build, self._axes[number]
        key = ("count", axis.parts[register])
        known = self._known.get(key)
        if known is not None:
            return known
        if axis.window is None:
            return self._counted(range(register, register + vector))
        if number not in self._elements:
            self._elements[number] = _elements_in_bounds(build, axis, axis.window)
        index = as_value(build, add(build, axis.window.thread_part, axis.parts[register]))
        rest = build.create(SubIOp, lhs=self._elements[number], rhs=index).result
        count = build.create(MinSIOp, lhs=rest, rhs=constant(build, vector)).result
        self._known[key] = count
        return count

    def _counted(self, registers: Sequence[int]) -> Value:
        """How many of some registers are in bounds."""
        build = self._build
        count: OpFoldResult = 0
        for register in registers:
            predicate = self.at(register)
            one: OpFoldResult = 1
            if predicate is not None:
                one = build.create(ExtUIOp, source=predicate, types=[I32]).result
            count = add(build, count, one)
        return as_value(build, count)

    def at(self, register: int) -> Value | None:
        """Whether a register is in bounds along all dimensions, and the thread is active."""
        parts = [axis.parts[register] for axis in self._axes]
        predicate = self._active
        for count in range(1, len(parts) + 1):
            key = tuple(parts[:count])
            if key not in self._known:
                along = self._along(count - 1, parts[count - 1])
                self._known[key] = conjunction(self._build, predicate, along)
            predicate = self._known[key]
        return predicate

    def _along(self, number: int, part: OpFoldResult) -> Value | None:
        axis, build = self._axes[number], self._build
        if not axis.checked or number in self._folded:
            return None
        key = ("dimension", number, part)
        if key not in self._known and axis.window is not None and number in self._limits:
            index = as_value(build, add(build, axis.window.thread_part, part))
            self._known[key] = build.create(
                CmpIOp, predicate=CmpIPredicate.ULT, lhs=index, rhs=self._limits[number]
            ).result
        if key not in self._known:
            # Unsigned, a negative index is a large one.
            index = as_value(build, add(build, axis.common, part, I64), I64)
            size = as_value(build, axis.size, I64)
            self._known[key] = build.create(
                CmpIOp, predicate=CmpIPredicate.ULT, lhs=index, rhs=size
            ).result
        return self._known[key]
