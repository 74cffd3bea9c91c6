"""How many registers tiles take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.ir.types import FloatType, IntegerType, TensorType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation

POINTER_BITS: Final = 64
REGISTER_BITS: Final = 32
LEAST_BITS: Final = 16
"""Arithmetic on smaller elements takes registers as for these."""


def tile_words(tile: Type) -> int:
    """How many registers of 32 bits a tile takes, of all threads together."""
    element = element_of(tile)
    bits = element.width if isinstance(element, IntegerType | FloatType) else POINTER_BITS
    return count(tile) * max(bits, LEAST_BITS) // REGISTER_BITS


def result_words(op: Operation) -> int:
    """How many registers the tiles take that an operation gives."""
    return sum([tile_words(r.type) for r in op.results if isinstance(r.type, TensorType)])
