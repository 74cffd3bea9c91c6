"""The 64 bits that tell wgmma where a matrix lies in shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.numbers import constant
from tilewright.dialects.llvm.arithmetic import AndOp, LShrOp, OrOp
from tilewright.dialects.llvm.conversion import PtrToIntOp
from tilewright.dialects.nvgpu.attributes import Swizzle
from tilewright.ir.types import I64

if TYPE_CHECKING:
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value

_UNIT: Final = 4
"""Addresses and offsets count 16 bytes."""
_ADDRESS: Final = (1 << 14) - 1
_LEADING, _STRIDE, _BASE, _MODE = 16, 32, 49, 62
_MODES: Final = {
    Swizzle.NONE: 0,
    Swizzle.SWIZZLE_128B: 1,
    Swizzle.SWIZZLE_64B: 2,
    Swizzle.SWIZZLE_32B: 3,
}


def descriptor_fields(leading: int, stride: int, base: int, swizzle: Swizzle) -> int:
    """All but the address: offsets in bytes, and the first row's place in the swizzle pattern."""
    bits = (leading >> _UNIT) << _LEADING | (stride >> _UNIT) << _STRIDE
    bits |= base << _BASE | _MODES[swizzle] << _MODE
    # As a signed number, which is what constants hold.
    return bits - (1 << 64) if bits >> 63 else bits


def packed_descriptor(build: Builder, address: Value, fields: int) -> Value:
    """The address with constant fields around it.

    In a cluster an address also has the rank of its block, which is none of wgmma's business.
    """
    number = build.create(PtrToIntOp, arg=address, types=[I64]).res
    units = build.create(LShrOp, lhs=number, rhs=constant(build, _UNIT)).res
    low = build.create(AndOp, lhs=units, rhs=constant(build, _ADDRESS)).res
    return build.create(OrOp, lhs=low, rhs=constant(build, fields)).res
