"""Tensors in memory, cut into tiles that are loaded and stored whole."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from tilewright.dialects.nv_tileaa import view as d
from tilewright.dialects.nv_tileaa.types import TiledViewType
from tilewright.ir.values import Value
from tilewright.reference.access import Token
from tilewright.reference.atomics import update_tile
from tilewright.reference.batch import Batch
from tilewright.reference.meanings import meaning
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


@meaning(d.MakeMemrefOp)
def make_memref(op: d.MakeMemrefOp, at: Batch) -> Tensor:
    """A tensor; what its type leaves open comes from operands."""
    type = d.memref(op.result)
    return make_tensor(at, op.base, (type.shape, type.strides), (op.sizes, op.strides))


@meaning(d.BlockTileOp)
def block_tile(op: d.BlockTileOp, at: Batch) -> Tensor:
    """The same tensor: the type of a view says how it is cut."""
    return at[op.source]


@cache
def _tiling(type: TiledViewType) -> Tiling:
    padding = None if type.padding is None else PADDINGS[type.padding]
    return Tiling(type.tile, type.steps, type.dims, type.sparse, padding, type.source.element)


def tiling_of(view: Value) -> Tiling:
    """How a view is cut."""
    return _tiling(d.tiled_view(view))


@meaning(d.GetDimSizeOp)
def get_dim_size(op: d.GetDimSizeOp, at: Batch) -> Array:
    """An extent of a tensor, or how many tiles there are in a dimension."""
    tensor: Tensor = at[op.source]
    is_cut = isinstance(op.source.type, TiledViewType)
    extents = tiling_of(op.source).space(tensor) if is_cut else tensor.shape
    return as_extents(op, at, [extents[op.dim]])


def _tile(op: d.TileAccessOp, view: Value, indices: Sequence[Value]) -> Tile:
    return Tile(op, tiling_of(view), view, indices, op.in_bounds or (), op.sliced)


@meaning(d.TiledLoadOp, d.GatherLoadOp)
def tiled_load(op: d.TileLoadOp, at: Batch) -> tuple[Array, Token]:
    """One tile of a view; around the tensor lies the padding."""
    tile = _tile(op, op.view, op.indices)
    return load_tile(tile, at, at.get(op.token))


@meaning(d.TiledStoreOp, d.ScatterStoreOp)
def tiled_store(op: d.TileStoreOp, at: Batch) -> Token:
    """One tile of a view; elements outside of the tensor go nowhere."""
    tile = _tile(op, op.view, op.indices)
    return store_tile(tile, at, at.get(op.token), at[op.tile])


@meaning(d.TiledAtomicRmwOp)
def tiled_atomic_rmw(op: d.TiledAtomicRmwOp, at: Batch) -> Token:
    """Combines a tile of a view with values; elements outside of the tensor go nowhere."""
    tile = _tile(op, op.view, op.indices)
    return update_tile(tile, at, at.get(op.token), at[op.tile], RMW_MODES[op.mode])
