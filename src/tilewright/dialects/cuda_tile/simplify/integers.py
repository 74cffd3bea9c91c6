"""Folds of integer arithmetic: computation on constants, and identities modulo `2**bits`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.literals import Binary, elementwise, splat_of
from tilewright.dialects.cuda_tile.bitwise import AndIOp, OrIOp, XOrIOp
from tilewright.dialects.cuda_tile.enums import Overflow, Rounding
from tilewright.dialects.cuda_tile.integer import (
    AbsIOp,
    AddIOp,
    BinaryInteger,
    DivIOp,
    MaxIOp,
    MinIOp,
    MulhiIOp,
    MulIOp,
    NegIOp,
    OverflowingInteger,
    RemIOp,
    ShLIOp,
    ShRIOp,
    SignedInteger,
    SubIOp,
)
from tilewright.dialects.cuda_tile.mma import MmaIOp
from tilewright.dialects.cuda_tile.simplify.constants import is_signed, splat, width
from tilewright.dialects.folding.integers import integer_folds
from tilewright.support.bits import mask, sign_bit
from tilewright.support.floats import Rounding as FloatRounding
from tilewright.support.numerics import integer

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.rules import Constants, Folded, Folds

NO_WRAP: Final[dict[Overflow, tuple[bool, ...]]] = {
    Overflow.NONE: (),
    Overflow.NO_SIGNED_WRAP: (True,),
    Overflow.NO_UNSIGNED_WRAP: (False,),
    Overflow.NO_WRAP: (True, False),
}
"""The no-wrap flags: `True` for signed, `False` for unsigned."""

_WRAPPING: Final[dict[type[Operation], tuple[Callable[..., int], Callable[..., bool]]]] = {
    AddIOp: (integer.add, integer.add_overflows),
    SubIOp: (integer.subtract, integer.subtract_overflows),
    MulIOp: (integer.multiply, integer.multiply_overflows),
    ShLIOp: (integer.shift_left, integer.shift_left_overflows),
}

_DIVISION_ROUNDINGS: Final = {
    Rounding.ZERO: FloatRounding.ZERO,
    Rounding.NEGATIVE_INF: FloatRounding.NEGATIVE_INF,
    Rounding.POSITIVE_INF: FloatRounding.POSITIVE_INF,
}


def _wrapping(op: OverflowingInteger, bits: int) -> Binary:
    """Compute modulo `2**bits`; undefined if a no-wrap flag is violated or a shift too large."""
    compute, overflows = _WRAPPING[type(op)]
    no_wrap = NO_WRAP[op.overflow]
    is_shift = isinstance(op, ShLIOp)

    def result(a: int, b: int) -> int | None:
        if is_shift and b >= bits:
            return None
        if any(overflows(a, b, bits, signed=signed) for signed in no_wrap):
            return None
        return compute(a, b, bits)

    return result


def _signed_compute(op: SignedInteger, bits: int) -> Binary:
    """The function of an operation with a signedness."""
    signed = is_signed(op.signedness)
    match op:
        case DivIOp():
            rounding = _DIVISION_ROUNDINGS[op.rounding]
            return lambda a, b: integer.divide(a, b, bits, signed=signed, rounding=rounding)
        case RemIOp():
            return lambda a, b: integer.remainder(a, b, bits, signed=signed)
        case MaxIOp():
            return lambda a, b: integer.maximum(a, b, bits, signed=signed)
        case MinIOp():
            return lambda a, b: integer.minimum(a, b, bits, signed=signed)
        case _:
            return lambda a, b: integer.shift_right(a, b, bits, signed=signed) if b < bits else None


def _compute(op: BinaryInteger, bits: int) -> Binary:
    match op:
        case OverflowingInteger():
            return _wrapping(op, bits)
        case SignedInteger():
            return _signed_compute(op, bits)
        case AndIOp():
            return integer.bitwise_and
        case OrIOp():
            return integer.bitwise_or
        case _:
            return integer.bitwise_xor


def _right_identity(op: BinaryInteger, bits: int) -> int | None:
    """The right identity of an operation, or `None`."""
    match op:
        case AddIOp() | SubIOp() | OrIOp() | XOrIOp() | ShLIOp() | ShRIOp():
            return 0
        case MulIOp():
            return 1
        case AndIOp():
            return mask(bits)
        case DivIOp():
            # The i1 value 1 is -1 as a signed integer.
            return None if bits == 1 else 1
        case MaxIOp():
            return sign_bit(bits) if is_signed(op.signedness) else 0
        case MinIOp():
            return mask(bits) >> is_signed(op.signedness)
        case _:
            return None


def _absorbing_element(op: BinaryInteger, bits: int) -> int | None:
    """The absorbing element of an operation, or `None`."""
    match op:
        case MulIOp() | AndIOp():
            return 0
        case OrIOp():
            return mask(bits)
        case MaxIOp():
            return mask(bits) >> is_signed(op.signedness)
        case MinIOp():
            return sign_bit(bits) if is_signed(op.signedness) else 0
        case _:
            return None


_COMMUTATIVE: Final = (AddIOp, MulIOp, AndIOp, OrIOp, XOrIOp, MaxIOp, MinIOp)
_IDEMPOTENT: Final = (AndIOp, OrIOp, MaxIOp, MinIOp)
_CANCELLING: Final = (SubIOp, XOrIOp)


def fold_binary(op: BinaryInteger, constants: Constants) -> Folded:
    """Compute on constants; drop identity operands; `x - x` is zero, and the like."""
    bits = width(op.result.type)
    left, right = splat_of(constants[0]), splat_of(constants[1])
    if right is not None and right == _right_identity(op, bits):
        return op.lhs
    if None not in constants:
        return elementwise(_compute(op, bits), op.result.type, constants)
    if isinstance(op, RemIOp) and right == 1 and bits > 1:
        return splat(0, op.result.type)
    if isinstance(op, _COMMUTATIVE):
        if left is not None and left == _right_identity(op, bits):
            return op.rhs
        absorbing = _absorbing_element(op, bits)
        if absorbing is not None and absorbing in (left, right):
            return splat(absorbing, op.result.type)
    return _fold_same(op) or _fold_inverse(op)


def _fold_same(op: BinaryInteger) -> Folded:
    """`x & x` is `x`, and `x - x` is zero."""
    if op.lhs is not op.rhs:
        return None
    if isinstance(op, _IDEMPOTENT):
        return op.lhs
    return splat(0, op.result.type) if isinstance(op, _CANCELLING) else None


def _fold_inverse(op: BinaryInteger) -> Folded:
    """`(x ^ y) ^ y` is `x`."""
    if not isinstance(op, XOrIOp):
        return None
    for inner, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        source = inner.defined_by(XOrIOp)
        if source is not None and other in source.operands:
            return source.rhs if source.lhs is other else source.lhs
    return None


def fold_mma(op: MmaIOp, constants: Constants) -> Folded:
    """`mmai 0, b, acc` and `mmai a, 0, acc` are `acc`."""
    lhs, rhs, _ = constants
    return op.acc if 0 in (splat_of(lhs), splat_of(rhs)) else None


def _no_wrap(op: NegIOp) -> bool:
    return bool(NO_WRAP[op.overflow])


FOLDS: Final[Folds] = {
    **dict.fromkeys(
        (
            AddIOp, SubIOp, MulIOp, DivIOp, RemIOp, MaxIOp, MinIOp,
            ShLIOp, ShRIOp, AndIOp, OrIOp, XOrIOp,
        ),
        fold_binary,
    ),
    **integer_folds(NegIOp, AbsIOp, MulhiIOp, _no_wrap),
    MmaIOp: fold_mma,
}  # fmt: skip
