"""Run-time checks of every access to global memory: against its view, or its pointers.

Elements that are masked or out of bounds are not accessed, and so not checked.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.nv_tileaa.atomics import AtomicCasOp, AtomicRmwOp
from tilewright.dialects.nv_tileaa.conversion import PtrToIntOp
from tilewright.dialects.nv_tileaa.memory import LoadOp, StoreOp
from tilewright.dialects.nv_tileaa.multimem import AnyMultimemOp
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

Access: TypeAlias = TileLoadOp | TileStoreOp | TiledAtomicRmwOp | AnyMultimemOp
"""The operations that access one tile of a view."""


class CheckAccesses(Pass):
    """Insert run-time checks that report and stop at the first wrong access."""

    name = "check-accesses"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            pointers = Pointers(function)
            for inner in list(function.walk()):
                match inner:
                    case TileLoadOp() | TileStoreOp() | TiledAtomicRmwOp():
                        check_tile(inner)
                    case LoadOp() | StoreOp() | AtomicRmwOp() | AtomicCasOp():
                        pointers.check(inner)
                    case _ if isinstance(inner, AnyMultimemOp):
                        check_tile(inner)
                    case _:
                        pass


def check_tile(op: Access) -> None:
    """Check the indices of a tile, and the assumption that it is in bounds.

    A tile must start in its tensor, unless it is a slice of another one that does; gathered rows
    may be out of bounds.
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
            _check_in_bounds(checks, op, dim, index)
    if not (is_dense and op.sliced):
        _check_base(checks, op)


def _check_base(checks: Checks, op: Access) -> None:
    """The base address is valid for the element type, if an element is accessed.

    The first of a tile is; of gathered rows, perhaps none.
    """
    cut = op.view.defined_by(BlockTileOp)
    tensor = None if cut is None else cut.source.defined_by(MakeMemrefOp)
    view = tiled_view(op.view)
    if tensor is None:
        return
    address = checks.build.create(PtrToIntOp, source=tensor.base, types=[I64]).result
    valid = is_element_address(checks, address, view.source.element)
    if view.sparse is not None:
        nothing = checks.negation(_begins_inside(checks, op, tensor.result))
        valid = checks.disjunction(checks.spread(valid, nothing.type), nothing)
    checks.require(valid, "of a view at a null or misaligned address", "got %p", [tensor.base])


def _begins_inside(checks: Checks, op: Access, tensor: Value) -> Value:
    """Which of the gathered rows start in the tensor."""
    inside: list[Value] = []
    for dim, index in zip(tiled_view(op.view).dims, op.indices, strict=True):
        start = checks.wide(index)
        size = checks.spread(_size(checks, tensor, dim), start.type)
        inside.append(checks.below(start, size))
    rows = next(each.type for each in inside if isinstance(each.type, TensorType))
    return reduce(checks.conjunction, [checks.spread(each, rows) for each in inside])


def _size(checks: Checks, source: Value, dim: int) -> Value:
    return checks.build.create(GetDimSizeOp, source=source, dim=dim, types=[I64]).result


def _check_in_bounds(checks: Checks, op: Access, dim: int, index: Value) -> None:
    """A tile that is assumed in bounds starts and ends in the tensor; a gathered row is in it."""
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
    # The end of a tile before the tensor may wrap around to an index in it.
    ends = checks.compare(CmpIPredicate.ULE, end, size)
    inside = checks.conjunction(checks.below(start, size), ends)
    gist = f"expected dimension {dim} up to %u, got elements from %u to %u"
    checks.require(inside, what, gist, [size, start, end])
