"""Integer arithmetic, with checks of no-wrap flags."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from tilewright.dialects.cuda_tile import integer as d
from tilewright.dialects.cuda_tile.enums import Overflow, Signedness
from tilewright.ir.attributes import Type
from tilewright.ir.operation import Operation
from tilewright.ir.values import Value
from tilewright.reference.batch import Batch
from tilewright.reference.errors import Fault
from tilewright.reference.evaluators import Run, binary, decoder, evaluator
from tilewright.reference.numerics import integer, overflow
from tilewright.reference.numerics.comparison import integer_comparison
from tilewright.reference.tile import Array, element
from tilewright.reference.tile import integer as integer_type


def is_signed(op: d.SignedInteger | d.CmpIOp) -> bool:
    """Whether an operation interprets its operands as signed."""
    return op.signedness is Signedness.SIGNED


Modular = Callable[[Array, Array, Type], Array]

OVERFLOWING: Final[dict[type[Operation], Modular]] = {
    d.AddIOp: integer.add,
    d.SubIOp: integer.subtract,
    d.MulIOp: integer.multiply,
    d.ShLIOp: integer.shift_left,
}


@decoder(*OVERFLOWING)
def overflowing(op: d.OverflowingInteger) -> Run:
    """Add, subtract, multiply and shift left, modulo the width."""
    return modular(op, (op.lhs, op.rhs), OVERFLOWING[type(op)], op.overflow)


def modular(op: Operation, operands: tuple[Value, Value], compute: Modular, flags: Overflow) -> Run:
    """An operation modulo the width, with overflow flags."""
    run = binary(*operands, integer.of_type(compute, element(op.results[0])))
    if flags is Overflow.NONE:
        return run

    def checked(at: Batch) -> Array:
        check_overflow(op, at, flags, *(at[value] for value in operands))
        return run(at)

    return checked


@evaluator(d.NegIOp)
def negi(op: d.NegIOp, at: Batch) -> Array:
    """Negate."""
    source = at[op.source]
    check_overflow(op, at, op.overflow, source)
    return integer.negate(source, element(op.result))


def check_overflow(op: Operation, at: Batch, flags: Overflow, *operands: Array) -> None:
    """Report an operation that overflows despite a no-wrap flag."""
    if at.machine.checker is None or flags is Overflow.NONE:
        return
    for signed in (True, False):
        if flags is not (Overflow.NO_UNSIGNED_WRAP if signed else Overflow.NO_SIGNED_WRAP):
            holds = ~overflow.wraps(type(op), operands, element(op.results[0]), is_signed=signed)
            word = "signed" if signed else "unsigned"
            message = f"overflows as {word} integers, which its overflow flags exclude"
            at.require(op, holds, Fault.ASSUMPTION, message)


@evaluator(d.AbsIOp)
def absi(op: d.AbsIOp, at: Batch) -> Array:
    """The absolute value of a signed integer, as an unsigned one."""
    return integer.absolute(at[op.source], element(op.result))


@evaluator(d.MulhiIOp)
def mulhii(op: d.MulhiIOp, at: Batch) -> Array:
    """The high bits of the double-width unsigned result of `x * y`."""
    return integer.multiply_high(at[op.x], at[op.y], element(op.result))


@evaluator(d.DivIOp)
def divi(op: d.DivIOp, at: Batch) -> Array:
    """Divide with a rounding mode."""
    lhs, rhs, type = at[op.lhs], at[op.rhs], element(op.result)
    check_division(op, at, lhs, rhs, is_signed=is_signed(op))
    return integer.divide(lhs, rhs, type, is_signed=is_signed(op), mode=op.rounding)


def check_division(op: Operation, at: Batch, lhs: Array, rhs: Array, *, is_signed: bool) -> None:
    """Report a division by zero, or one that overflows."""
    check_divisor(op, at, rhs)
    if at.machine.checker is not None and is_signed:
        smallest = -(1 << integer_type(op.results[0]).width - 1)
        fits = (integer.read(lhs, True) != smallest) | (integer.read(rhs, True) != -1)
        at.require(op, fits, Fault.UNDEFINED, "divides the smallest integer by -1")


@evaluator(d.RemIOp)
def remi(op: d.RemIOp, at: Batch) -> Array:
    """The remainder of truncated division."""
    lhs, rhs, type = at[op.lhs], at[op.rhs], element(op.result)
    check_divisor(op, at, rhs)
    return integer.remainder(lhs, rhs, type, is_signed=is_signed(op))


def check_divisor(op: Operation, at: Batch, divisor: Array) -> None:
    """Report a division by zero, also in unused elements: it is undefined behaviour."""
    if at.machine.checker is not None:
        at.require(op, divisor != 0, Fault.UNDEFINED, "divides by zero")


@decoder(d.MaxIOp)
def maxi(op: d.MaxIOp) -> Run:
    """Maximum."""
    return binary(op.lhs, op.rhs, partial(integer.maximum, is_signed=is_signed(op)))


@decoder(d.MinIOp)
def mini(op: d.MinIOp) -> Run:
    """Minimum."""
    return binary(op.lhs, op.rhs, partial(integer.minimum, is_signed=is_signed(op)))


@decoder(d.CmpIOp)
def cmpi(op: d.CmpIOp) -> Run:
    """Compare."""
    type, signed = element(op.lhs), is_signed(op)
    compare = integer_comparison(op.comparison_predicate, type, is_signed=signed)
    return binary(op.lhs, op.rhs, compare)


@evaluator(d.ShRIOp)
def shri(op: d.ShRIOp, at: Batch) -> Array:
    """Arithmetic or logical shift right."""
    lhs, rhs, type = at[op.lhs], at[op.rhs], element(op.result)
    return integer.shift_right(lhs, rhs, type, is_signed=is_signed(op))
