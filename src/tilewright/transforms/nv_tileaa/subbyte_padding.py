"""Padding of packed bytes with a value other than zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.nv_tileaa.coordinates import across_tile, coordinates, in_bounds
from tilewright.dialects.nv_tileaa.integer import AndIOp
from tilewright.dialects.nv_tileaa.shape import SelectOp
from tilewright.dialects.nv_tileaa.view import BlockTileOp, GetDimSizeOp, tiled_view
from tilewright.ir.types import I64
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.view import TileLoadOp
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value


def padded(build: Builder, op: TileLoadOp, padding: int) -> Value:
    """A loaded tile of bytes, with a padding instead of zero out of bounds."""
    cut = op.view.defined_by(BlockTileOp)
    if cut is None:
        raise Unsupported("padding of elements of 4 bits in a view that varies", op.location)
    view, inside = tiled_view(op.view), None
    for dim, index in enumerate(op.indices):
        if not (op.in_bounds and op.in_bounds[dim]):
            size = build.create(
                GetDimSizeOp, source=cut.source, dim=view.dims[dim], types=[I64]
            ).result
            along = in_bounds(build, coordinates(build, view, dim, index), size)
            part = across_tile(build, view, dim, along)
            inside = part if inside is None else build.create(AndIOp, lhs=inside, rhs=part).result
    if inside is None:
        return op.tile
    type = op.tile.type
    others = build.create(ConstantOp, value=literal([padding], type), types=[type]).result
    return build.create(SelectOp, condition=inside, true_value=op.tile, false_value=others).result
