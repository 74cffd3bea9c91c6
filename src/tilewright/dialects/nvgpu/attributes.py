"""The enumerations of nvgpu: modes of tensor maps, and rounding modes."""

from __future__ import annotations

from typing import Final

from tilewright.ir.attribute_kinds import EnumKind
from tilewright.ir.attributes import EnumAttr


class Swizzle(EnumAttr, mnemonic="nvgpu.swizzle", wrapped=True):
    """The swizzle of 16-byte chunks in shared memory, within rows of 32, 64 or 128 bytes."""

    NONE = 0
    SWIZZLE_32B = 1
    SWIZZLE_64B = 2
    SWIZZLE_128B = 3

    @property
    def span(self) -> int | None:
        """The bytes of a row within which chunks are swizzled."""
        return None if self is Swizzle.NONE else 16 << self.value


class L2Promotion(EnumAttr, mnemonic="nvgpu.l2promo", wrapped=True):
    """The granularity of L2 promotion."""

    NONE = 0
    L2PROMO_64B = 1
    L2PROMO_128B = 2
    L2PROMO_256B = 3


class OutOfBounds(EnumAttr, mnemonic="nvgpu.oob", wrapped=True):
    """The fill value of elements outside of the tensor."""

    ZERO = 0
    NAN = 1


class Interleave(EnumAttr, mnemonic="nvgpu.interleave", wrapped=True):
    """The interleaved layout of channels in memory."""

    NONE = 0
    INTERLEAVE_16B = 1
    INTERLEAVE_32B = 2


class RcpRounding(EnumAttr, mnemonic="nvgpu.rcp_rounding_mode", wrapped=True):
    """The rounding mode of a reciprocal."""

    APPROX = 0
    RN = 1
    RZ = 2
    RM = 3
    RP = 4


class PackedRounding(EnumAttr, mnemonic="nvgpu.packed_rounding", wrapped=True):
    """The rounding mode of a packed operation: to nearest even, to zero, down, up."""

    RN = 0
    RZ = 1
    RM = 2
    RP = 3


SWIZZLE: Final = EnumKind(Swizzle)
RCP_ROUNDING: Final = EnumKind(RcpRounding)
PACKED_ROUNDING: Final = EnumKind(PackedRounding)
