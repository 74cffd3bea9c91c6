"""Tensors in memory and their partition into tiles: the addresses of a tile's elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.ir.attributes import Type
from tilewright.ir.operation import Operation
from tilewright.ir.types import DYNAMIC, F4E2M1FN, FloatType
from tilewright.ir.values import OpResult, Value
from tilewright.reference.access import Token
from tilewright.reference.address_space import Window
from tilewright.reference.batch import Batch, element_at
from tilewright.reference.errors import Fault
from tilewright.reference.numerics.rounding import round_to
from tilewright.reference.tile import (
    ADDRESS,
    Array,
    dtype,
    element,
    integer,
    signed,
    stride_in_memory,
    unsigned,
    wrap,
)


class Tensor:
    """A tensor in memory: the address of its first element, its extents and its strides."""

    __slots__ = ("base", "shape", "strides")

    def __init__(self, base: Array, shape: list[Array], strides: list[Array]) -> None:
        self.base = base
        self.shape = shape
        self.strides = strides

    def pick(self, lanes: Array) -> Tensor:
        """Select the tensor of some of the blocks."""
        base, *numbers = [
            array if len(array) == 1 else array[lanes]
            for array in (self.base, *self.shape, *self.strides)
        ]
        return Tensor(base, numbers[: len(self.shape)], numbers[len(self.shape) :])


def make_tensor(
    at: Batch, base: Value, extents: Sequence[Sequence[int]], dynamic: Sequence[Sequence[Value]]
) -> Tensor:
    """Make a tensor; dynamic extents and strides are operands."""
    shape, strides = (
        _extents(numbers, iter(values), at)
        for numbers, values in zip(extents, dynamic, strict=True)
    )
    return Tensor(at[base], shape, strides)


def _extents(numbers: Sequence[int], dynamic: Iterator[Value], at: Batch) -> list[Array]:
    return [number(at[next(dynamic)]) if n == DYNAMIC else np.array([n]) for n in numbers]


def number(array: Array) -> Array:
    """Convert unsigned integers to int64."""
    return unsigned(array).astype(np.int64)


class Tiling(NamedTuple):
    """The partition of a tensor into tiles by a view."""

    tile: tuple[int, ...]
    steps: tuple[int, ...]
    """The distance of the starts of adjacent tiles in elements, per dimension."""
    dims: tuple[int, ...]
    """The tensor dimension of each tile dimension."""
    sparse: int | None
    """The tile dimension along which every element has its own index (gather/scatter)."""
    padding: PaddingValue | None
    element: Type

    @property
    def strides(self) -> tuple[int, ...]:
        """The number of elements per unit of an index; 1 for sparse views."""
        return self.steps if self.sparse is None else (1,) * len(self.tile)

    def space(self, tensor: Tensor) -> list[Array]:
        """The number of tiles that cover the tensor, per index dimension."""
        dims = zip(self.dims, self.steps, strict=True)
        return [-(-tensor.shape[dim] // step) for dim, step in dims]

    def padded(self) -> Array | None:
        """The padding value, if the view has one."""
        if self.padding is None:
            return None
        if not isinstance(self.element, FloatType):
            return np.zeros(1, dtype(self.element))
        return round_to(np.array([PADDING[self.padding]]), self.element)


PADDING: Final = {
    PaddingValue.ZERO: 0.0,
    PaddingValue.NEG_ZERO: -0.0,
    PaddingValue.NAN: np.nan,
    PaddingValue.POS_INF: np.inf,
    PaddingValue.NEG_INF: -np.inf,
}


class Tile(NamedTuple):
    """A tile of a view that an operation accesses."""

    op: Operation
    tiling: Tiling
    view: Value
    indices: Sequence[Value]
    inbounds: Sequence[int] = ()
    """The dimensions along which the tile is declared in bounds."""
    may_be_outside: bool = False
    """Whether the whole tile may be out of bounds."""
    mask: Value | None = None
    """The elements that are accessed, if not all of those in bounds."""


def as_extents(op: Operation, at: Batch, numbers: Sequence[Array]) -> Any:
    """Convert extents to the integer types of an operation's results."""
    results: Sequence[OpResult] = op.results
    if at.machine.checker is not None:
        for extent, result in zip(numbers, results, strict=True):
            fits = extent < 1 << integer(result).width
            at.require(op, fits, Fault.UNDEFINED, f"expected extents that fit {element(result)}")
    extents = [wrap(n, element(r)) for n, r in zip(numbers, results, strict=True)]
    return extents[0] if len(extents) == 1 else tuple(extents)


def _coordinates(tiling: Tiling, indices: Sequence[Array]) -> list[Array]:
    """The coordinates of a tile's elements in the tensor, per tile dimension."""
    rank = len(tiling.tile)
    coordinates: list[Array] = []
    for dim, (index, step) in enumerate(zip(indices, tiling.strides, strict=True)):
        shape = [1] * rank
        shape[dim] = tiling.tile[dim]
        if dim == tiling.sparse:
            coordinates.append(index.reshape(len(index), *shape))
        else:
            start = (index * step).reshape(len(index), *[1] * rank)
            coordinates.append(start + np.arange(shape[dim]).reshape(shape))
    return coordinates


def located(tile: Tile, at: Batch) -> tuple[Array, Array | None]:
    """The addresses of a tile, and the elements that are accessed unless all are."""
    tiling, tensor = tile.tiling, at[tile.view]
    indices = [number(at[value]) for value in tile.indices]
    _check_indices(tile, at, indices)
    rank, size = len(tiling.tile), stride_in_memory(tiling.element)
    addresses, inside = _per_element(tensor.base.view(np.int64), rank), None
    coordinates = zip(tiling.dims, _coordinates(tiling, indices), strict=True)
    for position, (dim, coordinate) in enumerate(coordinates):
        addresses = addresses + coordinate * _per_element(tensor.strides[dim] * size, rank)
        in_bounds = (coordinate >= 0) & (coordinate < _per_element(tensor.shape[dim], rank))
        if in_bounds.all():
            continue
        if at.machine.checker is not None and tile.inbounds and tile.inbounds[position]:
            gist = f"is declared in bounds, but is not in dimension {position}"
            numbers = coordinate, _per_element(tensor.shape[dim], rank)
            at.require(tile.op, in_bounds, Fault.ASSUMPTION, gist, _outside(*numbers))
        inside = in_bounds if inside is None else inside & in_bounds
    if tile.mask is not None:
        mask = at[tile.mask]
        inside = mask if inside is None else inside & mask
    return addresses.view(ADDRESS), inside


def whole_tiles(tile: Tile, at: Batch) -> Window | None:
    """The memory window of tiles that are in bounds; None if elements must be accessed singly.

    A fast path for `located` that accesses whole tiles.
    """
    tiling, tensor, machine = tile.tiling, at[tile.view], at.machine
    if machine.checker is not None and not machine.checker.checks_tiles:
        return None
    if tiling.element is F4E2M1FN:
        return None
    if tiling.sparse is not None or tile.mask is not None:
        return None
    if any(len(s) > 1 for s in tensor.strides):
        return None
    starts = tensor.base.view(np.int64)
    strides: list[int] = []
    size = stride_in_memory(tiling.element)
    dims = zip(tiling.dims, tile.indices, tiling.steps, tiling.tile, strict=True)
    for dim, value, step, extent in dims:
        first = number(at[value]) * step
        if not ((first >= 0) & (first + extent <= tensor.shape[dim])).all():
            return None
        stride = int(tensor.strides[dim][0]) * size
        starts = starts + first * stride
        strides.append(stride)
    return Window(starts.view(ADDRESS), tiling.tile, tuple(strides))


def _per_element(array: Array, rank: int) -> Array:
    """Reshape one number per block for broadcasting over the elements of a tile."""
    return array.reshape(len(array), *[1] * rank)


def _check_indices(tile: Tile, at: Batch, indices: Sequence[Array]) -> None:
    """Report a tile index out of the view's index space, under a checker only."""
    if at.machine.checker is None or tile.tiling.sparse is not None or tile.may_be_outside:
        return
    space = zip(tile.indices, indices, tile.tiling.space(at[tile.view]), strict=True)
    for dim, (value, index, extent) in enumerate(space):
        in_bounds = (index >= 0) & (index < extent)
        outside = _tile_outside(tile, at, dim, signed(at[value]), extent)
        at.require(tile.op, in_bounds, Fault.INDEX, "expected the tile index of", outside)


def _tile_outside(
    tile: Tile, at: Batch, dim: int, indices: Array, extents: Array
) -> Callable[[tuple[int, ...]], str]:
    """Describe the array, the tile index that is out of bounds, and the number of tiles."""

    def describe(first: tuple[int, ...]) -> str:
        name = _array_name(tile, at, int(element_at(at[tile.view].base, first)))
        limits = f"at least 0 and below {element_at(extents, first)}"
        return f" {name} along dimension {dim} to be {limits}, got {element_at(indices, first)}"

    return describe


def _array_name(tile: Tile, at: Batch, base: int) -> str:
    """The name of the array that a view begins in."""
    address = base // 2 if tile.tiling.element is F4E2M1FN else base
    array = at.machine.space.find(address)
    return "the view" if array is None or address >= array.end else array.name


def _outside(coordinates: Array, extents: Array) -> Callable[[tuple[int, ...]], str]:
    """Describe the coordinate that is out of bounds, and the extent."""

    def describe(first: tuple[int, ...]) -> str:
        coordinate, extent = element_at(coordinates, first), element_at(extents, first)
        return f": coordinate {coordinate}, extent {extent}"

    return describe


def load_tile(tile: Tile, at: Batch, token: Token | None) -> tuple[Array, Token]:
    """Load one tile of a view, with padding out of bounds."""
    access, tiling = at.machine.access(tile.op, at, token), tile.tiling
    window = whole_tiles(tile, at)
    loaded = None if window is None else access.load_tiles(window, tiling.element)
    if loaded is None:
        addresses, inside = located(tile, at)
        loaded = access.load(addresses, tiling.element, inside, tiling.padded())
    return loaded, access.token


def store_tile(tile: Tile, at: Batch, token: Token | None, values: Array) -> Token:
    """Store one tile of a view; out-of-bounds elements are ignored."""
    access, element = at.machine.access(tile.op, at, token), tile.tiling.element
    window = whole_tiles(tile, at)
    if window is None or not access.store_tiles(window, element, values):
        addresses, inside = located(tile, at)
        access.store(addresses, element, values, inside)
    return access.token
