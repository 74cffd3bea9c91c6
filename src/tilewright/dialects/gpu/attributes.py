"""The attributes of gpu: dimensions, modes, and where memory is."""

from __future__ import annotations

from typing import Final

from tilewright.ir.attribute_kinds import EnumKind
from tilewright.ir.attributes import Attribute, EnumAttr, IntegerAttr
from tilewright.ir.types import MemRefType

GLOBAL: Final = 1
SHARED: Final = 3
"""The numbers of memory spaces that NVIDIA's compilers use."""


class Dimension(EnumAttr, mnemonic="gpu.dim", wrapped=True):
    """A dimension of the grid, of a cluster, or of a block."""

    X = 0
    Y = 1
    Z = 2


class AddressSpace(EnumAttr, mnemonic="gpu.address_space"):
    """Who sees memory: everybody, the threads of a block, one thread."""

    GLOBAL = 1
    WORKGROUP = 2
    PRIVATE = 3
    CONSTANT = 4


class ShuffleMode(EnumAttr, mnemonic="gpu.shuffle_mode", wrapped=True):
    """From which lane a value comes."""

    XOR = 0
    DOWN = 1
    UP = 2
    IDX = 3


class AllReduceOperation(EnumAttr, mnemonic="gpu.all_reduce_op", wrapped=True):
    """What combines the values of threads."""

    ADD = 0
    MUL = 1
    MINUI = 2
    MINSI = 3
    MINNUMF = 4
    MAXUI = 5
    MAXSI = 6
    MAXNUMF = 7
    AND = 8
    OR = 9
    XOR = 10
    MINIMUMF = 11
    MAXIMUMF = 12

    @property
    def takes_floats(self) -> bool:
        """Whether it combines floats."""
        both = (AllReduceOperation.ADD, AllReduceOperation.MUL)
        return self in both or self.name.endswith("F")

    @property
    def takes_integers(self) -> bool:
        """Whether it combines integers."""
        return not self.name.endswith("F")


DIMENSION: Final = EnumKind(Dimension)
SHUFFLE_MODE: Final = EnumKind(ShuffleMode)
REDUCTION: Final = EnumKind(AllReduceOperation)


def is_shared(space: Attribute | None) -> bool:
    """Whether memory in this space is shared by the threads of a block."""
    if isinstance(space, IntegerAttr):
        return space.value == SHARED
    return space is AddressSpace.WORKGROUP


def is_global(space: Attribute | None) -> bool:
    """Whether memory in this space is global, or may be for all that the type says."""
    if isinstance(space, IntegerAttr):
        return space.value in (0, GLOBAL)
    return space is None or space is AddressSpace.GLOBAL


def in_shared_memory(type: MemRefType) -> bool:
    """Whether a memref lies in shared memory."""
    return is_shared(type.space)
