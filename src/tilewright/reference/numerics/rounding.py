"""Rounding: which number of a float type a number in double precision becomes.

Results that double precision cannot hold come here rounded to odd: where something was cut off,
the last bit is set. With two bits or more to spare, rounding that once more gives what rounding
the exact result would have given, in every mode.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

import numpy as np

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.ir.attributes import Type
from tilewright.ir.types import F4E2M1FN, F8E8M0FNU, F16, F32, F64, FNV8E5M3FNU
from tilewright.reference.tile import Array, dtype, format_of
from tilewright.support.floats import FloatFormat, Kind, decode


def _away(x: Array) -> Array:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


TO_INTEGER: Final[dict[Rounding, Callable[[Array], Array]]] = {
    Rounding.NEAREST_EVEN: np.rint,
    Rounding.NEAREST_AWAY: _away,
    Rounding.ZERO: np.trunc,
    Rounding.NEGATIVE_INF: np.floor,
    Rounding.POSITIVE_INF: np.ceil,
}
"""The integer that a number becomes."""


def round_to(
    x: Array, element: Type, mode: Rounding = Rounding.NEAREST_EVEN, *, saturate: bool = False
) -> Array:
    """Numbers in double precision as numbers of a type.

    Beyond the largest number of the type is infinity; with `saturate`, or where the mode never
    makes a number larger, the largest number itself.
    """
    if element is F64:
        return x
    if mode is Rounding.NEAREST_EVEN and element in (F16, F32):  # NumPy rounds these once
        return x.astype(dtype(element))
    format = format_of(element)
    if not format.signed:
        x = np.abs(x)
    rounded = _to_precision(x, format, mode, format.min_exponent)
    largest = max_finite(element)
    limit = np.where((_shrinks(x, mode) & np.isfinite(x)) | saturate, largest, np.inf)
    rounded = np.where(np.abs(rounded) > largest, np.copysign(limit, x), rounded)
    return _encode(rounded, element)


def _to_precision(x: Array, format: FloatFormat, mode: Rounding, min_exponent: int) -> Array:
    """The nearest multiple of the last place that a number has in a format."""
    exponent = np.maximum(np.frexp(x)[1] - 1, min_exponent)
    place = exponent - format.mantissa_bits
    return np.ldexp(TO_INTEGER[mode](np.ldexp(x, -place)), place)


def _shrinks(x: Array, mode: Rounding) -> Array:
    """Whether a mode never makes a number larger in magnitude."""
    negative = np.signbit(x)
    if mode is Rounding.NEGATIVE_INF:
        return ~negative
    if mode is Rounding.POSITIVE_INF:
        return negative
    return np.full(x.shape, mode is Rounding.ZERO)


def _encode(x: Array, element: Type) -> Array:
    """Numbers of a type, infinities and NaN, as elements."""
    if element is FNV8E5M3FNU:
        patterns = np.searchsorted(values_of(FNV8E5M3FNU)[:-1], x)
        return np.where(np.isnan(x), 0xFF, patterns).astype(np.uint8)
    if element is F4E2M1FN:  # has no NaN, and takes the largest number for it
        x = np.where(np.isnan(x), max_finite(element), x)
    if element is F8E8M0FNU:  # has no zero, and takes the smallest number for it
        x = np.maximum(x, 2.0**-127)
    return x.astype(dtype(element))


@cache
def values_of(element: Type) -> Array:
    """What every pattern of a small type is worth, in double precision."""
    format = format_of(element)
    return np.array([_worth(pattern, format) for pattern in range(1 << format.width)])


def _worth(pattern: int, format: FloatFormat) -> float:
    exact = decode(pattern, format)
    if exact.kind is Kind.NAN:
        return float("nan")
    magnitude = float("inf") if exact.is_infinite else exact.significand * 2.0**exact.exponent
    return -magnitude if exact.negative else magnitude


@cache
def max_finite(element: Type) -> float:
    """The largest number of a type."""
    format = format_of(element)
    exact = decode(format.max_finite, format)
    return float(exact.significand) * 2.0**exact.exponent


def widen(array: Array, element: Type) -> Array:
    """Elements as numbers in double precision, which holds those of every type."""
    if element is FNV8E5M3FNU:
        return values_of(element)[array]
    return array.astype(np.float64)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """A sum, and what its rounding left out; that is exact (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def to_odd(x: Array, rest: Array) -> Array:
    """`x + rest`, which is nearer to `x` than to any other number, rounded to odd."""
    inexact = (rest != 0) & np.isfinite(x) & np.isfinite(rest)
    even = (x.view(np.int64) & 1) == 0
    toward = np.nextafter(x, np.where(rest > 0, np.inf, -np.inf))
    return np.where(inexact & even, toward, x)


def flush(array: Array) -> Array:
    """Subnormal numbers of single precision as zeros of their sign."""
    tiny = np.abs(array) < np.float32(2.0**-126)
    return np.where(tiny, np.copysign(np.float32(0), array), array)


def round_and_flush(x: Array, mode: Rounding) -> Array:
    """Numbers in double precision as single precision, where subnormal results become zero.

    What counts is the result that rounding gives if exponents have no end, as on the hardware.
    """
    unbounded = _to_precision(x, format_of(F32), mode, -2000)
    tiny = np.abs(unbounded) < 2.0**-126
    zero = np.copysign(np.float32(0), x).astype(np.float32)
    return np.where(tiny, zero, round_to(x, F32, mode))
