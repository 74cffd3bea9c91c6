"""Folds of element type conversions: constants, and conversions that undo each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.folding.conversions import (
    ConversionFolds,
    ConversionOps,
    merge_bitcasts,
    merge_extensions,
)
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.canonicalize.floating import ROUNDINGS
from tilewright.dialects.nv_tileaa.conversion import (
    BitcastOp,
    ExtIOp,
    FpToFpOp,
    FToIOp,
    IntToPtrOp,
    PtrToIntOp,
    TruncIOp,
)

if TYPE_CHECKING:
    from tilewright.ir.rules import Constants, Folded, Folds, Rules


def fold_address(op: IntToPtrOp | PtrToIntOp, constants: Constants) -> Folded:
    """`int_to_ptr (ptr_to_int p)` is `p` if the type is the same, and the reverse."""
    source = op.source.defining_op()
    if not isinstance(source, IntToPtrOp | PtrToIntOp):
        return None
    return source.source if source.source.type is op.result.type else None


def _no_wrap(op: TruncIOp) -> list[bool]:
    return [flag == "nsw" for flag in op.overflow.names]


_OPS: Final = ConversionOps(
    extend=ExtIOp,
    truncate=TruncIOp,
    bitcast=BitcastOp,
    float_to_float=FpToFpOp,
    float_to_int=FToIOp,
    signed=Signedness.SIGNED,
    no_wrap=_no_wrap,
    roundings=ROUNDINGS,
)
FOLDS: Final[Folds] = {
    **ConversionFolds(_OPS).folds(),
    **dict.fromkeys((IntToPtrOp, PtrToIntOp), fold_address),
}
RULES: Final[Rules] = (merge_bitcasts(BitcastOp), merge_extensions(ExtIOp, Signedness.SIGNED))
