"""How many registers tiles take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.ir.types import FloatType, IntegerType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type

POINTER_BITS: Final = 64
REGISTER_BITS: Final = 32
LEAST_BITS: Final = 16
"""Arithmetic on smaller elements takes registers as for these."""


def tile_words(tile: Type) -> int:
    """How many registers of 32 bits a tile takes, of all threads together."""
    element = element_of(tile)
    bits = element.width if isinstance(element, IntegerType | FloatType) else POINTER_BITS
    return count(tile) * max(bits, LEAST_BITS) // REGISTER_BITS
