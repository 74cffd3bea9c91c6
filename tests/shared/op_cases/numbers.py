"""The values of elements and the rounding of numbers to them, by the tables of NumPy.

This is the judge: it uses neither `support.numerics` nor `reference.numerics`. Every element is a
number of double precision; exact results are fractions; rounding looks up neighbours.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.ir.attributes import Type
from tilewright.ir.types import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    FNV8E5M3FNU,
    TF32,
    FloatType,
    IntegerType,
)
from tilewright.reference.tile import Array, from_patterns

Exact = Fraction | float
"""A finite number as a fraction, or an infinity or NaN."""

NUMPY: dict[Type, Any] = {
    F16: np.float16,
    BF16: ml_dtypes.bfloat16,
    F32: np.float32,
    F64: np.float64,
    F8E4M3FN: ml_dtypes.float8_e4m3fn,
    F8E5M2: ml_dtypes.float8_e5m2,
    F8E8M0FNU: ml_dtypes.float8_e8m0fnu,
    F4E2M1FN: ml_dtypes.float4_e2m1fn,
}


def worth(patterns: Array, element: Type) -> Array:
    """What patterns of a float type are worth, in double precision."""
    with np.errstate(all="ignore"):
        if element is TF32:
            bits = patterns.astype(np.uint32) << np.uint32(13)
            return bits.view(np.float32).astype(np.float64)
        if element is FNV8E5M3FNU:
            return np.array([_worth_of_e5m3(int(pattern)) for pattern in patterns])
        return patterns.view(NUMPY[element]).astype(np.float64)


def _worth_of_e5m3(pattern: int) -> float:
    """Five bits of exponent, three of fraction, no sign, and a single NaN."""
    exponent, fraction = divmod(pattern, 8)
    if pattern == 0xFF:
        return math.nan
    return fraction * 2.0**-17 if exponent == 0 else (8 + fraction) * 2.0 ** (exponent - 18)


def integers(patterns: Array, element: IntegerType, *, signed: bool) -> list[int]:
    """What patterns of an integer type stand for."""
    half = 1 << (element.width - 1)
    numbers: list[int] = patterns.tolist()
    return [n - 2 * half if signed and n >= half else n for n in numbers]


def from_integers(numbers: Sequence[int], element: IntegerType) -> Array:
    """The elements that hold numbers, modulo what the type can."""
    size = np.dtype(f"u{max(element.width // 8, 1)}")
    patterns = np.array([n % (1 << element.width) for n in numbers], size)
    return from_patterns(patterns, element)


class Ruler:
    """The numbers of a float type that are not negative, in order."""

    def __init__(self, element: FloatType) -> None:
        self.element = element
        self.signed = element not in (F8E8M0FNU, FNV8E5M3FNU)
        self.width = element.width
        self.table: list[float] = []
        if self.width <= 19:
            count = 1 << (self.width - self.signed)
            kind = np.uint8 if self.width <= 8 else np.uint16 if self.width <= 16 else np.uint32
            numbers = worth(np.arange(count).astype(kind), element)
            self.table = numbers[np.isfinite(numbers)].tolist()
            self.last = len(self.table) - 1
        else:
            bits = {32: 23, 64: 52}[self.width]
            self.last = (1 << (self.width - 1)) - (1 << bits) - 1

    def at(self, magnitude: int) -> Fraction:
        """The number of a pattern without sign; after the last one, the next in sequence."""
        if magnitude > self.last:
            return 2 * self.at(self.last) - self.at(self.last - 1)
        if self.table:
            return Fraction(self.table[magnitude])
        return Fraction(float(np.array(magnitude, f"u{self.width // 8}").view(NUMPY[self.element])))

    def floor(self, x: Fraction) -> int:
        """The last pattern that is not above a number."""
        if self.table:
            return bisect_right(self.table, x) - 1
        largest = self.at(self.last)
        guess = np.array(float(min(x, largest)), NUMPY[self.element])
        magnitude = int(guess.view(f"u{self.width // 8}"))
        if self.at(magnitude) > x:
            return magnitude - 1
        return magnitude

    def round(self, x: Fraction, mode: Rounding, *, negative: bool) -> int:
        """The pattern without sign that the magnitude of a number rounds to."""
        below = self.floor(x)
        if below < 0:  # a type without zero
            return 0
        low, high = self.at(below), self.at(below + 1)
        if x == low or below > self.last:
            return min(below, self.last + 1)
        match mode:
            case Rounding.ZERO:
                up = False
            case Rounding.NEGATIVE_INF | Rounding.POSITIVE_INF:
                up = (mode is Rounding.NEGATIVE_INF) == negative
            case Rounding.NEAREST_AWAY:
                up = x - low >= high - x
            case _:
                up = x - low > high - x or (x - low == high - x and below % 2 == 1)
        return below + up


@cache
def ruler(element: FloatType) -> Ruler:
    """The numbers of a type."""
    return Ruler(element)


def rounded(
    x: Exact,
    element: FloatType,
    mode: Rounding = Rounding.NEAREST_EVEN,
    *,
    negative_zero: bool = False,
    saturate: bool = False,
) -> int:
    """The pattern that a number rounds to; NaN is any that the type has."""
    rule = ruler(element)
    if isinstance(x, float) and math.isnan(x):
        return _nan(element)
    negative = x < 0 or (x == 0 and negative_zero)
    sign = 1 << (element.width - 1) if negative and rule.signed else 0
    if isinstance(x, float):
        return sign | (rule.last if saturate else rule.last + 1)
    magnitude = rule.round(Fraction(abs(x)), mode, negative=negative)
    if magnitude <= rule.last:
        return sign | magnitude
    shrinks = mode is Rounding.ZERO or (
        mode in (Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF)
        and (mode is Rounding.POSITIVE_INF) == negative
    )
    return sign | (rule.last if saturate or shrinks else rule.last + 1)


def _nan(element: FloatType) -> int:
    if element is F4E2M1FN:  # which has none: the largest number, as PTX converts
        return 7
    last = ruler(element).last
    return last + 1 if element in (F8E4M3FN, F8E8M0FNU, FNV8E5M3FNU) else last + 2


def elements(patterns: Sequence[int], element: Type) -> Array:
    """Elements out of patterns."""
    width = element.width if isinstance(element, FloatType | IntegerType) else 64
    size = next(bits for bits in (8, 16, 32, 64) if width <= bits)
    return from_patterns(np.array(patterns, f"u{size // 8}"), element)
