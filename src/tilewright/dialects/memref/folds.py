"""Folds of memref: no-op casts, and static extents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.literals import materialize, splat_of
from tilewright.dialects.elements import memref
from tilewright.dialects.memref.access import DimOp
from tilewright.dialects.memref.views import CastOp, MemorySpaceCastOp, MemRefCast
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.types import DYNAMIC, INDEX

if TYPE_CHECKING:
    from tilewright.ir.rules import Constants, Folded, Folds

__all__ = ["FOLDS", "materialize"]


def fold_cast(op: MemRefCast, constants: Constants) -> Folded:
    """Fold a cast to the same type, or back to the original type."""
    if op.source.type is op.result.type:
        return op.source
    inner = op.source.defining_op()
    if isinstance(inner, MemRefCast) and type(inner) is type(op):
        return inner.source if inner.source.type is op.result.type else None
    return None


def fold_extent(op: DimOp, constants: Constants) -> Folded:
    """Fold a static extent."""
    dimension = splat_of(constants[1])
    shape = memref(op.source).shape
    if dimension is None or shape is None or dimension >= len(shape):
        return None
    extent = shape[dimension]
    return None if extent == DYNAMIC else IntegerAttr(extent, INDEX)


FOLDS: Final[Folds] = {
    CastOp: fold_cast,
    MemorySpaceCastOp: fold_cast,
    DimOp: fold_extent,
}
