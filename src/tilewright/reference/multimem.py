"""Accesses of multimem addresses, in a multicast object with one GPU: this one.

With a single GPU there is nothing to combine a loaded tile with, so a multimem address behaves like
the memory that it is bound to.
"""

from __future__ import annotations

from typing import Final

from tilewright.dialects.cuda_tile import multimem as d
from tilewright.dialects.cuda_tile.enums import AtomicMode, MultimemReduction
from tilewright.reference.access import Token
from tilewright.reference.atomics import update_tile
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.tile import Array
from tilewright.reference.tiling import Tile, load_tile, store_tile
from tilewright.reference.view import tiling_of

MODES: Final = {reduction: AtomicMode[reduction.name] for reduction in MultimemReduction}


def _tile(op: d.AnyMultimemOp) -> Tile:
    return Tile(op, tiling_of(op.view), op.view, op.indices, op.inbounds)


@evaluator(d.MultimemLoadReduceViewTkoOp)
def multimem_load_reduce_view_tko(
    op: d.MultimemLoadReduceViewTkoOp, at: Batch
) -> tuple[Array, Token]:
    """Load one tile of a view, with padding out of bounds."""
    return load_tile(_tile(op), at, at.get(op.token))


@evaluator(d.MultimemReduceViewTkoOp)
def multimem_reduce_view_tko(op: d.MultimemReduceViewTkoOp, at: Batch) -> Token:
    """Combine a tile of a view with values; out-of-bounds elements are ignored."""
    return update_tile(_tile(op), at, at.get(op.token), at[op.tile], MODES[op.reduction])


@evaluator(d.MultimemStoreViewTkoOp)
def multimem_store_view_tko(op: d.MultimemStoreViewTkoOp, at: Batch) -> Token:
    """Store one tile of a view; out-of-bounds elements are ignored."""
    return store_tile(_tile(op), at, at.get(op.token), at[op.tile])
