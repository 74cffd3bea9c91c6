"""Element types as the generator sees them: their ranges, and the targets that support them."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

from tilewright.support.floats import FORMATS


class Element(NamedTuple):
    """An element type."""

    name: str
    bits: int
    precision: int
    """The number of bits of the largest exact integers; 0 for integer types."""
    largest: float
    smallest: float
    """The smallest positive normal number."""
    is_signed: bool = True

    @property
    def is_float(self) -> bool:
        """Whether it is a float type."""
        return self.precision > 0

    @property
    def low(self) -> int:
        """The least integer, read as signed."""
        return -(1 << (self.bits - 1))

    @property
    def high(self) -> int:
        """The greatest integer, read as signed."""
        return (1 << (self.bits - 1)) - 1

    @property
    def storage(self) -> int:
        """The number of bits in memory, and in `pack`."""
        return 32 if self.name == "tf32" else self.bits


def _float(name: str) -> Element:
    format = FORMATS[name]
    fraction = format.max_finite & ((1 << format.mantissa_bits) - 1)
    largest = Fraction(2) ** format.max_exponent * (
        1 + Fraction(fraction, 1 << format.mantissa_bits)
    )
    smallest = 2.0**format.min_exponent
    return Element(name, format.width, format.precision, float(largest), smallest, format.signed)


FLOATS: Final = (
    "f16", "bf16", "f32", "f64", "tf32", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN",
    "fnv8E5M3FNU",
)  # fmt: skip
ELEMENTS: Final = {
    **{f"i{bits}": Element(f"i{bits}", bits, 0, 0.0, 0.0) for bits in (1, 4, 8, 16, 32, 64)},
    **{name: _float(name) for name in FLOATS},
}

INTEGERS: Final = ("i1", "i8", "i16", "i32", "i64")
BASE_FLOATS: Final = ("f16", "bf16", "f32", "f64")
SCALARS: Final = (*INTEGERS, *BASE_FLOATS)
"""The types of scalar kernel parameters."""

PROFILES: Final = {
    "sm_80": frozenset((*INTEGERS, "i4", *BASE_FLOATS, "tf32")),
    "sm_90": frozenset((*INTEGERS, "i4", *BASE_FLOATS, "tf32", "f8E4M3FN", "f8E5M2")),
    "all": frozenset(ELEMENTS),
}
"""The types that a target supports."""

SMALL: Final = 4
"""Integers up to this are exact in every signed type."""
