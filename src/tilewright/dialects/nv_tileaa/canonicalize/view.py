"""Folds of static sizes of memrefs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import width_of
from tilewright.dialects.nv_tileaa.types import MemrefType
from tilewright.dialects.nv_tileaa.view import GetDimSizeOp
from tilewright.ir.types import DYNAMIC
from tilewright.support.bits import mask

if TYPE_CHECKING:
    from tilewright.ir.rules import Constants, Folded, Folds


def fold_dim_size(op: GetDimSizeOp, constants: Constants) -> Folded:
    """A static size of a memref is a constant, if it fits the result type."""
    source = op.source.type
    if not isinstance(source, MemrefType):
        return None
    extent, type = source.shape[op.dim], op.result.type
    if extent == DYNAMIC or extent > mask(width_of(type)):
        return None
    return literal([extent], type)


FOLDS: Final[Folds] = {GetDimSizeOp: fold_dim_size}
