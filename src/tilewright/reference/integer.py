"""Integer arithmetic. A checker also looks at the promises that nothing overflows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tilewright.dialects.cuda_tile import integer as d
from tilewright.dialects.cuda_tile.enums import Overflow, Signedness
from tilewright.ir.operation import Operation
from tilewright.reference.batch import Batch
from tilewright.reference.errors import Fault
from tilewright.reference.meanings import meaning
from tilewright.reference.numerics import integer, overflow
from tilewright.reference.numerics.comparison import compare_integers
from tilewright.reference.tile import Array, element
from tilewright.reference.tile import integer as integer_type


def is_signed(op: d.SignedInteger | d.CmpIOp) -> bool:
    """How an operation reads its operands."""
    return op.signedness is Signedness.SIGNED


OVERFLOWING: Final[dict[type[Operation], Callable[..., Array]]] = {
    d.AddIOp: integer.add,
    d.SubIOp: integer.subtract,
    d.MulIOp: integer.multiply,
    d.ShLIOp: integer.shift_left,
}


@meaning(*OVERFLOWING)
def overflowing(op: d.OverflowingInteger, at: Batch) -> Array:
    """Sum, difference, product and shift to the left, modulo the width."""
    lhs, rhs = at[op.lhs], at[op.rhs]
    check_overflow(op, at, op.overflow, lhs, rhs)
    return OVERFLOWING[type(op)](lhs, rhs, element(op.result))


@meaning(d.NegIOp)
def negi(op: d.NegIOp, at: Batch) -> Array:
    """Zero minus the source."""
    source = at[op.source]
    check_overflow(op, at, op.overflow, source)
    return integer.negate(source, element(op.result))


def check_overflow(op: Operation, at: Batch, promise: Overflow, *operands: Array) -> None:
    """Stop if an operation overflows that was promised not to."""
    if at.machine.checker is None or promise is Overflow.NONE:
        return
    for signed in (True, False):
        if promise is not (Overflow.NO_UNSIGNED_WRAP if signed else Overflow.NO_SIGNED_WRAP):
            holds = ~overflow.wraps(type(op), operands, element(op.results[0]), is_signed=signed)
            word = "signed" if signed else "unsigned"
            message = f"overflows as {word} integers, which it promises not to"
            at.require(op, holds, Fault.ASSUMPTION, message)


@meaning(d.AbsIOp)
def absi(op: d.AbsIOp, at: Batch) -> Array:
    """The magnitude of a signed integer, to be read as unsigned."""
    return integer.absolute(at[op.source], element(op.result))


@meaning(d.MulhiIOp)
def mulhii(op: d.MulhiIOp, at: Batch) -> Array:
    """The high half of the unsigned product."""
    return integer.multiply_high(at[op.x], at[op.y], element(op.result))


@meaning(d.DivIOp)
def divi(op: d.DivIOp, at: Batch) -> Array:
    """The quotient, rounded as told."""
    lhs, rhs, type = at[op.lhs], at[op.rhs], element(op.result)
    check_division(op, at, lhs, rhs, is_signed=is_signed(op))
    return integer.divide(lhs, rhs, type, is_signed=is_signed(op), mode=op.rounding)


def check_division(op: Operation, at: Batch, lhs: Array, rhs: Array, *, is_signed: bool) -> None:
    """Stop if an element has no quotient that the type holds."""
    check_divisor(op, at, rhs)
    if at.machine.checker is not None and is_signed:
        smallest = -(1 << integer_type(op.results[0]).width - 1)
        fits = (integer.read(lhs, True) != smallest) | (integer.read(rhs, True) != -1)
        at.require(op, fits, Fault.UNDEFINED, "divides the smallest integer by -1")


@meaning(d.RemIOp)
def remi(op: d.RemIOp, at: Batch) -> Array:
    """What division toward zero leaves."""
    lhs, rhs, type = at[op.lhs], at[op.rhs], element(op.result)
    check_divisor(op, at, rhs)
    return integer.remainder(lhs, rhs, type, is_signed=is_signed(op))


def check_divisor(op: Operation, at: Batch, divisor: Array) -> None:
    """Stop if an element is divided by zero, also one that is not used: the behaviour is open."""
    if at.machine.checker is not None:
        at.require(op, divisor != 0, Fault.UNDEFINED, "divides by zero")


@meaning(d.MaxIOp)
def maxi(op: d.MaxIOp, at: Batch) -> Array:
    """The larger of two."""
    return integer.maximum(at[op.lhs], at[op.rhs], is_signed=is_signed(op))


@meaning(d.MinIOp)
def mini(op: d.MinIOp, at: Batch) -> Array:
    """The smaller of two."""
    return integer.minimum(at[op.lhs], at[op.rhs], is_signed=is_signed(op))


@meaning(d.CmpIOp)
def cmpi(op: d.CmpIOp, at: Batch) -> Array:
    """Whether a relation holds."""
    lhs, rhs = at[op.lhs], at[op.rhs]
    return compare_integers(op.comparison_predicate, lhs, rhs, is_signed=is_signed(op))


@meaning(d.ShRIOp)
def shri(op: d.ShRIOp, at: Batch) -> Array:
    """Shift to the right; a signed one copies the top bit."""
    lhs, rhs, type = at[op.lhs], at[op.rhs], element(op.result)
    return integer.shift_right(lhs, rhs, type, is_signed=is_signed(op))
