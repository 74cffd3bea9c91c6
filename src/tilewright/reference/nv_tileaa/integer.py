"""Integer arithmetic and bitwise logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.dialects.nv_tileaa import integer as d
from tilewright.ir.operation import Operation
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import Run, binary, decoder, evaluator
from tilewright.reference.integer import (
    Modular,
    check_division,
    check_divisor,
    check_overflow,
    modular,
)
from tilewright.reference.numerics import integer
from tilewright.reference.numerics.comparison import integer_relation
from tilewright.reference.nv_tileaa.enums import OVERFLOW_FLAGS, ROUNDINGS, is_signed
from tilewright.reference.tile import Array, element

OVERFLOWING: Final[dict[type[Operation], Modular]] = {
    d.AddIOp: integer.add,
    d.SubIOp: integer.subtract,
    d.MulIOp: integer.multiply,
    d.ShLIOp: integer.shift_left,
}
LOGIC: Final[dict[type[Operation], Callable[[Array, Array], Array]]] = {
    d.AndIOp: np.bitwise_and,
    d.OrIOp: np.bitwise_or,
    d.XOrIOp: np.bitwise_xor,
}


@decoder(*OVERFLOWING)
def overflowing(op: d.OverflowingInteger) -> Run:
    """Add, subtract, multiply and shift left, modulo the width."""
    flags = OVERFLOW_FLAGS[op.overflow]
    return modular(op, (op.lhs, op.rhs), OVERFLOWING[type(op)], flags)


@decoder(*LOGIC)
def logic(op: d.BinaryInteger) -> Run:
    """Bitwise and, or, xor."""
    return binary(op.lhs, op.rhs, LOGIC[type(op)])


@evaluator(d.NegIOp)
def negi(op: d.NegIOp, at: Batch) -> Array:
    """Negate."""
    source = at[op.source]
    check_overflow(op, at, OVERFLOW_FLAGS[op.overflow], source)
    return integer.negate(source, element(op.result))


@evaluator(d.AbsIOp)
def absi(op: d.AbsIOp, at: Batch) -> Array:
    """The absolute value of a signed integer, as an unsigned one."""
    return integer.absolute(at[op.source], element(op.result))


@evaluator(d.MulHiUIOp)
def mulhiui(op: d.MulHiUIOp, at: Batch) -> Array:
    """The high bits of the double-width unsigned result of `lhs * rhs`."""
    return integer.multiply_high(at[op.lhs], at[op.rhs], element(op.result))


@evaluator(d.DivIOp)
def divi(op: d.DivIOp, at: Batch) -> Array:
    """Divide with a rounding mode."""
    lhs, rhs, signed = at[op.lhs], at[op.rhs], is_signed(op.signedness)
    check_division(op, at, lhs, rhs, is_signed=signed)
    mode = ROUNDINGS[op.rounding_mode]
    return integer.divide(lhs, rhs, element(op.result), is_signed=signed, mode=mode)


@evaluator(d.RemIOp)
def remi(op: d.RemIOp, at: Batch) -> Array:
    """The remainder of truncated division."""
    lhs, rhs, signed = at[op.lhs], at[op.rhs], is_signed(op.signedness)
    check_divisor(op, at, rhs)
    return integer.remainder(lhs, rhs, element(op.result), is_signed=signed)


@evaluator(d.ShRIOp)
def shri(op: d.ShRIOp, at: Batch) -> Array:
    """Arithmetic or logical shift right."""
    lhs, rhs, signed = at[op.lhs], at[op.rhs], is_signed(op.signedness)
    return integer.shift_right(lhs, rhs, element(op.result), is_signed=signed)


@decoder(d.CmpIOp)
def cmpi(op: d.CmpIOp) -> Run:
    """Compare."""
    return binary(op.lhs, op.rhs, integer_relation(op.predicate, element(op.lhs)))
