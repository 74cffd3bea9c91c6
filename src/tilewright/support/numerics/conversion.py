"""Conversions between element types; None is an undefined result."""

from __future__ import annotations

from tilewright.support.bits import mask, sign_bit, sign_extend, to_unsigned
from tilewright.support.floats import (
    F8E8M0FNU,
    FNV8E5M3FNU,
    Exact,
    FloatFormat,
    Kind,
    Rounding,
    decode,
    encode,
    round_shift,
)
from tilewright.support.numerics.integer import fits, number


def extend(a: int, width: int, to_width: int, *, signed: bool) -> int:
    """`exti`: the same number in more bits."""
    return sign_extend(a, width, to_width) if signed else a


def truncate(a: int, to_width: int) -> int:
    """`trunci`: the low bits."""
    return to_unsigned(a, to_width)


def truncate_overflows(a: int, width: int, to_width: int, *, signed: bool) -> bool:
    """Whether `trunci` changes the number."""
    return not fits(number(a, width, signed=signed), to_width, signed=signed)


def bitcast(a: int, width: int, to_width: int) -> int:
    """`bitcast`: the same pattern, read as another type of the same width."""
    if width != to_width:
        raise ValueError(f"expected a bitcast between equal widths, got {width} and {to_width}")
    return a


def int_to_float(a: int, width: int, target: FloatFormat, *, signed: bool) -> int | None:
    """`itof`: the nearest float, ties to even; overflow is handled as in `ftof`."""
    exact = number(a, width, signed=signed)
    return _to_format(Exact(exact < 0, abs(exact), 0), target, Rounding.NEAREST_EVEN)


def float_to_int(
    a: int, source: FloatFormat, to_width: int, *, signed: bool, saturating: bool = False
) -> int | None:
    """`ftoi`: the integer part.

    Overflow and NaN are undefined; with saturation, overflow gives the nearest representable
    integer and NaN zero.
    """
    value = decode(a, source)
    if value.is_nan:
        return 0 if saturating else None
    if value.kind is Kind.FINITE:
        whole = round_shift(value.significand, -value.exponent, value.negative, Rounding.ZERO)
        exact = -whole if value.negative else whole
        if fits(exact, to_width, signed=signed):
            return to_unsigned(exact, to_width)
    if not saturating:
        return None
    if value.negative:
        return sign_bit(to_width) if signed else 0
    return mask(to_width) >> signed


def float_to_bool(a: int, source: FloatFormat) -> int:
    """`ftoi` to i1, if not saturating: whether the float is other than zero, as NaN is."""
    return int(not decode(a, source).is_zero)


def float_to_float(
    a: int, source: FloatFormat, target: FloatFormat, rounding: Rounding = Rounding.NEAREST_EVEN
) -> int | None:
    """`ftof`: the same number, rounded.

    Formats wider than eight bits overflow as in IEEE 754. The others saturate: overflow,
    including infinity, gives the largest number of its sign.
    """
    return _to_format(decode(a, source), target, rounding)


def _to_format(value: Exact, target: FloatFormat, rounding: Rounding) -> int | None:
    # PTX drops the sign in conversions to f8E8M0FNU; for fnv8E5M3FNU this is unspecified.
    if target is FNV8E5M3FNU and value.negative and not value.is_zero:
        return None
    if target is F8E8M0FNU:
        value = Exact(False, value.significand, value.exponent, value.kind)
    return encode(value, target, rounding, saturate=saturates(target))


def saturates(target: FloatFormat) -> bool:
    """Whether a conversion clips to the largest finite number."""
    return target.width <= 8
