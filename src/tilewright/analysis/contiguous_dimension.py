"""The dimension along which the elements of a tile are contiguous in memory."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.shape import ExpandDimsOp, PermuteOp, ViewOp
from tilewright.dialects.nv_tileaa.view import TiledLoadOp, tiled_view

if TYPE_CHECKING:
    from tilewright.ir.values import Value


def contiguous_dimension(tile: Value) -> int | None:
    """The dimension along which a tile is loaded with stride one; None if that is not known.

    The tile may be the result of shape operations, and of element-wise ones on one tile.
    """
    op = tile.defining_op()
    if isinstance(op, TiledLoadOp):
        type = tiled_view(op.view)
        strides = [type.source.strides[dim] for dim in type.dims]
        return strides.index(1) if 1 in strides else None
    if isinstance(op, PermuteOp):
        source = contiguous_dimension(op.source)
        return None if source is None else op.order.index(source)
    if isinstance(op, ViewOp | ExpandDimsOp):
        return _reshaped(contiguous_dimension(op.source), op.source, tile)
    tiles = [value for value in op.operands if is_tile(value)] if op is not None else []
    if op is None or not is_elementwise(op) or len(tiles) != 1:
        return None
    return contiguous_dimension(tiles[0])


def _reshaped(dim: int | None, source: Value, result: Value) -> int | None:
    """The dimension of a reshaped tile along which one step is a step along a dimension before."""
    if dim is None:
        return None
    before, after = shape(source.type), shape(result.type)
    step = prod(before[dim + 1 :])
    for number in reversed(range(len(after))):
        if after[number] > 1 and prod(after[number + 1 :]) == step:
            return number
    return None
