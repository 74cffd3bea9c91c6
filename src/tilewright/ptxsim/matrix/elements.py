"""The types of matrix elements: decoding of bits in registers or shared memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from tilewright.ptxsim.scalar_types import UNSIGNED, Array


@dataclass(frozen=True, slots=True)
class Element:
    """A type of matrix elements.

    `least_exponent` is the exponent of the smallest normal number, which the hardware also uses for
    subnormal numbers when it aligns terms.
    """

    name: str
    bits: int
    kind: str
    least_exponent: int = 0

    @property
    def is_float(self) -> bool:
        """Whether elements are floating-point numbers."""
        return self.kind == "f"

    def unpack(self, words: Array) -> Array:
        """Unpack bit patterns from words, lowest first, along the last axis."""
        if self.bits >= 8:
            return words.view(UNSIGNED[self.bits])
        octets = words.view(np.uint8)
        shifts = np.arange(0, 8, self.bits, dtype=np.uint8)
        parts = (octets[..., None] >> shifts) & np.uint8((1 << self.bits) - 1)
        return parts.reshape(*octets.shape[:-1], -1)

    def decode(self, patterns: Array) -> Array:
        """Decode bit patterns to float64, which represents all of them exactly."""
        if self.name == "f64":
            return patterns.view(np.float64)
        if self.name == "f32":
            return patterns.view(np.float32).astype(np.float64)
        if self.name == "f16":
            return patterns.view(np.float16).astype(np.float64)
        if self.name == "bf16":
            wide = patterns.astype(np.uint32) << np.uint32(16)
            return wide.view(np.float32).astype(np.float64)
        if self.name == "tf32":
            # The low bits of the register are not part of the number.
            kept = patterns & np.uint32(0xFFFFE000)
            return kept.view(np.float32).astype(np.float64)
        if self.name == "s32":
            return patterns.view(np.int32).astype(np.float64)
        return _small_values(self.name)[patterns]


ELEMENTS: Final = {
    element.name: element
    for element in (
        Element("f64", 64, "f", -1022),
        Element("f32", 32, "f", -126),
        Element("tf32", 32, "f", -126),
        Element("f16", 16, "f", -14),
        Element("bf16", 16, "f", -126),
        Element("e4m3", 8, "f", -6),
        Element("e5m2", 8, "f", -14),
        Element("s32", 32, "s"),
        Element("s8", 8, "s"),
        Element("u8", 8, "u"),
        Element("s4", 4, "s"),
        Element("u4", 4, "u"),
        Element("b1", 1, "b"),
    )
}


@cache
def _small_values(name: str) -> Array:
    """The values of all patterns of a type of at most eight bits."""
    element = ELEMENTS[name]
    patterns = np.arange(1 << element.bits, dtype=np.int64)
    if element.is_float:
        return _float8_values(patterns, mantissa=3 if name == "e4m3" else 2)
    if element.kind == "s":
        half = 1 << (element.bits - 1)
        patterns = (patterns ^ half) - half
    return patterns.astype(np.float64)


def _float8_values(patterns: Array, mantissa: int) -> Array:
    """e4m3 has no infinities and one NaN; e5m2 is the upper half of f16."""
    if mantissa == 2:
        as_f16 = (patterns.astype(np.uint16) << np.uint16(8)).view(np.float16)
        with np.errstate(invalid="ignore"):
            return as_f16.astype(np.float64)
    exponent, fraction = (patterns >> 3) & 15, patterns & 7
    normal = np.ldexp(1 + fraction / 8, exponent - 7)
    values = np.where(exponent == 0, np.ldexp(fraction / 8, -6), normal)
    values = np.where(patterns & 0x80 != 0, -values, values)
    return np.where((patterns & 0x7F) == 0x7F, np.nan, values)
