"""Folds of integer arithmetic: computation on constants, and identities of wrapping integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tilewright.dialects.arith.attributes import NO_OVERFLOW, OverflowAttr
from tilewright.dialects.arith.integer import (
    AddIOp,
    AddUIExtendedOp,
    AndIOp,
    BinaryInteger,
    CeilDivSIOp,
    CeilDivUIOp,
    DivSIOp,
    DivUIOp,
    ExactInteger,
    FloorDivSIOp,
    MaxSIOp,
    MaxUIOp,
    MinSIOp,
    MinUIOp,
    MulIOp,
    MulSIExtendedOp,
    MulUIExtendedOp,
    OrIOp,
    OverflowingInteger,
    RemSIOp,
    RemUIOp,
    ShLIOp,
    ShRSIOp,
    ShRUIOp,
    SubIOp,
    XOrIOp,
)
from tilewright.dialects.arith.literals import Binary, elementwise, literal, splat_of
from tilewright.dialects.elements import width_of
from tilewright.support.bits import mask, sign_bit, to_signed, to_unsigned
from tilewright.support.floats import Rounding
from tilewright.support.numerics import integer

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.rules import Constants, Folded, Folds
    from tilewright.ir.values import Value

Maker = Callable[[int], Binary]
"""From the width of integers to a computation on them."""


def _division(rounding: Rounding, *, signed: bool) -> Maker:
    return lambda bits: lambda a, b: integer.divide(a, b, bits, signed=signed, rounding=rounding)


def _signed(function: Callable[..., int | None], *, signed: bool) -> Maker:
    return lambda bits: lambda a, b: function(a, b, bits, signed=signed)


def _shift(function: Callable[..., int], **how: bool) -> Maker:
    """A shift by the width or more is undefined."""
    return lambda bits: lambda a, b: function(a, b, bits, **how) if b < bits else None


def _plain(function: Callable[[int, int, int], int]) -> Maker:
    return lambda bits: lambda a, b: function(a, b, bits)


COMPUTE: Final[dict[type[Operation], Maker]] = {
    AddIOp: _plain(integer.add),
    SubIOp: _plain(integer.subtract),
    MulIOp: _plain(integer.multiply),
    ShLIOp: _shift(integer.shift_left),
    ShRSIOp: _shift(integer.shift_right, signed=True),
    ShRUIOp: _shift(integer.shift_right, signed=False),
    DivSIOp: _division(Rounding.ZERO, signed=True),
    DivUIOp: _division(Rounding.ZERO, signed=False),
    FloorDivSIOp: _division(Rounding.NEGATIVE_INF, signed=True),
    CeilDivSIOp: _division(Rounding.POSITIVE_INF, signed=True),
    CeilDivUIOp: _division(Rounding.POSITIVE_INF, signed=False),
    RemSIOp: _signed(integer.remainder, signed=True),
    RemUIOp: _signed(integer.remainder, signed=False),
    MaxSIOp: _signed(integer.maximum, signed=True),
    MaxUIOp: _signed(integer.maximum, signed=False),
    MinSIOp: _signed(integer.minimum, signed=True),
    MinUIOp: _signed(integer.minimum, signed=False),
    AndIOp: lambda bits: integer.bitwise_and,
    OrIOp: lambda bits: integer.bitwise_or,
    XOrIOp: lambda bits: integer.bitwise_xor,
}
"""The function of each operation on bit patterns, regardless of overflow flags."""


def _zero(bits: int) -> int:
    return 0


def _one(bits: int) -> int:
    return 1


def _signed_one(bits: int) -> int | None:
    # The i1 value 1 is -1 as a signed integer.
    return None if bits == 1 else 1


RIGHT_IDENTITY: Final[dict[type[Operation], Callable[[int], int | None]]] = {
    **dict.fromkeys((AddIOp, SubIOp, ShLIOp, ShRSIOp, ShRUIOp, OrIOp, XOrIOp, MaxUIOp), _zero),
    **dict.fromkeys((MulIOp, DivUIOp, CeilDivUIOp), _one),
    **dict.fromkeys((DivSIOp, FloorDivSIOp, CeilDivSIOp), _signed_one),
    **dict.fromkeys((AndIOp, MinUIOp), mask),
    MaxSIOp: sign_bit,
    MinSIOp: lambda bits: mask(bits) >> 1,
}
"""The right identity of each operation."""

ABSORBING: Final[dict[type[Operation], Callable[[int], int]]] = {
    **dict.fromkeys((MulIOp, AndIOp, MinUIOp), _zero),
    **dict.fromkeys((OrIOp, MaxUIOp), mask),
    MaxSIOp: lambda bits: mask(bits) >> 1,
    MinSIOp: sign_bit,
}
"""The absorbing element of each operation."""

COMMUTATIVE: Final = (AddIOp, MulIOp, AndIOp, OrIOp, XOrIOp, MaxSIOp, MaxUIOp, MinSIOp, MinUIOp)
IDEMPOTENT: Final = (AndIOp, OrIOp, MaxSIOp, MaxUIOp, MinSIOp, MinUIOp)
CANCELLING: Final = (SubIOp, XOrIOp)


_OVERFLOWS: Final[dict[type[Operation], Callable[..., bool]]] = {
    AddIOp: integer.add_overflows,
    SubIOp: integer.subtract_overflows,
    MulIOp: integer.multiply_overflows,
    ShLIOp: integer.shift_left_overflows,
}


def fold_binary(op: BinaryInteger, constants: Constants) -> Folded:
    """Compute on constants; drop identity operands; `x - x` is zero, and the like."""
    if isinstance(op, ExactInteger) and op.is_exact and None not in constants:
        return None
    overflow = op.overflow if isinstance(op, OverflowingInteger) else NO_OVERFLOW
    return fold_as(op.__class__, op, constants, overflow)


def fold_as(
    kind: type[BinaryInteger],
    op: Operation,
    constants: Constants,
    overflow: OverflowAttr = NO_OVERFLOW,
) -> Folded:
    """Fold `op` as if it were a `kind` with the given overflow flags."""
    lhs, rhs = op.operands
    type = op.results[0].type
    bits = width_of(type)
    left, right = splat_of(constants[0]), splat_of(constants[1])
    identity = RIGHT_IDENTITY[kind](bits) if kind in RIGHT_IDENTITY else None
    if right is not None and right == identity:
        return lhs
    if None not in constants:
        return elementwise(_checked(kind, overflow, bits), type, constants)
    if kind in COMMUTATIVE and left is not None and left == identity:
        return rhs
    absorbing = ABSORBING[kind](bits) if kind in ABSORBING else None
    if absorbing is not None and absorbing in (left, right):
        return literal([absorbing], type)
    return _fold_same(kind, lhs, type) if lhs is rhs else None


def _checked(kind: type[BinaryInteger], overflow: OverflowAttr, bits: int) -> Binary:
    """The function of an operation; undefined if an overflow flag is violated."""
    compute = COMPUTE[kind](bits)
    if not overflow:
        return compute
    overflows = _OVERFLOWS[kind]
    no_wrap = [flag == "nsw" for flag in overflow.names]

    def checked(a: int, b: int) -> int | None:
        overflowed = any(overflows(a, b, bits, signed=signed) for signed in no_wrap)
        return None if overflowed else compute(a, b)

    return checked


def _fold_same(kind: type[BinaryInteger], operand: Value, type: Type) -> Folded:
    """`x & x` is `x`, and `x - x` is zero."""
    if kind in IDEMPOTENT:
        return operand
    return literal([0], type) if kind in CANCELLING else None


def fold_carry(op: AddUIExtendedOp, constants: Constants) -> Folded:
    """Compute sum and carry of constants."""
    bits = width_of(op.sum.type)
    low = elementwise(lambda a, b: integer.add(a, b, bits), op.sum.type, constants)
    carry = elementwise(lambda a, b: a + b >> bits, op.overflow.type, constants)
    return None if low is None or carry is None else (low, carry)


def fold_extended_mul(op: Any, constants: Constants) -> Folded:
    """Compute the low and the high half for constants."""
    bits, type = width_of(op.low.type), op.low.type
    signed = isinstance(op, MulSIExtendedOp)

    def high(a: int, b: int) -> int:
        x, y = (to_signed(a, bits), to_signed(b, bits)) if signed else (a, b)
        return to_unsigned(x * y >> bits, bits)

    lows = elementwise(lambda a, b: integer.multiply(a, b, bits), type, constants)
    highs = elementwise(high, type, constants)
    return None if lows is None or highs is None else (lows, highs)


INTEGER_FOLDS: Final[Folds] = {
    **dict.fromkeys(COMPUTE, fold_binary),
    AddUIExtendedOp: fold_carry,
    MulSIExtendedOp: fold_extended_mul,
    MulUIExtendedOp: fold_extended_mul,
}
