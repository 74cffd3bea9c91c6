"""nvgpu's descriptors of matrices in shared memory, and where the parts of a matrix start."""

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

_PIECE: Final = 16
"""The bytes that are never torn apart: a row of a core matrix, which has eight."""


class Fields:
    """All that a descriptor says but its start, offsets in bytes."""

    __slots__ = ("base", "leading", "stride", "swizzle")

    def __init__(self, leading: int, stride: int, base: int, swizzle: Swizzle) -> None:
        self.leading = leading
        self.stride = stride
        self.base = base
        self.swizzle = swizzle

    @staticmethod
    def of(op: WarpgroupGenerateDescriptorOp) -> Fields:
        """What the attributes say; the tensor map where they say nothing."""
        leading, stride, swizzle = op.leading_byte_offset, op.matrix_stride, op.swizzle_mode
        if op.tensor_map is not None:
            # A box lies row by row; the next one along a row follows it.
            map = tensor_map(op.tensor_map)
            swizzle = map.swizzle if swizzle is None else swizzle
            span = swizzle.span or _PIECE
            leading = (map.tensor.shape or (0,))[0] * span if leading is None else leading
            stride = 8 * span if stride is None else stride
        assert leading is not None
        assert stride is not None
        assert swizzle is not None
        return Fields(leading, stride, op.swizzle_base, swizzle)

    @property
    def bits(self) -> int:
        """The descriptor of a matrix at 0; the place in the pattern counts 128 bytes."""
        return descriptor_fields(self.leading, self.stride, self.base >> 7, self.swizzle)

    def offset(self, block: int, step: int, *, transposed: bool) -> int:
        """How many bytes further a block of 64 rows starts, and a step along the depth.

        The two offsets change their roles where pieces of transposed matrices stay in place.
        """
        if not transposed:
            spans, rest = divmod(step * WGMMA_K_BYTES, self.swizzle.span or _PIECE)
            return block * WGMMA_ROWS // 8 * self.stride + spans * self.leading + rest
        groups = step * 2
        if self.swizzle.span is None:
            return block * WGMMA_ROWS // 8 * self.stride + groups * self.leading
        return block * 2 * WGMMA_ROWS // self.swizzle.span * self.leading + groups * self.stride


def further(build: ConversionBuilder, descriptor: Value, bytes: int) -> Value:
    """The descriptor of what starts so many bytes behind."""
    if bytes == 0:
        return descriptor
    return build.create(AddOp, lhs=descriptor, rhs=constant(build, bytes >> 4)).res


@converts(WarpgroupGenerateDescriptorOp)
def generate(
    op: WarpgroupGenerateDescriptorOp,
    new: WarpgroupGenerateDescriptorOp,
    build: ConversionBuilder,
) -> Result:
    """What is known as one number, or-ed with the start, which is not."""
    buffer = Buffer.of(op.tensor, build)
    address = buffer.element_address([0] * len(buffer.strides), build)
    return packed_descriptor(build, address, Fields.of(op).bits)


PATTERNS: Final[Patterns] = (generate,)
