"""Rounding of numbers in f64 to a float type.

Results that are inexact in f64 must be rounded to odd: the last bit is set if bits were lost. With
at least two extra bits, rounding them again yields the correctly rounded result in every mode.
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
"""Rounding to an integer by mode."""


def round_to(
    x: Array, element: Type, mode: Rounding = Rounding.NEAREST_EVEN, *, saturate: bool = False
) -> Array:
    """Round f64 numbers to a type.

    Overflow yields infinity, or the largest finite number with `saturate` or in a
    mode that rounds toward zero there.
    """
    if element is F64:
        return x
    if mode is Rounding.NEAREST_EVEN and element in (F16, F32):  # correctly rounded by NumPy
        return x.astype(dtype(element))
    format = format_of(element)
    if not format.signed:
        x = np.abs(x)
    rounded = _to_precision(x, format, mode, format.min_exponent)
    largest = max_finite(element)
    limit = np.where((shrinks(x, mode) & np.isfinite(x)) | saturate, largest, np.inf)
    rounded = np.where(np.abs(rounded) > largest, np.copysign(limit, x), rounded)
    return _encode(rounded, element)


def _to_precision(x: Array, format: FloatFormat, mode: Rounding, min_exponent: int) -> Array:
    """Round to a multiple of the ulp that a number has in a format."""
    exponent = np.maximum(np.frexp(x)[1] - 1, min_exponent)
    ulp_exponent = exponent - format.mantissa_bits
    return np.ldexp(TO_INTEGER[mode](np.ldexp(x, -ulp_exponent)), ulp_exponent)


def shrinks(x: Array, mode: Rounding) -> Array:
    """Whether a mode never increases the magnitude."""
    negative = np.signbit(x)
    if mode is Rounding.NEGATIVE_INF:
        return ~negative
    if mode is Rounding.POSITIVE_INF:
        return negative
    return np.full(x.shape, mode is Rounding.ZERO)


def _encode(x: Array, element: Type) -> Array:
    """Encode numbers of a type, infinities and NaN as elements."""
    if element is FNV8E5M3FNU:
        patterns = np.searchsorted(values_of(FNV8E5M3FNU)[:-1], x)
        return np.where(np.isnan(x), 0xFF, patterns).astype(np.uint8)
    if element is F4E2M1FN:  # has no NaN: encoded as the largest number
        x = np.where(np.isnan(x), max_finite(element), x)
    if element is F8E8M0FNU:  # has no zero: encoded as the smallest number
        x = np.maximum(x, 2.0**-127)
    return x.astype(dtype(element))


@cache
def values_of(element: Type) -> Array:
    """The values of all bit patterns of a small type, in f64."""
    format = format_of(element)
    return np.array([_value(pattern, format) for pattern in range(1 << format.width)])


def _value(pattern: int, format: FloatFormat) -> float:
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
    """Convert elements to f64, which represents every type exactly."""
    if element is FNV8E5M3FNU:
        return values_of(element)[array]
    return array.astype(np.float64)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """A sum and its rounding error, which is exact (Knuth)."""
    rounded = a + b
    part = rounded - a
    return rounded, (a - (rounded - part)) + (b - part)


def to_odd(x: Array, rest: Array) -> Array:
    """Round `x + rest` to odd, where `x` is the nearest f64."""
    inexact = (rest != 0) & np.isfinite(x) & np.isfinite(rest)
    even = (x.view(np.int64) & 1) == 0
    toward = np.nextafter(x, np.where(rest > 0, np.inf, -np.inf))
    return np.where(inexact & even, toward, x)


def flush(array: Array) -> Array:
    """Flush subnormal f32 numbers to zeros of their sign."""
    tiny = np.abs(array) < np.float32(2.0**-126)
    return np.where(tiny, np.copysign(np.float32(0), array), array)


def round_and_flush(x: Array, mode: Rounding) -> Array:
    """Round f64 to f32, with subnormal results flushed to zero.

    A result is subnormal if it is after rounding with an unbounded exponent, as on the hardware.
    """
    unbounded = _to_precision(x, format_of(F32), mode, -2000)
    tiny = np.abs(unbounded) < 2.0**-126
    zero = np.copysign(np.float32(0), x).astype(np.float32)
    return np.where(tiny, zero, round_to(x, F32, mode))
