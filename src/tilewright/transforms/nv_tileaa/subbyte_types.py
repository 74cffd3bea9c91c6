"""Types of tensors of 4-bit elements as tensors of bytes, and accesses that have none.

Along one dimension two neighbours share a byte, the first in its low bits. That dimension has an
even extent and the others have even strides, so that no row begins inside of a byte. Accesses that
would need a part of a byte are rejected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.attributes import PaddingValue
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.types import MemrefType, TiledViewType
from tilewright.dialects.nv_tileaa.view import (
    BlockTileOp,
    MakeMemrefOp,
    TileLoadOp,
    TileStoreOp,
    memref,
    tiled_view,
)
from tilewright.ir.types import DYNAMIC, F4E2M1FN, I8
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from tilewright.analysis.axis import AxisFacts
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

PADDINGS: Final = {PaddingValue.ZERO: 0x00, PaddingValue.NEG_ZERO: 0x88}
"""Supported paddings, as bytes with two elements."""
NOT_EVEN: Final = "elements of 4 bits in memory with {} that is not known to be even"


def paired(type: MemrefType) -> int | None:
    """The dimension along which neighbours share bytes, as far as the type is static.

    Dynamic extents and strides must be even. A stride along an extent of one is never used.
    """
    steps = [dim for dim in range(type.rank) if type.shape[dim] != 1]
    pairs = [dim for dim in steps if type.strides[dim] == 1]
    if type.element is not F4E2M1FN or len(pairs) != 1 or type.shape[pairs[0]] % 2:
        return None
    if any(type.strides[dim] % 2 for dim in steps if dim != pairs[0]):
        return None
    return pairs[0]


def paired_dim(type: TiledViewType) -> int | None:
    """The dimension of a tile along which neighbours share bytes."""
    along = paired(type.source)
    return None if along is None else type.dims.index(along)


def in_bytes(type: Type) -> Type | None:
    """The type in bytes; None if it does not change.

    Where neighbours share bytes a tensor has half the extent, and half the strides elsewhere. Its
    tiles have half the extent, half as far apart, and no padding but zero.
    """
    match type:
        case MemrefType() if (along := paired(type)) is not None:
            shape = [_halved(n) if dim == along else n for dim, n in enumerate(type.shape)]
            strides = [n if dim == along else _halved(n) for dim, n in enumerate(type.strides)]
            return MemrefType(tuple(shape), I8, tuple(strides), type.space, type.alias_scope)
        case TiledViewType() if tile_problem(type) is None:
            source, dim = in_bytes(type.source), paired_dim(type)
            assert isinstance(source, MemrefType)
            assert dim is not None
            tile, steps = list(type.tile), list(type.steps)
            tile[dim] //= 2
            steps[dim] //= 2
            padding = None if type.padding is None else PaddingValue.ZERO
            return TiledViewType(tuple(tile), source, tuple(steps), type.dims, type.sparse, padding)
        case _:
            return None


def tile_problem(type: TiledViewType) -> str | None:
    """The reason why tiles of a view are not supported, if there is one."""
    dim = paired_dim(type)
    if dim is None:
        return "elements of 4 bits in a tensor without a contiguous dimension of even extent"
    if dim == type.sparse:
        return "elements of 4 bits that are picked one by one"
    if type.tile[dim] == 1:
        return "tiles with one of two elements of 4 bits that share a byte"
    if type.steps[dim] % 2:
        return "tiles of elements of 4 bits that begin inside of a byte"
    return None


def _halved(number: int) -> int:
    return number if number == DYNAMIC else max(number // 2, 1)


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
