"""Ways to cut the tiles of an operation into slices: along which dimension each of them.

An operation is cut where every slice of its results needs only a slice of its operands, or all of
an operand. Extents are powers of two, and so is the number of slices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.nv_tileaa import aggregate, memory, misc, shape, view
from tilewright.dialects.nv_tileaa.attributes import MemSemantic
from tilewright.dialects.nv_tileaa.constraints import ELEMENTWISE
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.ir.types import F4E2M1FN, TensorType
from tilewright.layout.linear import log2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.dialects.nv_tileaa.types import TiledViewType
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

Way = dict["Value", int]
"""The dimension along which each tile is cut; other values are needed whole."""

SOURCES: Final = (ConstantOp, shape.SplatOp, shape.MakeRangeOp)
REARRANGEMENTS: Final = (shape.ViewOp, shape.ExpandDimsOp, shape.BroadcastOp, shape.PermuteOp)
_STANDARD: Final = frozenset(("arith", "math"))
_REMADE: Final = (*SOURCES, *REARRANGEMENTS, memory.AddPtrOp, misc.AssumeOp)
_UNIFORM: Final = (memory.AddPtrOp, misc.AssumeOp, misc.AssertOp)


def is_tile(value: Value) -> bool:
    """Whether a value can be cut."""
    return isinstance(value.type, TensorType)


def tiles(op: Operation) -> list[Value]:
    """The tiles that an operation takes and gives."""
    return [value for value in (*op.operands, *op.results) if is_tile(value)]


def is_elementwise(op: Operation) -> bool:
    """Whether each element of a result comes from those in the same place."""
    return op.dialect in _STANDARD or ELEMENTWISE in op.traits


class Remade:
    """Knows the tiles any slice of which can be made anew from scalars, without memory."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Value, bool] = {}

    def __contains__(self, value: Value) -> bool:
        known = self._known.get(value)
        if known is None:
            known = self._known[value] = self._found(value)
        return known

    def _found(self, value: Value) -> bool:
        op = value.defining_op()
        if op is None:
            return False
        if isinstance(op, ConstantOp):
            return splat_of(op.value) is not None
        if not (is_elementwise(op) or isinstance(op, _REMADE)):
            return False
        return all(each in self for each in op.operands if is_tile(each))


def ways(op: Operation, count: int) -> Iterator[Way]:
    """How an operation can be done slice by slice, in so many slices."""
    for way in _ways(op, count):
        if all(extents(value.type)[dim] >= count for value, dim in way.items()):
            yield way


def way_with(op: Operation, value: Value, dim: int, count: int) -> Way | None:
    """The way in which one of its tiles is cut along a dimension, if there is one."""
    return next((way for way in ways(op, count) if way.get(value) == dim), None)


def _ways(op: Operation, count: int) -> Iterator[Way]:
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
            return _in_place(op) if _is_uniform(op) else iter(())


def _is_uniform(op: Operation) -> bool:
    """Whether all tiles of an operation are cut alike."""
    if isinstance(op, ConstantOp):
        return splat_of(op.value) is not None
    if isinstance(op, memory.LoadOp | memory.StoreOp):
        return is_plain(op)
    return is_elementwise(op) or isinstance(op, (*SOURCES, *_UNIFORM))


def _in_place(op: Operation) -> Iterator[Way]:
    cut = tiles(op)
    if cut and not op.regions:
        for dim in range(len(extents(cut[0].type))):
            yield dict.fromkeys(cut, dim)


def is_plain(op: memory.AccessOp) -> bool:
    """Whether an access may happen in parts."""
    return op.semantic is MemSemantic.WEAK and not op.volatile


def _broadcast(op: shape.BroadcastOp) -> Iterator[Way]:
    for dim, extent in enumerate(extents(op.source.type)):
        yield {op.result: dim} if extent == 1 else {op.source: dim, op.result: dim}


def _same_bits(source: Value, result: Value, count: int) -> Iterator[Way]:
    """Slices are the same if the bits that number them are the same of the place in row order."""
    tops = dict(_tops(source, count))
    for top, dim in _tops(result, count):
        if top in tops:
            yield {source: tops[top], result: dim}


def _tops(tile: Value, count: int) -> Iterator[tuple[int, int]]:
    """Behind which bit of the place in row order each dimension ends that is long enough."""
    top = 0
    for dim, extent in reversed(list(enumerate(extents(tile.type)))):
        top += log2(extent)
        if extent >= count:
            yield top, dim


def _reduce(op: aggregate.ReduceOp) -> Iterator[Way]:
    """Along the axis, slices are combined with each other: the results stay whole."""
    for dim in range(len(extents(op.sources[0].type))):
        way = dict.fromkeys(op.sources, dim)
        if dim != op.axis:
            way |= dict.fromkeys(op.results, dim - (dim > op.axis))
        elif not all(is_elementwise(inner) for inner in op.body.block if inner.results):
            continue
        yield way


def _tile_access(op: view.TileLoadOp | view.TileStoreOp, count: int) -> Iterator[Way]:
    """Along any dimension, but no slice has half of a byte."""
    if not is_plain(op) or op.view.defined_by(view.BlockTileOp) is None:
        return
    type = view.tiled_view(op.view)
    for dim in range(type.rank):
        if type.source.element is F4E2M1FN and _is_fine(type, dim, count):
            continue
        way = {op.tile: dim}
        if dim == type.sparse:
            way[op.indices[dim]] = 0
        yield way


def _is_fine(type: TiledViewType, dim: int, count: int) -> bool:
    """Whether slices would be one neighbour after the other."""
    return type.source.strides[type.dims[dim]] == 1 and type.tile[dim] < 2 * count
