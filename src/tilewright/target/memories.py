"""The memories of an SM: how much there is of each, and how it is allocated."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

KIB: Final = 1024
SECTOR: Final = 32
"""Bytes of the smallest transaction with global memory."""
LINE: Final = 128
"""Bytes of one word of every bank of shared memory."""


class Space(Enum):
    """Where an operand of an instruction is."""

    REGISTERS = "registers"
    SHARED = "shared memory"


class Memory(NamedTuple):
    """A memory of an SM, which its resident CTAs divide among themselves."""

    per_sm: int
    """In bytes."""
    per_cta: int
    """The most bytes of a CTA."""
    unit: int
    """The allocation unit, in bytes."""
    reserved: int = 0
    """Bytes of each CTA that the system takes."""

    def ctas(self, bytes: int) -> int:
        """How many CTAs of an SM can have this many bytes each."""
        units = -(-(bytes + self.reserved) // self.unit)
        return self.per_sm // (units * self.unit)


STATIC_SHARED: Final = 48 * KIB
"""Bytes of static shared memory for targets without the suffix `a`."""


def shared_memory(per_sm: int, per_cta: int = STATIC_SHARED) -> Memory:
    """Shared memory, which a kernel declares statically."""
    return Memory(per_sm, per_cta, unit=128, reserved=KIB)


TENSOR_MEMORY: Final = Memory(256 * KIB, 256 * KIB, unit=16 * KIB)
"""512 columns of 128 words, which a kernel allocates and frees as it runs: at least 32 of them."""
