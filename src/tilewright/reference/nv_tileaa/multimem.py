"""Accesses of multimem addresses, in a multicast object with one GPU: this one."""

from __future__ import annotations

from tilewright.dialects.nv_tileaa import multimem as d
from tilewright.reference.access import Token
from tilewright.reference.atomics import update_tile
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.nv_tileaa.enums import RMW_MODES
from tilewright.reference.nv_tileaa.view import tile_of
from tilewright.reference.tile import Array
from tilewright.reference.tiling import load_tile, store_tile


@evaluator(d.MultimemLoadReduceOp)
def multimem_load_reduce(op: d.MultimemLoadReduceOp, at: Batch) -> tuple[Array, Token]:
    """Load one tile of a view, with padding out of bounds."""
    return load_tile(tile_of(op, op.view, op.indices), at, at.get(op.token))


@evaluator(d.MultimemReduceOp)
def multimem_reduce(op: d.MultimemReduceOp, at: Batch) -> Token:
    """Combine a tile of a view with values; out-of-bounds elements are ignored."""
    tile = tile_of(op, op.view, op.indices)
    return update_tile(tile, at, at.get(op.token), at[op.tile], RMW_MODES[op.mode])


@evaluator(d.MultimemStoreOp)
def multimem_store(op: d.MultimemStoreOp, at: Batch) -> Token:
    """Store one tile of a view; out-of-bounds elements are ignored."""
    return store_tile(tile_of(op, op.view, op.indices), at, at.get(op.token), at[op.tile])
