"""Views: tensors in memory, cut into tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np

from tilewright.dialects.cuda_tile import view as d
from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.dialects.cuda_tile.types import (
    DYNAMIC,
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
    ViewType,
)
from tilewright.ir.operation import Operation
from tilewright.ir.types import F4E2M1FN, FloatType
from tilewright.ir.values import Value
from tilewright.reference.access import Token
from tilewright.reference.address_space import Window
from tilewright.reference.batch import Batch
from tilewright.reference.errors import Fault
from tilewright.reference.meanings import meaning
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


def _number(array: Array) -> Array:
    """Unsigned integers, as ones that can be computed with."""
    return unsigned(array).astype(np.int64)


@meaning(d.MakeTensorViewOp)
def make_tensor_view(op: d.MakeTensorViewOp, at: Batch) -> Tensor:
    """A tensor; what its type leaves open comes from operands."""
    type = cast("TensorViewType", op.result.type)
    shape, strides = iter(op.dynamic_shape), iter(op.dynamic_strides)
    return Tensor(
        at[op.base],
        [_extent(extent, shape, at) for extent in type.shape],
        [_extent(stride, strides, at) for stride in type.strides],
    )


def _extent(extent: int, dynamic: Any, at: Batch) -> Array:
    return _number(at[next(dynamic)]) if extent == DYNAMIC else np.array([extent])


@meaning(d.MakePartitionViewOp, d.MakeStridedViewOp, d.MakeGatherScatterViewOp)
def make_view(op: d.MakeViewOp, at: Batch) -> Tensor:
    """The same tensor: the type of a view says how it is cut."""
    return at[op.tensor_view]


@meaning(d.GetTensorShapeOp)
def get_tensor_shape(op: d.GetTensorShapeOp, at: Batch) -> tuple[Array, ...]:
    """The extents of a tensor."""
    tensor: Tensor = at[op.src]
    return _as_results(op, at, tensor.shape)


@meaning(d.GetIndexSpaceShapeOp)
def get_index_space_shape(op: d.GetIndexSpaceShapeOp, at: Batch) -> tuple[Array, ...]:
    """How many tiles there are in each dimension."""
    return _as_results(op, at, _index_space(cast("ViewType", op.src.type), at[op.src]))


def _as_results(op: Operation, at: Batch, numbers: Sequence[Array]) -> Any:
    if at.machine.checker is not None:
        for number, result in zip(numbers, op.results, strict=True):
            fits = number < 1 << integer(result).width
            at.require(op, fits, Fault.UNDEFINED, f"expected extents that fit {element(result)}")
    found = [wrap(n, element(r)) for n, r in zip(numbers, op.results, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _steps(type: ViewType) -> tuple[int, ...]:
    """How many elements further the next tile starts, in each of its dimensions."""
    if isinstance(type, StridedViewType):
        return type.traversal_strides
    return type.tile_shape if isinstance(type, PartitionViewType) else (1,) * type.index_rank


def _dim_map(type: ViewType) -> tuple[int, ...]:
    """The dimension of the tensor that each dimension of a tile lies along."""
    if isinstance(type, PartitionViewType | StridedViewType):
        return type.dim_map
    return tuple(range(type.index_rank))


def _index_space(type: ViewType, tensor: Tensor) -> list[Array]:
    """The tiles that cover the tensor, in each dimension of the indices."""
    steps = type.tile_shape if isinstance(type, GatherScatterViewType) else _steps(type)
    dims = zip(_dim_map(type), steps, strict=True)
    return [-(-tensor.shape[dim] // step) for dim, step in dims]


def _coordinates(type: ViewType, indices: Sequence[Array]) -> list[Array]:
    """Where in the tensor the elements of a tile are, for each dimension of the tile."""
    rank = type.index_rank
    found: list[Array] = []
    for dim, (index, step) in enumerate(zip(indices, _steps(type), strict=True)):
        shape = [1] * rank
        shape[dim] = type.tile_shape[dim]
        if isinstance(type, GatherScatterViewType) and dim == type.sparse_dim:
            found.append(index.reshape(len(index), *shape))
        else:
            start = (index * step).reshape(len(index), *[1] * rank)
            found.append(start + np.arange(shape[dim]).reshape(shape))
    return found


def located(
    op: Operation, at: Batch, view: Value, values: Sequence[Value], inbounds: Sequence[int] = ()
) -> tuple[Array, Array | None]:
    """The addresses of a tile, and which of its elements lie in the tensor, if not all do."""
    type, tensor = cast("ViewType", view.type), cast("Tensor", at[view])
    indices = [_number(at[value]) for value in values]
    _check_indices(op, at, type, tensor, indices)
    rank, size = type.index_rank, stride_in_memory(type.tensor_view.element)
    addresses, inside = _spread(tensor.base.view(np.int64), rank), None
    coordinates = zip(_dim_map(type), _coordinates(type, indices), strict=True)
    for number, (dim, coordinate) in enumerate(coordinates):
        addresses = addresses + coordinate * _spread(tensor.strides[dim] * size, rank)
        within = (coordinate >= 0) & (coordinate < _spread(tensor.shape[dim], rank))
        if within.all():
            continue
        if at.machine.checker is not None and inbounds and inbounds[number]:
            at.require(op, within, Fault.ASSUMPTION, f"promises to stay inside dimension {number}")
        inside = within if inside is None else inside & within
    return addresses.view(ADDRESS), inside


def whole_tiles(at: Batch, view: Value, values: Sequence[Value]) -> Window | None:
    """Where tiles lie in memory, if they lie in the tensor and nobody looks at their elements.

    This says nothing that `located` does not, but moves a tile at a time.
    """
    type, tensor = cast("ViewType", view.type), cast("Tensor", at[view])
    machine, element = at.machine, type.tensor_view.element
    if machine.checker is not None or machine.space.compares or element is F4E2M1FN:
        return None
    if isinstance(type, GatherScatterViewType) or any(len(s) > 1 for s in tensor.strides):
        return None
    starts = tensor.base.view(np.int64)
    strides: list[int] = []
    size = stride_in_memory(element)
    dims = zip(_dim_map(type), values, _steps(type), type.tile_shape, strict=True)
    for dim, value, step, extent in dims:
        first = _number(at[value]) * step
        if not ((first >= 0) & (first + extent <= tensor.shape[dim])).all():
            return None
        stride = int(tensor.strides[dim][0]) * size
        starts = starts + first * stride
        strides.append(stride)
    return Window(starts.view(ADDRESS), type.tile_shape, tuple(strides))


def _spread(array: Array, rank: int) -> Array:
    """One number for each block, for all elements of a tile."""
    return array.reshape(len(array), *[1] * rank)


def _check_indices(
    op: Operation, at: Batch, type: ViewType, tensor: Tensor, indices: Sequence[Array]
) -> None:
    """Stop where a tile is named that is not there; only a checker minds."""
    if at.machine.checker is None or isinstance(type, GatherScatterViewType):
        return
    space = zip(indices, _index_space(type, tensor), strict=True)
    for dim, (index, extent) in enumerate(space):
        message = f"expected index {dim} in the index space of the view"
        at.require(op, index < extent, Fault.INDEX, message)


PADDING: Final = {
    PaddingValue.ZERO: 0.0,
    PaddingValue.NEG_ZERO: -0.0,
    PaddingValue.NAN: np.nan,
    PaddingValue.POS_INF: np.inf,
    PaddingValue.NEG_INF: -np.inf,
}


def _padding(type: ViewType) -> Array | None:
    """What lies around the tensor, if the view says it."""
    element = type.tensor_view.element
    if type.padding is None:
        return None
    if not isinstance(element, FloatType):
        return np.zeros(1, dtype(element))
    return round_to(np.array([PADDING[type.padding]]), element)


@meaning(d.LoadViewTkoOp)
def load_view_tko(op: d.LoadViewTkoOp, at: Batch) -> tuple[Array, Token]:
    """One tile of a view; around the tensor lies the padding."""
    type = cast("ViewType", op.view.type)
    access = at.machine.access(op, at, at.get(op.token))
    window = whole_tiles(at, op.view, op.indices)
    loaded = None if window is None else access.load_tiles(window, type.tensor_view.element)
    if loaded is None:
        addresses, inside = located(op, at, op.view, op.indices, op.inbounds)
        loaded = access.load(addresses, type.tensor_view.element, inside, _padding(type))
    return loaded, access.token


@meaning(d.StoreViewTkoOp)
def store_view_tko(op: d.StoreViewTkoOp, at: Batch) -> Token:
    """One tile of a view; elements outside of the tensor go nowhere."""
    type = cast("ViewType", op.view.type)
    access = at.machine.access(op, at, at.get(op.token))
    window, element = whole_tiles(at, op.view, op.indices), type.tensor_view.element
    if window is None or not access.store_tiles(window, element, at[op.tile]):
        addresses, inside = located(op, at, op.view, op.indices, op.inbounds)
        access.store(addresses, element, at[op.tile], inside)
    return access.token
