"""Finds extents and strides of a kernel's tensors with which its tiles lie inside of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from tilewright.dialects.cuda_tile.misc import AssumeOp
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.dialects.cuda_tile.types import (
    DYNAMIC,
    GatherScatterViewType,
    TensorViewType,
    ViewType,
)
from tilewright.dialects.cuda_tile.view import MakeTensorViewOp, MakeViewOp
from tilewright.ir.values import Value

TILES: Final = 2
"""How many tiles a tensor has in each dimension."""
MULTIPLE: Final = 16
"""What extents are divisible by, since kernels promise that."""
LARGEST: Final = 1 << 22


def extents(entry: EntryOp) -> dict[Value, int]:
    """For parameters that are an extent or a stride of a tensor, or point to one, how large."""
    tensors = [op for op in entry.walk() if isinstance(op, MakeTensorViewOp)]
    found: dict[Value, int] = {}
    for tensor in tensors:
        for value, number in zip(tensor.dynamic_shape, _dynamic_extents(tensor), strict=True):
            _raise(found, value, number)
    for tensor in tensors:
        _measure_strides(tensor, found)
    small = all(number <= LARGEST for number in found.values())
    return found if small else {}


def origin(value: Value) -> Value:
    """What a value was before somebody promised something of it."""
    promise = value.defined_by(AssumeOp)
    return value if promise is None else origin(promise.value)


def _raise(found: dict[Value, int], value: Value, number: int) -> None:
    found[origin(value)] = max(found.get(origin(value), 0), number)


def _dynamic_extents(tensor: MakeTensorViewOp) -> list[int]:
    """For extents that the type leaves open: room for some tiles of every view."""
    shape = cast("TensorViewType", tensor.result.type).shape
    room = dict.fromkeys(range(len(shape)), 1)
    for view in _views(tensor.result):
        for dim, extent in zip(_dims(view), view.tile_shape, strict=True):
            room[dim] = max(room[dim], TILES * extent)
    rounded = {dim: -(-extent // MULTIPLE) * MULTIPLE for dim, extent in room.items()}
    return [rounded[dim] for dim, extent in enumerate(shape) if extent == DYNAMIC]


def _views(tensor: Value) -> Iterator[ViewType]:
    for op, _ in tensor.uses():
        if isinstance(op, MakeViewOp):
            yield cast("ViewType", op.results[0].type)
        elif isinstance(op, AssumeOp):
            yield from _views(op.result)


def _dims(view: ViewType) -> tuple[int, ...]:
    """The dimension of the tensor that each dimension of a tile lies along."""
    if isinstance(view, GatherScatterViewType):
        return tuple(range(len(view.tile_shape)))
    return view.dim_map  # pyright: ignore


def _measure_strides(tensor: MakeTensorViewOp, found: dict[Value, int]) -> None:
    """Let rows follow each other, the last dimension first."""
    type = cast("TensorViewType", tensor.result.type)
    open_extents, open_strides = iter(tensor.dynamic_shape), list(tensor.dynamic_strides)
    shape = [
        found[origin(next(open_extents))] if extent == DYNAMIC else extent for extent in type.shape
    ]
    size = 1
    for extent, stride in reversed(list(zip(shape, type.strides, strict=True))):
        if stride == DYNAMIC:
            _raise(found, open_strides.pop(), size)
            stride = size
        size = max(size, extent * stride)
    _raise(found, tensor.base, size)
