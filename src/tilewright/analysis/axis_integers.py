"""Axis facts of integer arithmetic: the transfer function of each operation, and where it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis import axis_arithmetic as transfer
from tilewright.analysis.numbers import integer_width, uniform_pattern
from tilewright.analysis.runs import MOST, Axes, made
from tilewright.dialects.arith import integer as arith
from tilewright.dialects.nv_tileaa import conversion, integer
from tilewright.dialects.nv_tileaa.attributes import RoundingMode, Signedness
from tilewright.support.bits import mask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.analysis.axis import AxisFacts
    from tilewright.analysis.solver import Rule
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def _add(at: AxisFacts, op: integer.AddIOp) -> Axes:
    """See `added`."""
    return transfer.added(at.of(op.operands[0]), at.of(op.operands[1]))


def _sub(at: AxisFacts, op: integer.SubIOp) -> Axes:
    """See `subtracted`."""
    return transfer.subtracted(at.of(op.operands[0]), at.of(op.operands[1]))


def _mul(at: AxisFacts, op: integer.MulIOp) -> Axes:
    """Multiplication by one gives the other operand."""
    lhs, rhs = op.operands
    a, b = at.of(lhs), at.of(rhs)
    if a.dims and uniform_pattern(rhs) == 1:
        return a
    if b.dims and uniform_pattern(lhs) == 1:
        return b
    return transfer.multiplied(a, b)


def _div(at: AxisFacts, op: integer.DivIOp) -> Axes:
    """Rounded down, or of numbers that are not negative; exact division loses divisibility."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    by = uniform_pattern(op.rhs)
    divisor = 1
    if by and by & (by - 1) == 0 and a.divisor >= by and by < 1 << (integer_width(op.rhs) - 1):
        divisor = MOST if a.divisor == MOST else a.divisor // by
    if not a.dims or not _is_floor(at, op):
        return transfer.pointwise(a, b, divisor=divisor)
    facts = transfer.divided(a, b, integer_width(op.result))
    return made(facts.dims, divisor)


def _is_floor(at: AxisFacts, op: integer.DivIOp) -> bool:
    rounding = op.rounding_mode
    if op.signedness is Signedness.UNSIGNED:
        return rounding is RoundingMode.ZERO
    if rounding is RoundingMode.ZERO:
        return at.ranges.of(op.lhs).is_natural
    return rounding is RoundingMode.NEGATIVE_INF and at.ranges.of(op.rhs).is_natural


def _rem(at: AxisFacts, op: integer.RemIOp) -> Axes:
    """Of numbers that are not negative; otherwise the remainder has another sign."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    is_plain = op.signedness is Signedness.UNSIGNED
    if a.dims and (is_plain or at.ranges.of(op.lhs).is_natural):
        return transfer.remainder(a, b, integer_width(op.result))
    return transfer.pointwise(a, b, divisor=min(a.divisor, b.divisor))


def _and(at: AxisFacts, op: integer.AndIOp) -> Axes:
    """See `masked` and `conjoined`."""
    lhs, rhs = op.operands
    pattern = uniform_pattern(rhs)
    if pattern is None:
        lhs, rhs, pattern = rhs, lhs, uniform_pattern(lhs)
    a, b = at.of(lhs), at.of(rhs)
    if pattern is None:
        return transfer.conjoined(a, b)
    return transfer.masked(a, b, pattern, integer_width(op.result))


def _or(at: AxisFacts, op: integer.OrIOp | integer.XOrIOp) -> Axes:
    """See `disjoined`."""
    return transfer.disjoined(
        at.of(op.operands[0]), at.of(op.operands[1]), integer_width(op.result)
    )


def _shl(at: AxisFacts, op: integer.ShLIOp) -> Axes:
    """Multiplication by a power of two; a shift by zero gives the operand."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    amount = uniform_pattern(op.rhs)
    if amount == 0:
        return a
    by = 0 if amount is None or amount >= integer_width(op.rhs) else amount
    return transfer.pointwise(a, b, divisor=min(a.divisor << by, MOST))


def _shr(at: AxisFacts, op: integer.ShRIOp) -> Axes:
    """See `shifted_right`."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    amount = uniform_pattern(op.rhs)
    if amount is None or amount >= integer_width(op.rhs):
        return transfer.pointwise(a, b)
    return transfer.shifted_right(a, b, amount, integer_width(op.result))


def _cmp(at: AxisFacts, op: integer.CmpIOp) -> Axes:
    """See `compared`."""
    lhs, rhs = op.operands
    return transfer.compared(at.of(lhs), at.of(rhs), op.predicate, integer_width(lhs))


def _common(at: AxisFacts, op: Operation) -> Axes:
    """A common divisor of the operands divides the selected or negated one."""
    facts = [at.of(operand) for operand in op.operands]
    return transfer.pointwise(*facts, divisor=min([each.divisor for each in facts]))


def _ext(at: AxisFacts, op: conversion.ExtIOp) -> Axes:
    """See `extended`."""
    return widened(at, op.source, op.signedness is Signedness.SIGNED)


def _trunc(at: AxisFacts, op: conversion.TruncIOp) -> Axes:
    """Fewer bits: runs are runs, modulo less."""
    return at.of(op.source)


def widened(at: AxisFacts, value: Value, is_signed: bool) -> Axes:
    """Integers in more bits."""
    a, width = at.of(value), integer_width(value)
    # Unsigned numbers have no sign that changes half way.
    reach = width if is_signed else width + 1
    if all(transfer.aligned(a, dim, reach) == run.contiguity for dim, run in enumerate(a.dims)):
        return a
    low, high = at.ranges.of(value).within(is_signed)
    ends = -(1 << (width - 1)) if is_signed else 0, mask(width - 1 if is_signed else width)
    # A run that wraps around has both ends of the type in it.
    return transfer.extended(a, reach, is_safe=low > ends[0] or high < ends[1])


INTEGER_RULES: Final[Mapping[type[Operation], Rule]] = {
    integer.AddIOp: _add,
    integer.SubIOp: _sub,
    integer.MulIOp: _mul,
    integer.DivIOp: _div,
    integer.RemIOp: _rem,
    integer.AndIOp: _and,
    integer.OrIOp: _or,
    integer.XOrIOp: _or,
    integer.ShLIOp: _shl,
    integer.ShRIOp: _shr,
    integer.CmpIOp: _cmp,
    integer.NegIOp: _common,
    integer.AbsIOp: _common,
    arith.MaxSIOp: _common,
    arith.MaxUIOp: _common,
    arith.MinSIOp: _common,
    arith.MinUIOp: _common,
    conversion.ExtIOp: _ext,
    conversion.TruncIOp: _trunc,
}
