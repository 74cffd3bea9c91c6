"""Padding of packed bytes with a value other than zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import with_element
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.conversion import ExtIOp
from tilewright.dialects.nv_tileaa.integer import AddIOp, AndIOp, CmpIOp, MulIOp
from tilewright.dialects.nv_tileaa.shape import (
    BroadcastOp,
    MakeRangeOp,
    SelectOp,
    SplatOp,
    ViewOp,
)
from tilewright.dialects.nv_tileaa.view import BlockTileOp, GetDimSizeOp, tiled_view
from tilewright.ir.types import I1, I64, TensorType
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
    inside = None
    for dim in range(len(op.indices)):
        if not (op.in_bounds and op.in_bounds[dim]):
            part = _spread(build, op, dim, _inside(build, op, dim, cut.source))
            inside = part if inside is None else build.create(AndIOp, lhs=inside, rhs=part).result
    if inside is None:
        return op.tile
    type = op.tile.type
    others = build.create(ConstantOp, value=literal([padding], type), types=[type]).result
    return build.create(SelectOp, condition=inside, true_value=op.tile, false_value=others).result


def _inside(build: Builder, op: TileLoadOp, dim: int, source: Value) -> Value:
    """Which indices along a dimension of a tile are in bounds."""
    view, index = tiled_view(op.view), op.indices[dim]
    type = TensorType((view.tile[dim],), I64)
    size = build.create(GetDimSizeOp, source=source, dim=view.dims[dim], types=[I64]).result
    coordinates = _wide(build, index)
    if dim != view.sparse:
        count = build.create(
            ConstantOp, value=literal([view.counted[dim]], I64), types=[I64]
        ).result
        start = build.create(MulIOp, lhs=coordinates, rhs=count).result
        starts = build.create(SplatOp, source=start, types=[type]).result
        numbers = build.create(MakeRangeOp, types=[type]).result
        coordinates = build.create(AddIOp, lhs=starts, rhs=numbers).result
    sizes = build.create(SplatOp, source=size, types=[type]).result
    return build.create(
        CmpIOp,
        predicate=CmpIPredicate.ULT,
        lhs=coordinates,
        rhs=sizes,
        types=[with_element(type, I1)],
    ).result


def _wide(build: Builder, number: Value) -> Value:
    type = with_element(number.type, I64)
    if number.type is type:
        return number
    return build.create(ExtIOp, source=number, signedness=Signedness.UNSIGNED, types=[type]).result


def _spread(build: Builder, op: TileLoadOp, dim: int, line: Value) -> Value:
    """Broadcast a mask along one dimension to the whole tile."""
    tile = tiled_view(op.view).tile
    shape = tuple([extent if each == dim else 1 for each, extent in enumerate(tile)])
    across = build.create(ViewOp, source=line, types=[TensorType(shape, I1)]).result
    return build.create(BroadcastOp, source=across, types=[TensorType(tile, I1)]).result
