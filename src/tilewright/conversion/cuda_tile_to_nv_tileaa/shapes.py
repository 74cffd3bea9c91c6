"""Part A: the shape of tiles, parts of tiles, and the position in the grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tilewright.conversion.cuda_tile_to_nv_tileaa.attributes import converted
from tilewright.conversion.cuda_tile_to_nv_tileaa.pattern_set import Renaming, default_attributes
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.cuda_tile import core
from tilewright.dialects.cuda_tile.traits import tile
from tilewright.dialects.nv_tileaa import program, shape
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.conversion import converts
from tilewright.ir.types import I32, I64

if TYPE_CHECKING:
    from tilewright.ir.conversion_builder import ConversionBuilder
    from tilewright.ir.conversion_pattern import Result
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

SAME: Final[Mapping[type[Operation], type[Operation]]] = {
    core.SelectOp: shape.SelectOp,
    core.PackOp: shape.PackOp,
    core.UnpackOp: shape.UnpackOp,
    core.GetTileBlockIdOp: program.GetProgramIdOp,
    core.GetNumTileBlocksOp: program.GetNumProgramsOp,
    core.IotaOp: shape.MakeRangeOp,
}

RENAMED: Final = (
    Renaming(core.PermuteOp, shape.PermuteOp, {"permutation": "order"}),
    Renaming(core.CatOp, shape.CatOp, {"dim": "axis"}),
)


def _created(
    kind: type[Operation], op: Operation, operands: tuple[Value, ...], build: ConversionBuilder
) -> Operation:
    attributes = {**default_attributes(kind), **converted(op)}
    types = build.types.convert_all([op.results[0].type]) or ()
    return build.insert(kind(operands, types, attributes, (), op.location))


def _splat(op: core.Rearrangement, source: Value, build: ConversionBuilder) -> Result:
    """A scalar in the shape of the result, which may be a scalar as well."""
    if not tile(op.result).shape:
        return source
    return _created(shape.SplatOp, op, (source,), build)


@converts(core.BroadcastOp)
def broadcast(op: core.BroadcastOp, new: core.BroadcastOp, build: ConversionBuilder) -> Result:
    """Scalars have nothing to repeat them along."""
    if not tile(op.result).shape:
        return new.source
    return _created(shape.BroadcastOp, op, new.operands, build)


@converts(core.ReshapeOp)
def reshape(op: core.ReshapeOp, new: core.ReshapeOp, build: ConversionBuilder) -> Result:
    """Scalars are put into tiles and taken out of them; a single new dimension is told apart."""
    before, after = tile(op.source).shape, tile(op.result).shape
    if not before:
        return _splat(op, new.source, build)
    if not after:
        return _only_element(op, new.source, len(before), build)
    axis = _added_axis(before, after)
    if axis is None:
        return _created(shape.ViewOp, op, new.operands, build)
    made = _created(shape.ExpandDimsOp, op, new.operands, build)
    made.attributes["axis"] = IntegerAttr(axis, I64)
    return made


def _only_element(
    op: core.ReshapeOp, source: Value, rank: int, build: ConversionBuilder
) -> Operation:
    zero = IntegerAttr(0, I32)
    first = build.insert(ConstantOp((), (I32,), {"value": zero}, (), op.location)).results
    return _created(shape.ExtractOp, op, (source, *first * rank), build)


def _added_axis(before: tuple[int, ...], after: tuple[int, ...]) -> int | None:
    """Where one dimension of extent one was added, if that is all."""
    if len(after) != len(before) + 1:
        return None
    axis = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), -1)
    axis = len(before) if axis < 0 else axis
    is_added = after[axis] == 1 and after[axis + 1 :] == before[axis:]
    return axis if is_added else None


@converts(core.ExtractOp)
def extract(op: core.ExtractOp, new: core.ExtractOp, build: ConversionBuilder) -> Result:
    """All of a scalar is its only part."""
    if not tile(op.result).shape:
        return new.source
    return _created(shape.ExtractSliceOp, op, new.operands, build)


@converts(core.InsertOp)
def insert(op: core.InsertOp, new: core.InsertOp, build: ConversionBuilder) -> Result:
    """All of a scalar is its only part."""
    if not tile(op.result).shape:
        return new.source
    return _created(shape.InsertSliceOp, op, new.operands, build)


PATTERNS: Final = (broadcast, reshape, extract, insert)
