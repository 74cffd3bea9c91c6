"""Tensors in memory and the tiles that they are cut into: where the elements of a tile are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.ir.attributes import Type
from tilewright.ir.operation import Operation
from tilewright.ir.types import DYNAMIC, F4E2M1FN, FloatType
from tilewright.ir.values import OpResult, Value
from tilewright.reference.access import Token
from tilewright.reference.address_space import Window
from tilewright.reference.batch import Batch
from tilewright.reference.errors import Fault
from tilewright.reference.numerics.rounding import round_to
from tilewright.reference.tile import (
    ADDRESS,
    Array,
    dtype,
    element,
    integer,
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
        """The tensor of some of the blocks."""
        base, *numbers = [
            array if len(array) == 1 else array[lanes]
            for array in (self.base, *self.shape, *self.strides)
        ]
        return Tensor(base, numbers[: len(self.shape)], numbers[len(self.shape) :])


def make_tensor(
    at: Batch, base: Value, extents: Sequence[Sequence[int]], given: Sequence[Sequence[Value]]
) -> Tensor:
    """A tensor; the shape and strides that its type leaves open are given."""
    shape, strides = (
        _extents(numbers, iter(values), at) for numbers, values in zip(extents, given, strict=True)
    )
    return Tensor(at[base], shape, strides)


def _extents(numbers: Sequence[int], given: Iterator[Value], at: Batch) -> list[Array]:
    return [number(at[next(given)]) if n == DYNAMIC else np.array([n]) for n in numbers]


def number(array: Array) -> Array:
    """Unsigned integers, as ones that can be computed with."""
    return unsigned(array).astype(np.int64)


class Tiling(NamedTuple):
    """How a view cuts a tensor into tiles."""

    tile: tuple[int, ...]
    steps: tuple[int, ...]
    """How many elements further the next tile starts, in each of its dimensions."""
    dims: tuple[int, ...]
    """The dimension of the tensor that each dimension of a tile lies along."""
    sparse: int | None
    """The dimension of a tile along which every element has an index of its own."""
    padding: PaddingValue | None
    element: Type

    @property
    def strides(self) -> tuple[int, ...]:
        """How many elements an index counts; those of a sparse view count single ones."""
        return self.steps if self.sparse is None else (1,) * len(self.tile)

    def space(self, tensor: Tensor) -> list[Array]:
        """The tiles that cover the tensor, in each dimension of the indices."""
        dims = zip(self.dims, self.steps, strict=True)
        return [-(-tensor.shape[dim] // step) for dim, step in dims]

    def padded(self) -> Array | None:
        """What lies around the tensor, if the view says it."""
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
    """The dimensions along which it promises to lie in the tensor."""
    anywhere: bool = False
    """Whether it may lie outside of the tensor as a whole."""


def as_extents(op: Operation, at: Batch, numbers: Sequence[Array]) -> Any:
    """Extents as the integers that an operation gives."""
    results: Sequence[OpResult] = op.results
    if at.machine.checker is not None:
        for extent, result in zip(numbers, results, strict=True):
            fits = extent < 1 << integer(result).width
            at.require(op, fits, Fault.UNDEFINED, f"expected extents that fit {element(result)}")
    found = [wrap(n, element(r)) for n, r in zip(numbers, results, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _coordinates(tiling: Tiling, indices: Sequence[Array]) -> list[Array]:
    """Where in the tensor the elements of a tile are, for each dimension of the tile."""
    rank = len(tiling.tile)
    found: list[Array] = []
    for dim, (index, step) in enumerate(zip(indices, tiling.strides, strict=True)):
        shape = [1] * rank
        shape[dim] = tiling.tile[dim]
        if dim == tiling.sparse:
            found.append(index.reshape(len(index), *shape))
        else:
            start = (index * step).reshape(len(index), *[1] * rank)
            found.append(start + np.arange(shape[dim]).reshape(shape))
    return found


def located(tile: Tile, at: Batch) -> tuple[Array, Array | None]:
    """The addresses of a tile, and which of its elements lie in the tensor, if not all do."""
    tiling, tensor = tile.tiling, at[tile.view]
    indices = [number(at[value]) for value in tile.indices]
    _check_indices(tile, at, indices)
    rank, size = len(tiling.tile), stride_in_memory(tiling.element)
    addresses, inside = _spread(tensor.base.view(np.int64), rank), None
    coordinates = zip(tiling.dims, _coordinates(tiling, indices), strict=True)
    for place, (dim, coordinate) in enumerate(coordinates):
        addresses = addresses + coordinate * _spread(tensor.strides[dim] * size, rank)
        within = (coordinate >= 0) & (coordinate < _spread(tensor.shape[dim], rank))
        if within.all():
            continue
        if at.machine.checker is not None and tile.inbounds and tile.inbounds[place]:
            gist = f"promises to stay inside dimension {place}"
            at.require(tile.op, within, Fault.ASSUMPTION, gist)
        inside = within if inside is None else inside & within
    return addresses.view(ADDRESS), inside


def whole_tiles(tile: Tile, at: Batch) -> Window | None:
    """Where tiles lie in memory, if they lie in the tensor and nobody looks at their elements.

    This says nothing that `located` does not, but moves a tile at a time.
    """
    tiling, tensor, machine = tile.tiling, at[tile.view], at.machine
    if machine.checker is not None or machine.space.compares or tiling.element is F4E2M1FN:
        return None
    if tiling.sparse is not None or any(len(s) > 1 for s in tensor.strides):
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


def _spread(array: Array, rank: int) -> Array:
    """One number for each block, for all elements of a tile."""
    return array.reshape(len(array), *[1] * rank)


def _check_indices(tile: Tile, at: Batch, indices: Sequence[Array]) -> None:
    """Stop where a tile is named that is not there; only a checker minds."""
    if at.machine.checker is None or tile.tiling.sparse is not None or tile.anywhere:
        return
    space = zip(indices, tile.tiling.space(at[tile.view]), strict=True)
    for dim, (index, extent) in enumerate(space):
        message = f"expected index {dim} in the index space of the view"
        within = (index >= 0) & (index < extent)
        at.require(tile.op, within, Fault.INDEX, message)


def load_tile(tile: Tile, at: Batch, token: Token | None) -> tuple[Array, Token]:
    """One tile of a view; around the tensor lies the padding."""
    access, tiling = at.machine.access(tile.op, at, token), tile.tiling
    window = whole_tiles(tile, at)
    loaded = None if window is None else access.load_tiles(window, tiling.element)
    if loaded is None:
        addresses, inside = located(tile, at)
        loaded = access.load(addresses, tiling.element, inside, tiling.padded())
    return loaded, access.token


def store_tile(tile: Tile, at: Batch, token: Token | None, values: Array) -> Token:
    """One tile of a view; elements outside of the tensor go nowhere."""
    access, element = at.machine.access(tile.op, at, token), tile.tiling.element
    window = whole_tiles(tile, at)
    if window is None or not access.store_tiles(window, element, values):
        addresses, inside = located(tile, at)
        access.store(addresses, element, values, inside)
    return access.token
