"""The attributes of gpu: dimensions, modes and address spaces."""

from __future__ import annotations

from typing import Final

from tilewright.ir.attribute_kinds import EnumKind
from tilewright.ir.attributes import Attribute, EnumAttr, IntegerAttr
from tilewright.ir.types import I64, MemRefType

GLOBAL: Final = 1
SHARED: Final = 3
"""NVVM's address spaces."""
SHARED_SPACE: Final = IntegerAttr(SHARED, I64)


class Dimension(EnumAttr, mnemonic="gpu.dim", wrapped=True):
    """A dimension of the grid, of a cluster, or of a block."""

    X = 0
    Y = 1
    Z = 2


class AddressSpace(EnumAttr, mnemonic="gpu.address_space"):
    """An address space: global, shared by a block (workgroup), private to a thread, constant."""

    GLOBAL = 1
    WORKGROUP = 2
    PRIVATE = 3
    CONSTANT = 4


class ShuffleMode(EnumAttr, mnemonic="gpu.shuffle_mode", wrapped=True):
    """The source lane of a shuffle."""

    XOR = 0
    DOWN = 1
    UP = 2
    IDX = 3


class AllReduceOperation(EnumAttr, mnemonic="gpu.all_reduce_op", wrapped=True):
    """The operation of a reduction over threads."""

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
        """Whether it applies to floats."""
        shared = (AllReduceOperation.ADD, AllReduceOperation.MUL)
        return self in shared or self.name.endswith("F")

    @property
    def takes_integers(self) -> bool:
        """Whether it applies to integers."""
        return not self.name.endswith("F")


DIMENSION: Final = EnumKind(Dimension)
SHUFFLE_MODE: Final = EnumKind(ShuffleMode)
REDUCTION: Final = EnumKind(AllReduceOperation)


def is_shared(space: Attribute | None) -> bool:
    """Return whether a space is shared memory."""
    if isinstance(space, IntegerAttr):
        return space.value == SHARED
    return space is AddressSpace.WORKGROUP


def is_global(space: Attribute | None) -> bool:
    """Return whether a space is global memory, or the default space."""
    if isinstance(space, IntegerAttr):
        return space.value in (0, GLOBAL)
    return space is None or space is AddressSpace.GLOBAL


def in_shared_memory(type: MemRefType) -> bool:
    """Return whether a memref is in shared memory."""
    return is_shared(type.space)
