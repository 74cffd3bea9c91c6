"""Views: tensors in memory, partitioned into tiles."""

from __future__ import annotations

from functools import cache
from typing import cast

from tilewright.dialects.cuda_tile import view as d
from tilewright.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
    ViewType,
)
from tilewright.ir.values import Value
from tilewright.reference.access import Token
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.tile import Array
from tilewright.reference.tiling import (
    Tensor,
    Tile,
    Tiling,
    as_extents,
    load_tile,
    make_tensor,
    store_tile,
)


@evaluator(d.MakeTensorViewOp)
def make_tensor_view(op: d.MakeTensorViewOp, at: Batch) -> Tensor:
    """Make a tensor; dynamic extents and strides are operands."""
    type = cast("TensorViewType", op.result.type)
    dynamic = op.dynamic_shape, op.dynamic_strides
    return make_tensor(at, op.base, (type.shape, type.strides), dynamic)


@evaluator(d.MakePartitionViewOp, d.MakeStridedViewOp, d.MakeGatherScatterViewOp)
def make_view(op: d.MakeViewOp, at: Batch) -> Tensor:
    """Forward the tensor: the type of the view contains the partition."""
    return at[op.tensor_view]


@evaluator(d.GetTensorShapeOp)
def get_tensor_shape(op: d.GetTensorShapeOp, at: Batch) -> tuple[Array, ...]:
    """The extents of a tensor."""
    tensor: Tensor = at[op.src]
    return as_extents(op, at, tensor.shape)


@evaluator(d.GetIndexSpaceShapeOp)
def get_index_space_shape(op: d.GetIndexSpaceShapeOp, at: Batch) -> tuple[Array, ...]:
    """The number of tiles in each dimension."""
    return as_extents(op, at, tiling_of(op.src).space(at[op.src]))


def tiling_of(view: Value) -> Tiling:
    """The partition of a view."""
    return _tiling(cast("ViewType", view.type))


@cache
def _tiling(type: ViewType) -> Tiling:
    tile = type.tile_shape
    is_dense = isinstance(type, PartitionViewType | StridedViewType)
    return Tiling(
        tile,
        type.traversal_strides if isinstance(type, StridedViewType) else tile,
        type.dim_map if is_dense else tuple(range(type.index_rank)),
        type.sparse_dim if isinstance(type, GatherScatterViewType) else None,
        type.padding,
        type.tensor_view.element,
    )


@evaluator(d.LoadViewTkoOp)
def load_view_tko(op: d.LoadViewTkoOp, at: Batch) -> tuple[Array, Token]:
    """Load one tile of a view, with padding out of bounds and where the mask is false."""
    tile = Tile(op, tiling_of(op.view), op.view, op.indices, op.inbounds, mask=op.mask)
    return load_tile(tile, at, at.get(op.token))


@evaluator(d.StoreViewTkoOp)
def store_view_tko(op: d.StoreViewTkoOp, at: Batch) -> Token:
    """Store one tile of a view; elements out of bounds or masked off are ignored."""
    tile = Tile(op, tiling_of(op.view), op.view, op.indices, op.inbounds, mask=op.mask)
    return store_tile(tile, at, at.get(op.token), at[op.tile])
