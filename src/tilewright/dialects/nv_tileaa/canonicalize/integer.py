"""Folds of integer arithmetic, by the equivalent operations of arith."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith import folds as arith_folds
from tilewright.dialects.arith import integer as arith
from tilewright.dialects.arith.attributes import NO_OVERFLOW
from tilewright.dialects.arith.integer_folds import fold_as
from tilewright.dialects.folding.integers import integer_folds
from tilewright.dialects.nv_tileaa.attributes import RoundingMode, Signedness
from tilewright.dialects.nv_tileaa.integer import (
    AbsIOp,
    AddIOp,
    AndIOp,
    BinaryInteger,
    CmpIOp,
    DivIOp,
    MulHiUIOp,
    MulIOp,
    NegIOp,
    OrIOp,
    OverflowingInteger,
    RemIOp,
    ShLIOp,
    ShRIOp,
    SignedInteger,
    SubIOp,
    XOrIOp,
)

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.rules import Constants, Folded, Folds

_SAME: Final[dict[type[Operation], type[arith.BinaryInteger]]] = {
    AddIOp: arith.AddIOp,
    SubIOp: arith.SubIOp,
    MulIOp: arith.MulIOp,
    AndIOp: arith.AndIOp,
    OrIOp: arith.OrIOp,
    XOrIOp: arith.XOrIOp,
    ShLIOp: arith.ShLIOp,
}

_BY_SIGN: Final[dict[type[Operation], tuple[type[arith.BinaryInteger], ...]]] = {
    RemIOp: (arith.RemUIOp, arith.RemSIOp),
    ShRIOp: (arith.ShRUIOp, arith.ShRSIOp),
}

_DIVISIONS: Final = {
    RoundingMode.ZERO: (arith.DivUIOp, arith.DivSIOp),
    RoundingMode.NEGATIVE_INF: (arith.DivUIOp, arith.FloorDivSIOp),
    RoundingMode.POSITIVE_INF: (arith.CeilDivUIOp, arith.CeilDivSIOp),
}


def arith_equivalent(op: BinaryInteger) -> type[arith.BinaryInteger]:
    """The equivalent operation of arith."""
    if not isinstance(op, SignedInteger):
        return _SAME[type(op)]
    pair = _DIVISIONS[op.rounding_mode] if isinstance(op, DivIOp) else _BY_SIGN[type(op)]
    return pair[op.signedness is Signedness.SIGNED]


def fold_binary(op: BinaryInteger, constants: Constants) -> Folded:
    """Compute on constants; drop identity operands; `x - x` is zero, and the like."""
    overflow = op.overflow if isinstance(op, OverflowingInteger) else NO_OVERFLOW
    return fold_as(arith_equivalent(op), op, constants, overflow)


def fold_comparison(op: CmpIOp, constants: Constants) -> Folded:
    """Compare constants, or a value with itself."""
    return arith_folds.fold_integers(op.predicate, op, constants)


def _no_wrap(op: NegIOp) -> bool:
    return bool(op.overflow)


FOLDS: Final[Folds] = {
    **dict.fromkeys((*_SAME, *_BY_SIGN, DivIOp), fold_binary),
    **integer_folds(NegIOp, AbsIOp, MulHiUIOp, _no_wrap),
    CmpIOp: fold_comparison,
}
