"""Rejection of accesses to 4-bit elements that would need a part of a byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import (
    BlockTileOp,
    MakeMemrefOp,
    TileLoadOp,
    TileStoreOp,
    memref,
    tiled_view,
)
from tilewright.ir.types import DYNAMIC, F4E2M1FN
from tilewright.support.diagnostics import Unsupported
from tilewright.transforms.nv_tileaa.subbyte_types import (
    PADDINGS,
    in_bytes,
    paired,
    paired_dim,
    tile_problem,
)

if TYPE_CHECKING:
    from tilewright.analysis.axis import AxisFacts
    from tilewright.dialects.nv_tileaa.types import TiledViewType
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

NOT_EVEN: Final = "elements of 4 bits in memory with {} that is not known to be even"


def shares_bytes(op: Operation) -> bool:
    """Whether an operation accesses elements of which two share a byte."""
    return isinstance(op, TileLoadOp | TileStoreOp) and _has_pairs(tiled_view(op.view))


def _has_pairs(type: TiledViewType) -> bool:
    return type.source.element is F4E2M1FN


def check_bytes(op: Operation, facts: AxisFacts) -> None:
    """Reject an unsupported operation."""
    match op:
        case MakeMemrefOp() if paired(memref(op.result)) is not None:
            _check_tensor(op, facts)
        case BlockTileOp() if _has_pairs(tiled_view(op.result)):
            _check_view(op, tiled_view(op.result))
        case TileLoadOp() | TileStoreOp() if _has_pairs(tiled_view(op.view)):
            _check_access(op, facts)
        case FuncOp() if any(in_bytes(type) is not None for type in op.signature.inputs):
            raise Unsupported("tensors of elements of 4 bits as arguments", op.location)
        case _:
            pass


def _check_tensor(op: MakeMemrefOp, facts: AxisFacts) -> None:
    """Every extent and stride that is halved must be even."""
    type = memref(op.result)
    along, sizes, strides = paired(type), iter(op.sizes), iter(op.strides)
    for dim in range(type.rank):
        size = next(sizes) if type.shape[dim] == DYNAMIC else None
        stride = next(strides) if type.strides[dim] == DYNAMIC else None
        if dim == along:
            _require(op, size, "a contiguous extent", facts)
        if type.shape[dim] != 1:
            _require(op, stride, "a stride", facts)


def _check_view(op: Operation, type: TiledViewType) -> None:
    problem = tile_problem(type)
    if problem is not None:
        raise Unsupported(problem, op.location)


def _check_access(op: TileLoadOp | TileStoreOp, facts: AxisFacts) -> None:
    """The indices of gathered rows count elements, others count tiles."""
    type = tiled_view(op.view)
    _check_view(op, type)
    if type.padding not in (None, *PADDINGS) and isinstance(op, TileLoadOp):
        raise Unsupported("a padding that elements of 4 bits cannot hold", op.location)
    dim = paired_dim(type)
    if type.sparse is not None and dim is not None:
        _require(op, op.indices[dim], "an index", facts)


def _require(op: Operation, number: Value | None, what: str, facts: AxisFacts) -> None:
    if number is not None and facts.of(number).divisor % 2:
        raise Unsupported(NOT_EVEN.format(what), op.location)
