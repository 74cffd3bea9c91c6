"""Conversions between element types: constants, and conversions that lead back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.folding.conversions import (
    ConversionFolds,
    ConversionOps,
    one_bitcast,
    one_extension,
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
    """An address that becomes an integer and an address of its type again, or the reverse."""
    source = op.source.defining_op()
    if not isinstance(source, IntToPtrOp | PtrToIntOp):
        return None
    return source.source if source.source.type is op.result.type else None


def _promises(op: TruncIOp) -> list[bool]:
    return [flag == "nsw" for flag in op.overflow.names]


_OPS: Final = ConversionOps(
    extend=ExtIOp,
    truncate=TruncIOp,
    bitcast=BitcastOp,
    float_to_float=FpToFpOp,
    float_to_int=FToIOp,
    signed=Signedness.SIGNED,
    promises=_promises,
    roundings=ROUNDINGS,
)
FOLDS: Final[Folds] = {
    **ConversionFolds(_OPS).folds(),
    **dict.fromkeys((IntToPtrOp, PtrToIntOp), fold_address),
}
RULES: Final[Rules] = (one_bitcast(BitcastOp), one_extension(ExtIOp, Signedness.SIGNED))
