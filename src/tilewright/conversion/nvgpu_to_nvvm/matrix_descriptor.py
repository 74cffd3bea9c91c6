"""The 64-bit descriptor of a wgmma operand in shared memory."""

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
"""Addresses and offsets are in units of 16 bytes."""
_ADDRESS: Final = (1 << 14) - 1
_LEADING, _STRIDE, _BASE, _MODE = 16, 32, 49, 62
_MODES: Final = {
    Swizzle.NONE: 0,
    Swizzle.SWIZZLE_128B: 1,
    Swizzle.SWIZZLE_64B: 2,
    Swizzle.SWIZZLE_32B: 3,
}


def descriptor_fields(leading: int, stride: int, base: int, swizzle: Swizzle) -> int:
    """Encode the fields except the address: byte offsets, swizzle base offset and mode."""
    bits = (leading >> _UNIT) << _LEADING | (stride >> _UNIT) << _STRIDE
    bits |= base << _BASE | _MODES[swizzle] << _MODE
    # Constants are signed.
    return bits - (1 << 64) if bits >> 63 else bits


def packed_descriptor(build: Builder, address: Value, fields: int) -> Value:
    """Combine the address field with the constant fields.

    In a cluster the address also has the rank of the block, which the mask removes.
    """
    number = build.create(PtrToIntOp, arg=address, types=[I64]).res
    units = build.create(LShrOp, lhs=number, rhs=constant(build, _UNIT)).res
    low = build.create(AndOp, lhs=units, rhs=constant(build, _ADDRESS)).res
    return build.create(OrOp, lhs=low, rhs=constant(build, fields)).res
