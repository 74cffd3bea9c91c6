"""nvgpu's descriptors of wgmma operands in shared memory, and offsets within an operand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer
from tilewright.conversion.nvgpu_to_nvvm.matrix_descriptor import (
    descriptor_fields,
    packed_descriptor,
)
from tilewright.conversion.nvgpu_to_nvvm.numbers import constant
from tilewright.dialects.llvm.arithmetic import AddOp
from tilewright.dialects.nvgpu.attributes import Swizzle
from tilewright.dialects.nvgpu.constraints import tensor_map
from tilewright.dialects.nvgpu.warpgroup import WarpgroupGenerateDescriptorOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.target.tensor_cores import WGMMA_K_BYTES, WGMMA_ROWS

if TYPE_CHECKING:
    from tilewright.ir.values import Value

_CORE_ROW_BYTES: Final = 16
"""The bytes of one row of a core matrix, which has eight rows."""


class Fields:
    """The fields of a descriptor except the address; offsets in bytes."""

    __slots__ = ("base", "leading", "stride", "swizzle")

    def __init__(self, leading: int, stride: int, base: int, swizzle: Swizzle) -> None:
        self.leading = leading
        self.stride = stride
        self.base = base
        self.swizzle = swizzle

    @staticmethod
    def of(op: WarpgroupGenerateDescriptorOp) -> Fields:
        """Return the fields from the attributes, with defaults from the tensor map."""
        leading, stride, swizzle = op.leading_byte_offset, op.matrix_stride, op.swizzle_mode
        if op.tensor_map is not None:
            # A box is row-major, followed by the next one along K.
            map = tensor_map(op.tensor_map)
            swizzle = map.swizzle if swizzle is None else swizzle
            span = swizzle.span or _CORE_ROW_BYTES
            leading = (map.tensor.shape or (0,))[0] * span if leading is None else leading
            stride = 8 * span if stride is None else stride
        assert leading is not None
        assert stride is not None
        assert swizzle is not None
        return Fields(leading, stride, op.swizzle_base, swizzle)

    @property
    def bits(self) -> int:
        """The encoded fields; the swizzle base offset is in units of 128 bytes."""
        return descriptor_fields(self.leading, self.stride, self.base >> 7, self.swizzle)

    def offset(self, block: int, step: int, *, transposed: bool) -> int:
        """Return the byte offset of a block of 64 rows at a K step.

        Leading and stride offsets swap roles for a transposed operand without swizzle.
        """
        if not transposed:
            spans, rest = divmod(step * WGMMA_K_BYTES, self.swizzle.span or _CORE_ROW_BYTES)
            return block * WGMMA_ROWS // 8 * self.stride + spans * self.leading + rest
        groups = step * 2
        if self.swizzle.span is None:
            return block * WGMMA_ROWS // 8 * self.stride + groups * self.leading
        return block * 2 * WGMMA_ROWS // self.swizzle.span * self.leading + groups * self.stride


def advance_descriptor(build: ConversionBuilder, descriptor: Value, bytes: int) -> Value:
    """Advance a descriptor by a number of bytes."""
    if bytes == 0:
        return descriptor
    return build.create(AddOp, lhs=descriptor, rhs=constant(build, bytes >> 4)).res


@converts(WarpgroupGenerateDescriptorOp)
def generate(
    op: WarpgroupGenerateDescriptorOp,
    new: WarpgroupGenerateDescriptorOp,
    build: ConversionBuilder,
) -> Result:
    """Combine the constant fields with the address."""
    buffer = Buffer.of(op.tensor, build)
    address = buffer.element_address([0] * len(buffer.strides), build)
    return packed_descriptor(build, address, Fields.of(op).bits)


PATTERNS: Final[Patterns] = (generate,)
