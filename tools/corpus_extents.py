"""Choose extents and strides of a kernel's tensors so that its tiles are in bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from tilewright.dialects.cuda_tile.misc import AssumeOp
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.dialects.cuda_tile.types import (
    DYNAMIC,
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
    ViewType,
)
from tilewright.dialects.cuda_tile.view import MakeTensorViewOp, MakeViewOp
from tilewright.ir.values import Value

TILES: Final = 2
"""The number of tiles of a tensor in each dimension."""
MULTIPLE: Final = 16
"""The divisor of extents that kernels assume."""
LARGEST: Final = 1 << 22


def extents(entry: EntryOp) -> dict[Value, int]:
    """Return the sizes of parameters that are, or point to, an extent or a stride of a tensor."""
    tensors = [op for op in entry.walk() if isinstance(op, MakeTensorViewOp)]
    sizes: dict[Value, int] = {}
    for tensor in tensors:
        for value, number in zip(tensor.dynamic_shape, _dynamic_extents(tensor), strict=True):
            _raise(sizes, value, number)
    for tensor in tensors:
        _measure_strides(tensor, sizes)
    small = all(number <= LARGEST for number in sizes.values())
    return sizes if small else {}


def origin(value: Value) -> Value:
    """Return the operand of a chain of `assume` operations."""
    assume = value.defined_by(AssumeOp)
    return value if assume is None else origin(assume.value)


def _raise(sizes: dict[Value, int], value: Value, number: int) -> None:
    sizes[origin(value)] = max(sizes.get(origin(value), 0), number)


def _dynamic_extents(tensor: MakeTensorViewOp) -> list[int]:
    """Return sizes of the dynamic extents that hold some tiles of every view."""
    shape = cast("TensorViewType", tensor.result.type).shape
    least = dict.fromkeys(range(len(shape)), 1)
    for view in _views(tensor.result):
        for dim, extent in zip(_dims(view), view.tile_shape, strict=True):
            least[dim] = max(least[dim], TILES * extent)
    rounded = {dim: -(-extent // MULTIPLE) * MULTIPLE for dim, extent in least.items()}
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
    assert isinstance(view, PartitionViewType | StridedViewType)
    return view.dim_map


def _measure_strides(tensor: MakeTensorViewOp, sizes: dict[Value, int]) -> None:
    """Set row-major strides, and the size of the memory that they span."""
    type = cast("TensorViewType", tensor.result.type)
    open_extents, open_strides = iter(tensor.dynamic_shape), list(tensor.dynamic_strides)
    shape = [
        sizes[origin(next(open_extents))] if extent == DYNAMIC else extent for extent in type.shape
    ]
    size = 1
    for extent, stride in reversed(list(zip(shape, type.strides, strict=True))):
        if stride == DYNAMIC:
            _raise(sizes, open_strides.pop(), size)
            stride = size
        size = max(size, extent * stride)
    _raise(sizes, tensor.base, size)
