"""Integer arithmetic and bitwise logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.dialects.nv_tileaa import integer as d
from tilewright.ir.operation import Operation
from tilewright.reference.batch import Batch
from tilewright.reference.integer import check_division, check_divisor, check_overflow
from tilewright.reference.meanings import meaning
from tilewright.reference.numerics import integer
from tilewright.reference.numerics.comparison import integer_relation
from tilewright.reference.nv_tileaa.enums import PROMISES, ROUNDINGS, is_signed
from tilewright.reference.tile import Array, element

OVERFLOWING: Final[dict[type[Operation], Callable[..., Array]]] = {
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


@meaning(*OVERFLOWING)
def overflowing(op: d.OverflowingInteger, at: Batch) -> Array:
    """Sum, difference, product and shift to the left, modulo the width."""
    lhs, rhs = at[op.lhs], at[op.rhs]
    check_overflow(op, at, PROMISES[op.overflow], lhs, rhs)
    return OVERFLOWING[type(op)](lhs, rhs, element(op.result))


@meaning(*LOGIC)
def logic(op: d.BinaryInteger, at: Batch) -> Array:
    """Each bit for itself."""
    return LOGIC[type(op)](at[op.lhs], at[op.rhs])


@meaning(d.NegIOp)
def negi(op: d.NegIOp, at: Batch) -> Array:
    """Zero minus the source."""
    source = at[op.source]
    check_overflow(op, at, PROMISES[op.overflow], source)
    return integer.negate(source, element(op.result))


@meaning(d.AbsIOp)
def absi(op: d.AbsIOp, at: Batch) -> Array:
    """The magnitude of a signed integer, to be read as unsigned."""
    return integer.absolute(at[op.source], element(op.result))


@meaning(d.MulHiUIOp)
def mulhiui(op: d.MulHiUIOp, at: Batch) -> Array:
    """The high half of the unsigned product."""
    return integer.multiply_high(at[op.lhs], at[op.rhs], element(op.result))


@meaning(d.DivIOp)
def divi(op: d.DivIOp, at: Batch) -> Array:
    """The quotient, rounded as told."""
    lhs, rhs, signed = at[op.lhs], at[op.rhs], is_signed(op.signedness)
    check_division(op, at, lhs, rhs, is_signed=signed)
    mode = ROUNDINGS[op.rounding_mode]
    return integer.divide(lhs, rhs, element(op.result), is_signed=signed, mode=mode)


@meaning(d.RemIOp)
def remi(op: d.RemIOp, at: Batch) -> Array:
    """What division toward zero leaves."""
    lhs, rhs, signed = at[op.lhs], at[op.rhs], is_signed(op.signedness)
    check_divisor(op, at, rhs)
    return integer.remainder(lhs, rhs, element(op.result), is_signed=signed)


@meaning(d.ShRIOp)
def shri(op: d.ShRIOp, at: Batch) -> Array:
    """Shift to the right; a signed one copies the top bit."""
    lhs, rhs, signed = at[op.lhs], at[op.rhs], is_signed(op.signedness)
    return integer.shift_right(lhs, rhs, element(op.result), is_signed=signed)


@meaning(d.CmpIOp)
def cmpi(op: d.CmpIOp, at: Batch) -> Array:
    """Whether a relation holds."""
    return integer_relation(op.predicate, at[op.lhs], at[op.rhs])
