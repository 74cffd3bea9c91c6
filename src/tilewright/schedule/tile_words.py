"""The registers that tiles take, in 32-bit words over all threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.ir.types import FloatType, IntegerType, TensorType, memory_bits
from tilewright.target.arch import MAX_ACCESS_BYTES

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation

POINTER_BITS: Final = 64
REGISTER_BITS: Final = 32
LEAST_BITS: Final = 16
"""Arithmetic on narrower elements takes as many registers as on this width."""


def tile_words(tile: Type) -> int:
    """The 32-bit registers that a tile takes, over all threads."""
    element = element_of(tile)
    bits = memory_bits(element) if isinstance(element, IntegerType | FloatType) else POINTER_BITS
    return count(tile) * max(bits, LEAST_BITS) // REGISTER_BITS


def accumulator_words(tile: Type) -> int:
    """The 32-bit registers that accumulators take, over all threads, if none has fewer bits.

    They measure the work of a block: to copy the operands of a dot and to multiply them takes as
    long with 16-bit accumulators as with others.
    """
    return max(tile_words(tile), count(tile))


def result_words(op: Operation) -> int:
    """The 32-bit registers that the tiles among an operation's results take, over all threads."""
    return sum([tile_words(r.type) for r in op.results if isinstance(r.type, TensorType)])


def address_words(bytes: int) -> int:
    """The 32-bit registers of the addresses of copies of these bytes, over all threads."""
    return bytes // MAX_ACCESS_BYTES * (POINTER_BITS // REGISTER_BITS)
