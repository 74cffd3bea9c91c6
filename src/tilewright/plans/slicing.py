"""Slicings of an operation: the dimension along which each of its tiles can be split into slices.

An operation can be sliced if each slice of its results needs only a slice of each operand, or all
of it. Extents are powers of two, and so is the number of slices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.nv_tileaa import aggregate, memory, misc, shape, view
from tilewright.dialects.nv_tileaa.attributes import MemSemantic
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.ir.types import F4E2M1FN
from tilewright.layout.linear import log2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.dialects.nv_tileaa.types import TiledViewType
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

Slicing = dict["Value", int]
"""The dimension along which each tile is sliced; other values are needed whole."""

SOURCES: Final = (ConstantOp, shape.SplatOp, shape.MakeRangeOp)
REARRANGEMENTS: Final = (shape.ViewOp, shape.ExpandDimsOp, shape.BroadcastOp, shape.PermuteOp)


def tiles(op: Operation) -> list[Value]:
    """The tiles among the operands and results of an operation."""
    return [value for value in (*op.operands, *op.results) if is_tile(value)]


class Rematerializable:
    """The tiles any slice of which can be rematerialized from scalars, without memory accesses."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Value, bool] = {}

    def __contains__(self, value: Value) -> bool:
        known = self._known.get(value)
        if known is None:
            known = self._known[value] = self._compute(value)
        return known

    def _compute(self, value: Value) -> bool:
        op = value.defining_op()
        if op is None:
            return False
        if isinstance(op, ConstantOp):
            return splat_of(op.value) is not None
        if not (is_elementwise(op) or isinstance(op, (*SOURCES, *REARRANGEMENTS))):
            return False
        return all(each in self for each in op.operands if is_tile(each))


def slicings(op: Operation, count: int) -> Iterator[Slicing]:
    """The slicings of an operation into `count` slices."""
    for slicing in _slicings(op, count):
        if all(extents(value.type)[dim] >= count for value, dim in slicing.items()):
            yield slicing


def slicing_along(op: Operation, value: Value, dim: int, count: int) -> Slicing | None:
    """The slicing that slices one of the tiles along a dimension, if there is one."""
    return next((slicing for slicing in slicings(op, count) if slicing.get(value) == dim), None)


def _slicings(op: Operation, count: int) -> Iterator[Slicing]:
    match op:
        case shape.BroadcastOp():
            return _broadcast(op)
        case shape.ViewOp() | shape.ExpandDimsOp():
            return _same_bits(op.source, op.result, count)
        case shape.PermuteOp():
            return ({op.source: order, op.result: dim} for dim, order in enumerate(op.order))
        case aggregate.ReduceOp():
            return _reduce(op)
        case view.TileLoadOp() | view.TileStoreOp():
            return _tile_access(op, count)
        case _:
            return _uniform(op) if _is_uniform(op) else iter(())


def _is_uniform(op: Operation) -> bool:
    """Whether all tiles of an operation are sliced along the same dimension."""
    if isinstance(op, ConstantOp):
        return splat_of(op.value) is not None
    if isinstance(op, memory.LoadOp | memory.StoreOp):
        return is_plain(op)
    return is_elementwise(op) or isinstance(op, (*SOURCES, misc.AssertOp))


def _uniform(op: Operation) -> Iterator[Slicing]:
    cut = tiles(op)
    if cut and not op.regions:
        for dim in range(len(extents(cut[0].type))):
            yield dict.fromkeys(cut, dim)


def is_plain(op: memory.AccessOp) -> bool:
    """Whether an access may be split into several."""
    return op.semantic is MemSemantic.WEAK and not op.volatile


def _broadcast(op: shape.BroadcastOp) -> Iterator[Slicing]:
    for dim, extent in enumerate(extents(op.source.type)):
        yield {op.result: dim} if extent == 1 else {op.source: dim, op.result: dim}


def _same_bits(source: Value, result: Value, count: int) -> Iterator[Slicing]:
    """Slices correspond if the same bits of the row-major index select them on both sides."""
    tops = dict(_tops(source, count))
    for top, dim in _tops(result, count):
        if top in tops:
            yield {source: tops[top], result: dim}


def _tops(tile: Value, count: int) -> Iterator[tuple[int, int]]:
    """The end bit, in the row-major index, of each dimension with at least `count` elements."""
    top = 0
    for dim, extent in reversed(list(enumerate(extents(tile.type)))):
        top += log2(extent)
        if extent >= count:
            yield top, dim


def _reduce(op: aggregate.ReduceOp) -> Iterator[Slicing]:
    """Along the axis, slices are combined with each other: the results are not sliced."""
    for dim in range(len(extents(op.sources[0].type))):
        slicing = dict.fromkeys(op.sources, dim)
        if dim != op.axis:
            slicing |= dict.fromkeys(op.results, dim - (dim > op.axis))
        elif not all(is_elementwise(inner) for inner in op.body.block if inner.results):
            continue
        yield slicing


def _tile_access(op: view.TileLoadOp | view.TileStoreOp, count: int) -> Iterator[Slicing]:
    """Along any dimension, except where a slice would hold half of a byte."""
    if not is_plain(op) or op.view.defined_by(view.BlockTileOp) is None:
        return
    type = view.tiled_view(op.view)
    for dim in range(type.rank):
        if type.source.element is F4E2M1FN and _is_fine(type, dim, count):
            continue
        slicing = {op.tile: dim}
        if dim == type.sparse:
            slicing[op.indices[dim]] = 0
        yield slicing


def _is_fine(type: TiledViewType, dim: int, count: int) -> bool:
    """Whether slices would be single elements along the contiguous dimension."""
    return type.source.strides[type.dims[dim]] == 1 and type.tile[dim] < 2 * count
