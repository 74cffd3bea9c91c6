"""Floats of four to eight bits: decoding, and encoding with rounding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from tilewright.ptxsim.scalar_types import Array


@dataclass(frozen=True, slots=True)
class MiniFloat:
    """A floating-point format of at most 8 bits, saturating instead of infinite.

    `nan` is the encoding of NaN; larger numbers saturate to `largest`.
    """

    name: str
    bits: int
    mantissa: int
    bias: int
    largest: float
    nan: int

    def decode(self, patterns: Array) -> Array:
        """Decode patterns to float64."""
        return _values(self)[patterns & np.uint8((1 << self.bits) - 1)]

    def encode(self, numbers: Array) -> Array:
        """Encode float64 numbers, rounded to nearest even."""
        size = np.minimum(abs(numbers), self.largest)
        least = 1 - self.bias
        exponent = np.where(size == 0, least, np.maximum(np.frexp(size)[1] - 1, least))
        steps = np.rint(np.ldexp(size, self.mantissa - exponent)).astype(np.int64)
        # A mantissa that rounding made too large carries into the exponent.
        scale = (exponent + self.bias - 1) << self.mantissa
        pattern = np.minimum(scale + steps, self._largest_pattern)
        pattern |= np.signbit(numbers).astype(np.int64) << (self.bits - 1)
        return np.where(np.isnan(numbers), self.nan, pattern).astype(np.uint8)

    @property
    def _largest_pattern(self) -> int:
        fraction, exponent = np.frexp(self.largest)
        field = (int(exponent) - 1 + self.bias) << self.mantissa
        return field + int((2 * fraction - 1) * (1 << self.mantissa))


@cache
def _values(format: MiniFloat) -> Array:
    patterns = np.arange(1 << format.bits)
    magnitude = patterns & ((1 << (format.bits - 1)) - 1)
    exponent, fraction = magnitude >> format.mantissa, magnitude & ((1 << format.mantissa) - 1)
    steps = np.where(exponent > 0, fraction + (1 << format.mantissa), fraction)
    values = np.ldexp(
        steps.astype(np.float64), np.maximum(exponent, 1) - format.bias - format.mantissa
    )
    if format.name == "e4m3":
        values[magnitude == 0x7F] = np.nan
    if format.name == "e5m2":
        values[magnitude == 0x7C] = np.inf
        values[magnitude > 0x7C] = np.nan
    return np.where(patterns != magnitude, -values, values)


class Scale:
    """`ue8m0`: powers of two without a sign."""

    name: Final = "ue8m0"
    bits: Final = 8

    def decode(self, patterns: Array) -> Array:
        """Decode patterns to float64."""
        values = np.ldexp(1.0, patterns.astype(np.int64) - 127)
        return np.where(patterns == 0xFF, np.nan, values)

    def encode(self, numbers: Array, mode: str) -> Array:
        """Encode the magnitude of float64 numbers, rounded to zero or up."""
        fraction, exponent = np.frexp(abs(numbers))
        up = (mode == "rp") & (fraction > 0.5)
        code = np.clip(exponent - 1 + 127 + up, 0, 254)
        return np.where(np.isnan(numbers), 0xFF, np.where(numbers == 0, 0, code)).astype(np.uint8)


MINI_FLOATS: Final = {
    format.name: format
    for format in (
        MiniFloat("e4m3", 8, 3, 7, 448.0, 0x7F),
        MiniFloat("e5m2", 8, 2, 15, 57344.0, 0x7F),
        MiniFloat("e2m3", 6, 3, 1, 7.5, 0x1F),
        MiniFloat("e3m2", 6, 2, 3, 28.0, 0x1F),
        MiniFloat("e2m1", 4, 1, 1, 6.0, 0x7),
    )
}
