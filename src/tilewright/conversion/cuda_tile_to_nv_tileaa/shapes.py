"""Part A: shapes and slices of tiles, and program ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tilewright.conversion.cuda_tile_to_nv_tileaa.attributes import converted
from tilewright.conversion.cuda_tile_to_nv_tileaa.pattern_set import Renaming, default_attributes
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.cuda_tile import core
from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.cuda_tile.traits import tile
from tilewright.dialects.nv_tileaa import program, shape
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.conversion import converts, transfers
from tilewright.ir.types import I32, I64

if TYPE_CHECKING:
    from tilewright.ir.conversion_builder import ConversionBuilder
    from tilewright.ir.conversion_pattern import Made, Result
    from tilewright.ir.operation import Operation
    from tilewright.ir.type_converter import TypeConverter
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


def _made(
    kind: type[Operation], op: Operation, operands: Sequence[Value], types: TypeConverter
) -> Operation:
    """Create an operation whose result is a tile, a type that always converts."""
    attributes = {**default_attributes(kind), **converted(op)}
    return kind(operands, types.convert(op.results[0].type) or (), attributes, (), op.location)


@transfers(core.BroadcastOp)
def broadcast(op: core.BroadcastOp, operands: Sequence[Value], types: TypeConverter) -> Made:
    """Lower to `nv_tileaa.broadcast`; scalars are folded by `same_scalar`."""
    if not tile(op.result).shape:
        return None
    return _made(shape.BroadcastOp, op, operands, types)


@transfers(core.ReshapeOp)
def reshape(op: core.ReshapeOp, operands: Sequence[Value], types: TypeConverter) -> Made:
    """Lower to `splat`, `extract`, `expand_dims` or `view`, by the shapes."""
    before, after = tile(op.source).shape, tile(op.result).shape
    if not before:
        return _made(shape.SplatOp, op, operands, types) if after else None
    if not after:
        return _only_element(op, operands[0], len(before), types)
    axis = _added_axis(before, after)
    if axis is None:
        return _made(shape.ViewOp, op, operands, types)
    made = _made(shape.ExpandDimsOp, op, operands, types)
    made.attributes["axis"] = IntegerAttr(axis, I64)
    return made


def _only_element(op: core.ReshapeOp, source: Value, rank: int, types: TypeConverter) -> Made:
    zero = ConstantOp((), (I32,), {"value": IntegerAttr(0, I32)}, (), op.location)
    return zero, _made(shape.ExtractOp, op, (source, *zero.results * rank), types)


def _added_axis(before: tuple[int, ...], after: tuple[int, ...]) -> int | None:
    """Return the axis of a single added unit dimension, or `None`."""
    if len(after) != len(before) + 1:
        return None
    axis = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), -1)
    axis = len(before) if axis < 0 else axis
    is_added = after[axis] == 1 and after[axis + 1 :] == before[axis:]
    return axis if is_added else None


@transfers(core.ExtractOp)
def extract(op: core.ExtractOp, operands: Sequence[Value], types: TypeConverter) -> Made:
    """Lower to `nv_tileaa.extract_slice`; scalars are folded by `same_scalar`."""
    if not tile(op.result).shape:
        return None
    return _made(shape.ExtractSliceOp, op, operands, types)


@transfers(core.InsertOp)
def insert(op: core.InsertOp, operands: Sequence[Value], types: TypeConverter) -> Made:
    """Lower to `nv_tileaa.insert_slice`; scalars are folded by `same_scalar`."""
    if not tile(op.result).shape:
        return None
    return _made(shape.InsertSliceOp, op, operands, types)


@converts(core.BroadcastOp, core.ReshapeOp, core.ExtractOp, core.InsertOp)
def same_scalar(op: TileOp, new: TileOp, build: ConversionBuilder) -> Result:
    """Fold shape operations on scalars."""
    return new.operands[0] if not tile(op.results[0]).shape else None


PATTERNS: Final = (broadcast, reshape, extract, insert, same_scalar)
