"""`a * b + c` of f64 arrays, rounded once in every mode, without a wider type.

The operands are scaled to significands in [1/2, 1), so that nothing overflows or underflows before
the last step. There the exact sum is `rounded + rest`, where `rounded` is the nearest f64 and the
sign of `rest` and its ties are those of the exact rest: the errors of multiplications and additions
are exact (Dekker, Knuth), and the smallest parts are added with rounding to odd (Boldo and
Melquiond).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.reference.numerics.rounding import TO_INTEGER, shrinks, to_odd, two_sum
from tilewright.reference.tile import Array

FARTHEST: Final = 200
"""The largest distance of the exponents of the product and the addend that matters: the product
has 106 bits, and a rounding looks at one bit after 53."""
SPLITTER: Final = 2.0**27 + 1
SMALLEST: Final = -1074
"""The exponent of the smallest number."""
SMALLEST_NORMAL: Final = -1022


def multiply_add(a: Array, b: Array, c: Array, mode: Rounding) -> Array:
    """`a * b + c`, rounded once."""
    a, b, c = np.broadcast_arrays(a, b, c)
    product = a * b  # of zeros, infinities and NaNs only
    finite = np.isfinite(a) & np.isfinite(b)
    ordinary = finite & np.isfinite(c) & (a != 0) & (b != 0)
    if ordinary.all():
        return _of_ordinary(a, b, c, mode)
    simple = np.where(finite & (c != 0), c, product + c)
    if mode is Rounding.NEGATIVE_INF:  # zeros of opposite signs add to -0
        opposite = np.signbit(product) != np.signbit(c)
        simple = np.where((simple == 0) & opposite, -0.0, simple)
    simple = np.where(np.isnan(simple), np.nan, simple)
    a, b, c = (np.where(ordinary, operand, 1.0) for operand in (a, b, c))
    result = _of_ordinary(a, b, c, mode)
    return np.where(ordinary, result, simple)


def _of_ordinary(a: Array, b: Array, c: Array, mode: Rounding) -> Array:
    """`a * b + c` of finite numbers; `a` and `b` are not zero."""
    (a, a_exponent), (b, b_exponent), (c, c_exponent) = map(np.frexp, (a, b, c))
    exponent = a_exponent + b_exponent
    distance = np.clip(c_exponent - exponent, -FARTHEST, FARTHEST)
    # The product is in units of the common scale, which follows an addend that is far above it.
    exponent = np.where(c == 0, exponent, np.maximum(exponent, c_exponent - FARTHEST))
    rounded, rest = _sum(*_two_product(a, b), np.ldexp(c, distance))
    result = _scaled(_rounded(rounded, rest, mode), exponent, mode)
    tiny = np.frexp(rounded)[1] + exponent <= SMALLEST_NORMAL + 1
    if tiny.any():
        small = _small(rounded[tiny], rest[tiny], exponent[tiny], mode)
        result[tiny] = small
    if mode is Rounding.NEGATIVE_INF:  # opposite numbers cancel to -0
        return np.where(rounded == 0, -0.0, result)
    return result


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """A product and its rounding error, which is exact (Dekker)."""
    rounded = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    error = ((a_high * b_high - rounded) + a_high * b_low + a_low * b_high) + a_low * b_low
    return rounded, error


def _split(x: Array) -> tuple[Array, Array]:
    """Two numbers of at most 26 bits with the sum `x` (Veltkamp)."""
    scaled = SPLITTER * x
    high = scaled - (scaled - x)
    return high, x - high


def _sum(high: Array, low: Array, c: Array) -> tuple[Array, Array]:
    """`high + low + c`, as the nearest number and a rest with the sign and ties of the exact one.

    `high` and `low` are a product and its rounding error.
    """
    partial, lowest = two_sum(c, low)
    larger, middle = two_sum(high, partial)
    return two_sum(larger, to_odd(*two_sum(lowest, middle)))


def _rounded(rounded: Array, rest: Array, mode: Rounding) -> Array:
    """Round `rounded + rest`, where `rounded` is the nearest number."""
    if mode is Rounding.NEAREST_EVEN:
        return rounded
    if mode is Rounding.POSITIVE_INF:
        return np.where(rest > 0, np.nextafter(rounded, np.inf), rounded)
    if mode is Rounding.NEGATIVE_INF:
        return np.where(rest < 0, np.nextafter(rounded, -np.inf), rounded)
    return np.where(rest * np.sign(rounded) < 0, np.nextafter(rounded, 0), rounded)


def _scaled(x: Array, exponent: Array, mode: Rounding) -> Array:
    """Multiply by a power of two: exact, unless the result overflows or is subnormal."""
    result = np.ldexp(x, exponent)
    infinite = np.isinf(result)
    if mode is Rounding.NEAREST_EVEN or not infinite.any():
        return result
    largest = np.copysign(np.finfo(np.float64).max, x)
    return np.where(infinite & shrinks(x, mode), largest, result)


def _small(rounded: Array, rest: Array, exponent: Array, mode: Rounding) -> Array:
    """Round `rounded + rest`, scaled, to a multiple of the smallest number."""
    x = np.ldexp(rounded, exponent - SMALLEST)
    # A number below 1/4 rounds as 1/4 does.
    x = np.where((np.abs(x) < 0.25) & (rounded != 0), np.copysign(0.25, rounded), x)
    whole = TO_INTEGER[mode](x)
    if mode is Rounding.NEAREST_EVEN:
        is_tie = np.abs(x - np.trunc(x)) == 0.5
        nearest = np.where(rest > 0, np.ceil(x), np.floor(x))
        whole = np.where(is_tie & (rest != 0), nearest, whole)
    else:
        whole = _rounded_integer(whole, x, rest, mode)
    return np.copysign(np.ldexp(whole, SMALLEST), rounded)


def _rounded_integer(whole: Array, x: Array, rest: Array, mode: Rounding) -> Array:
    """Correct `whole`, to which `x` was rounded in a directed mode, for `x + rest`."""
    step = np.sign(rest)
    wanted = {
        Rounding.POSITIVE_INF: step > 0,
        Rounding.NEGATIVE_INF: step < 0,
        Rounding.ZERO: step * np.sign(x) < 0,
    }[mode]
    return np.where((whole == x) & wanted, whole + step, whole)
