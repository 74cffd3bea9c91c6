"""Checks every access of global memory while the program runs: against its view, or its pointers.

What a mask or the edge of a tensor leaves out is not accessed, and so not checked.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.nv_tileaa.atomics import AtomicCasOp, AtomicRmwOp
from tilewright.dialects.nv_tileaa.conversion import PtrToIntOp
from tilewright.dialects.nv_tileaa.memory import LoadOp, StoreOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import (
    BlockTileOp,
    ConvTileOp,
    GetDimSizeOp,
    MakeMemrefOp,
    TiledAtomicRmwOp,
    TileLoadOp,
    TileStoreOp,
    tiled_view,
)
from tilewright.ir.passes import Pass
from tilewright.ir.types import I64, TensorType
from tilewright.transforms.nv_tileaa.check_builder import Checks
from tilewright.transforms.nv_tileaa.check_pointers import Pointers, is_element_address

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

Access: TypeAlias = TileLoadOp | TileStoreOp | TiledAtomicRmwOp
"""What accesses one tile of a view."""


class CheckAccesses(Pass):
    """Let the program say where it leaves a view, and stop there."""

    name = "check-accesses"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            pointers = Pointers(function)
            for inner in list(function.walk()):
                match inner:
                    case TileLoadOp() | TileStoreOp() | TiledAtomicRmwOp():
                        check_tile(inner)
                    case LoadOp() | StoreOp() | AtomicRmwOp() | AtomicCasOp():
                        pointers.check(inner)
                    case _:
                        pass


def check_tile(op: Access) -> None:
    """Check the indices of a tile, and what is promised about where it lies.

    A tile must begin inside of its tensor, unless it is a part of another one that does; rows that
    are picked one by one may lie anywhere.
    """
    if op.view.defined_by(ConvTileOp) is not None:
        return
    checks = Checks(op)
    is_dense = tiled_view(op.view).sparse is None
    for dim, index in enumerate(op.indices):
        if is_dense and not op.sliced:
            tiles = _size(checks, op.view, dim)
            begins = checks.below(checks.wide(index), tiles)
            gist = f"expected index {dim} below %u, got %d"
            checks.require(begins, "outside of its view", gist, [tiles, index])
        if op.in_bounds and op.in_bounds[dim]:
            _check_promise(checks, op, dim, index)
    if not (is_dense and op.sliced):
        _check_base(checks, op)


def _check_base(checks: Checks, op: Access) -> None:
    """A tensor lies where its elements may lie, if one of them is accessed.

    The first of a tile is; of rows that are picked one by one, perhaps none.
    """
    cut = op.view.defined_by(BlockTileOp)
    tensor = None if cut is None else cut.source.defined_by(MakeMemrefOp)
    view = tiled_view(op.view)
    if tensor is None:
        return
    address = checks.build.create(PtrToIntOp, source=tensor.base, types=[I64]).result
    valid = is_element_address(checks, address, view.source.element)
    if view.sparse is not None:
        nothing = checks.opposite(_begins_inside(checks, op, tensor.result))
        valid = checks.either(checks.spread(valid, nothing.type), nothing)
    checks.require(valid, "of a view at a null or misaligned address", "got %p", [tensor.base])


def _begins_inside(checks: Checks, op: Access, tensor: Value) -> Value:
    """Which of the rows that are picked begin inside of the tensor."""
    inside: list[Value] = []
    for dim, index in zip(tiled_view(op.view).dims, op.indices, strict=True):
        start = checks.wide(index)
        size = checks.spread(_size(checks, tensor, dim), start.type)
        inside.append(checks.below(start, size))
    rows = next(each.type for each in inside if isinstance(each.type, TensorType))
    return reduce(checks.both, [checks.spread(each, rows) for each in inside])


def _size(checks: Checks, source: Value, dim: int) -> Value:
    return checks.build.create(GetDimSizeOp, source=source, dim=dim, types=[I64]).result


def _check_promise(checks: Checks, op: Access, dim: int, index: Value) -> None:
    """A tile begins so early that it ends in the tensor; a row that is picked lies in it."""
    cut = op.view.defined_by(BlockTileOp)
    if cut is None:
        return
    view, what = tiled_view(op.view), "outside of its view, which it promised not to be"
    size = _size(checks, cut.source, view.dims[dim])
    if dim == view.sparse:
        rows = checks.wide(index)
        checks.require(checks.below(rows, checks.spread(size, rows.type)), what)
        return
    start = checks.multiply(checks.wide(index), checks.constant(view.counted[dim]))
    end = checks.add(start, checks.constant(view.tile[dim]))
    # The end of a tile in front of the tensor may wrap around to a place inside of it.
    ends = checks.compare(CmpIPredicate.ULE, end, size)
    inside = checks.both(checks.below(start, size), ends)
    gist = f"expected dimension {dim} up to %u, got elements from %u to %u"
    checks.require(inside, what, gist, [size, start, end])
