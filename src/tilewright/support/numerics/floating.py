"""Tile IR float operations on bit patterns.

Every operation is correctly rounded: it computes the exact result first. NaN results are the
canonical pattern. `flush` is `flush_to_zero`: subnormal
operands and results become zeros of the same sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from tilewright.support.floats import (
    NAN,
    Exact,
    FloatFormat,
    Kind,
    Rounding,
    decode,
    encode,
    infinity,
    is_nan,
    is_subnormal,
    ratio,
    round_shift,
)


def add(
    a: int,
    b: int,
    format: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    *,
    flush: bool = False,
) -> int:
    """`a + b`."""
    x, y = _operand(a, format, flush), _operand(b, format, flush)
    return _result(_add(x, y, rounding), format, rounding, flush)


def subtract(
    a: int,
    b: int,
    format: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    *,
    flush: bool = False,
) -> int:
    """`a - b`."""
    return add(a, negate(b, format), format, rounding, flush=flush)


def multiply(
    a: int,
    b: int,
    format: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    *,
    flush: bool = False,
) -> int:
    """`a * b`."""
    x, y = _operand(a, format, flush), _operand(b, format, flush)
    return _result(_multiply(x, y), format, rounding, flush)


def fma(
    a: int,
    b: int,
    c: int,
    format: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    *,
    flush: bool = False,
) -> int:
    """`a * b + c`, rounded once."""
    x, y, z = (_operand(pattern, format, flush) for pattern in (a, b, c))
    return _result(_add(_multiply(x, y), z, rounding), format, rounding, flush)


def dot(
    a: Sequence[int], b: Sequence[int], c: int, operand_format: FloatFormat, format: FloatFormat
) -> int:
    """`a[0] * b[0] + a[1] * b[1] + ... + c`, rounded once, to the format of `c`."""
    accumulator = decode(c, format)
    for left, right in zip(a, b, strict=True):
        term = _multiply(decode(left, operand_format), decode(right, operand_format))
        accumulator = _add(accumulator, term, Rounding.NEAREST_EVEN)
    return encode(accumulator, format)


def divide(
    a: int,
    b: int,
    format: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    *,
    flush: bool = False,
) -> int:
    """`a / b`."""
    x, y = _operand(a, format, flush), _operand(b, format, flush)
    return _result(_divide(x, y, format.precision), format, rounding, flush)


def sqrt(
    a: int,
    format: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    *,
    flush: bool = False,
) -> int:
    """The square root; that of -0 is -0, that of a negative number NaN."""
    x = _operand(a, format, flush)
    return _result(_sqrt(x, format.precision), format, rounding, flush)


def remainder(a: int, b: int, format: FloatFormat) -> int:
    """C's `fmod`: `a - b * truncate(a / b)`, which is exact, with the sign of `a`."""
    x, y = decode(a, format), decode(b, format)
    if x.is_nan or y.is_nan or x.is_infinite or y.is_zero:
        return encode(NAN, format)
    if y.is_infinite:
        return a
    exponent = min(x.exponent, y.exponent)
    rest = _scaled(x, exponent) % _scaled(y, exponent)
    return encode(Exact(x.negative, rest, exponent), format)


def maximum(
    a: int, b: int, format: FloatFormat, *, propagate_nan: bool = False, flush: bool = False
) -> int:
    """The larger of two, where -0 < +0. A NaN loses against a number, or wins if it propagates."""
    return _extreme(a, b, format, propagate_nan, flush, larger=True)


def minimum(
    a: int, b: int, format: FloatFormat, *, propagate_nan: bool = False, flush: bool = False
) -> int:
    """The smaller of two, where -0 < +0. A NaN loses against a number, or wins if it propagates."""
    return _extreme(a, b, format, propagate_nan, flush, larger=False)


def absolute(a: int, format: FloatFormat) -> int:
    """`a` with its sign bit cleared, NaNs too."""
    return a & ~format.sign


def negate(a: int, format: FloatFormat) -> int:
    """`a` with its sign bit flipped, NaNs too."""
    return a ^ format.sign


def ceil(a: int, format: FloatFormat) -> int:
    """The smallest integer not below `a`; a zero keeps the sign of `a`."""
    return _integral(a, format, Rounding.POSITIVE_INF)


def floor(a: int, format: FloatFormat) -> int:
    """The largest integer not above `a`; a zero keeps the sign of `a`."""
    return _integral(a, format, Rounding.NEGATIVE_INF)


def flush_subnormal(pattern: int, format: FloatFormat) -> int:
    """Zero with the sign of the pattern if it is subnormal, else the pattern."""
    return pattern & format.sign if is_subnormal(pattern, format) else pattern


def _operand(pattern: int, format: FloatFormat, flush: bool) -> Exact:
    return decode(flush_subnormal(pattern, format) if flush else pattern, format)


def _result(value: Exact, format: FloatFormat, rounding: Rounding, flush: bool) -> int:
    if flush and _is_tiny(value, format, rounding):
        return format.signed_pattern(0, value.negative)
    return encode(value, format, rounding)


def _is_tiny(value: Exact, format: FloatFormat, rounding: Rounding) -> bool:
    """Whether a number would round to one below the smallest normal, at full precision.

    That is how the hardware decides what to flush (seen on sm_90): the rounding that counts has
    no smallest exponent, so some results are flushed that would round up to a normal number.
    """
    if value.kind is not Kind.FINITE:
        return False
    unit = value.exponent + value.significand.bit_length() - format.precision
    count = round_shift(value.significand, unit - value.exponent, value.negative, rounding)
    return unit + count.bit_length() - 1 < format.min_exponent


def _scaled(value: Exact, exponent: int) -> int:
    """The magnitude in units of `2**exponent`, which is no larger than the value's own unit."""
    return value.significand << (value.exponent - exponent)


def _signed(value: Exact, exponent: int) -> int:
    return -_scaled(value, exponent) if value.negative else _scaled(value, exponent)


def _add(x: Exact, y: Exact, rounding: Rounding) -> Exact:
    if x.is_nan or y.is_nan:
        return NAN
    if x.is_infinite and y.is_infinite:
        return x if x.negative == y.negative else NAN
    if x.is_infinite or y.is_infinite:
        return x if x.is_infinite else y
    exponent = min(x.exponent, y.exponent)
    result = _signed(x, exponent) + _signed(y, exponent)
    if result != 0:
        return Exact(result < 0, abs(result), exponent)
    # Zeros of one sign keep it. A zero out of unlike signs is +0, but -0 when rounding down.
    negative = x.negative if x.negative == y.negative else rounding is Rounding.NEGATIVE_INF
    return Exact(negative, 0, exponent)


def _multiply(x: Exact, y: Exact) -> Exact:
    if x.is_nan or y.is_nan:
        return NAN
    negative = x.negative != y.negative
    if x.is_infinite or y.is_infinite:
        return NAN if x.is_zero or y.is_zero else infinity(negative)
    return Exact(negative, x.significand * y.significand, x.exponent + y.exponent)


def _divide(x: Exact, y: Exact, precision: int) -> Exact:
    if x.is_nan or y.is_nan:
        return NAN
    if (x.is_zero and y.is_zero) or (x.is_infinite and y.is_infinite):
        return NAN
    negative = x.negative != y.negative
    if x.is_infinite or y.is_zero:
        return infinity(negative)
    if x.is_zero or y.is_infinite:
        return Exact(negative, 0, 0)
    quotient = ratio(negative, x.significand, y.significand, precision)
    return Exact(negative, quotient.significand, quotient.exponent + x.exponent - y.exponent)


def _sqrt(x: Exact, precision: int) -> Exact:
    if x.is_nan or x.is_zero:
        return x
    if x.negative:
        return NAN
    if x.is_infinite:
        return x
    # An even exponent, and twice the bits that the root needs: its precision and two more. What
    # the integer root leaves goes into a sticky bit, as in `ratio`.
    shift = max(2 * (precision + 2) - x.significand.bit_length(), 0)
    shift += (x.exponent - shift) & 1
    radicand = x.significand << shift
    root = isqrt(radicand)
    return Exact(False, root << 1 | (root * root != radicand), (x.exponent - shift) // 2 - 1)


def _extreme(
    a: int, b: int, format: FloatFormat, propagate_nan: bool, flush: bool, *, larger: bool
) -> int:
    if flush:
        a, b = flush_subnormal(a, format), flush_subnormal(b, format)
    a_is_nan, b_is_nan = is_nan(a, format), is_nan(b, format)
    if (a_is_nan and b_is_nan) or (propagate_nan and (a_is_nan or b_is_nan)):
        return encode(NAN, format)
    if a_is_nan or b_is_nan:
        return b if a_is_nan else a
    return a if (_rank(a, format) >= _rank(b, format)) == larger else b


def _rank(pattern: int, format: FloatFormat) -> int:
    """An integer that orders the numbers of a format as themselves, -0 just below +0."""
    magnitude = pattern & ~format.sign
    return ~magnitude if pattern & format.sign else magnitude


def _integral(a: int, format: FloatFormat, rounding: Rounding) -> int:
    x = decode(a, format)
    if x.is_nan:
        return encode(NAN, format)
    if x.is_infinite or x.exponent >= 0:
        return a
    whole = round_shift(x.significand, -x.exponent, x.negative, rounding)
    return encode(Exact(x.negative, whole, 0), format)
