"""Tensors in memory, partitioned into tiles that are loaded and stored whole."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from tilewright.dialects.nv_tileaa import view as d
from tilewright.dialects.nv_tileaa.types import TiledViewType
from tilewright.ir.values import Value
from tilewright.reference.access import Token
from tilewright.reference.atomics import update_tile
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.nv_tileaa.enums import PADDINGS, RMW_MODES
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


@evaluator(d.MakeMemrefOp)
def make_memref(op: d.MakeMemrefOp, at: Batch) -> Tensor:
    """Make a tensor; dynamic extents and strides are operands."""
    type = d.memref(op.result)
    return make_tensor(at, op.base, (type.shape, type.strides), (op.sizes, op.strides))


@evaluator(d.BlockTileOp)
def block_tile(op: d.BlockTileOp, at: Batch) -> Tensor:
    """Forward the tensor: the type of the view contains the partition."""
    return at[op.source]


@cache
def _tiling(type: TiledViewType) -> Tiling:
    padding = None if type.padding is None else PADDINGS[type.padding]
    return Tiling(type.tile, type.steps, type.dims, type.sparse, padding, type.source.element)


def tiling_of(view: Value) -> Tiling:
    """The partition of a view."""
    return _tiling(d.tiled_view(view))


@evaluator(d.GetDimSizeOp)
def get_dim_size(op: d.GetDimSizeOp, at: Batch) -> Array:
    """An extent of a tensor, or the number of tiles in a dimension."""
    tensor: Tensor = at[op.source]
    is_tiled = isinstance(op.source.type, TiledViewType)
    extents = tiling_of(op.source).space(tensor) if is_tiled else tensor.shape
    return as_extents(op, at, [extents[op.dim]])


def tile_of(op: d.TileAccessOp, view: Value, indices: Sequence[Value]) -> Tile:
    """The tile of a view that an operation accesses."""
    return Tile(op, tiling_of(view), view, indices, op.in_bounds or (), op.sliced)


@evaluator(d.TiledLoadOp, d.GatherLoadOp)
def tiled_load(op: d.TileLoadOp, at: Batch) -> tuple[Array, Token]:
    """Load one tile of a view, with padding out of bounds."""
    tile = tile_of(op, op.view, op.indices)
    return load_tile(tile, at, at.get(op.token))


@evaluator(d.TiledStoreOp, d.ScatterStoreOp)
def tiled_store(op: d.TileStoreOp, at: Batch) -> Token:
    """Store one tile of a view; out-of-bounds elements are ignored."""
    tile = tile_of(op, op.view, op.indices)
    return store_tile(tile, at, at.get(op.token), at[op.tile])


@evaluator(d.TiledAtomicRmwOp)
def tiled_atomic_rmw(op: d.TiledAtomicRmwOp, at: Batch) -> Token:
    """Combine a tile of a view with values; out-of-bounds elements are ignored."""
    tile = tile_of(op, op.view, op.indices)
    return update_tile(tile, at, at.get(op.token), at[op.tile], RMW_MODES[op.mode])
