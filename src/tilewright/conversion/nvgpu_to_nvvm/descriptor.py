"""The arguments of the driver's tensor map encoder, as an object in memory.

It is an alloca of 128 bytes with the encoder's arguments, innermost dimension first:

    address u64 at 0, element type u32 at 8, rank u32 at 12, extents 5 x u64 at 16, strides in
    bytes 4 x u64 at 56, box 5 x u32 at 88, element strides 5 x u8 at 108, interleave u8 at 113,
    swizzle u8 at 114, L2 promotion u8 at 115, fill u8 at 116, zeros to the end

The encodings of types and modes are the driver's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer, offset_address
from tilewright.conversion.nvgpu_to_nvvm.memref import memref_type, stack_memory
from tilewright.conversion.nvgpu_to_nvvm.numbers import Number, constant, mul, resized
from tilewright.conversion.nvgpu_to_nvvm.tensormap import driver_number
from tilewright.dialects.llvm.constants import ZeroOp
from tilewright.dialects.llvm.conversion import PtrToIntOp
from tilewright.dialects.llvm.memory import StoreOp
from tilewright.dialects.nvgpu.constraints import bits_of, tensor_map
from tilewright.dialects.nvgpu.tma import TmaCreateDescriptorOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I8, I32, I64, IntegerType, VectorType
from tilewright.support.tensor_map_parameters import MAP_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value

ALIGNMENT: Final = 64
STEP: Final = 16
"""The alignment of the address and the strides of a tensor, in bytes."""


class Fields:
    """Writer of the fields of an object in memory."""

    __slots__ = ("_build", "_object")

    def __init__(self, object: Value, build: Builder) -> None:
        self._object = object
        self._build = build
        zeros = build.create(ZeroOp, types=[VectorType((MAP_BYTES // 8,), I64)]).res
        build.create(StoreOp, value=zeros, addr=object, alignment=ALIGNMENT)

    def write(self, offset: int, type: IntegerType, *numbers: Number) -> None:
        """Store consecutive numbers of a type from a byte offset on."""
        build = self._build
        for count, number in enumerate(numbers):
            if number == 0:
                continue
            known = isinstance(number, int)
            value = constant(build, number, type) if known else resized(build, number, type)
            address = offset_address(self._object, offset + count * type.width // 8, I8, build)
            build.create(StoreOp, value=value, addr=address)


def _problem(op: TmaCreateDescriptorOp, strides: Sequence[Number], width: int) -> str | None:
    """Check that a tensor map can describe the strides of a tensor."""
    if strides[-1] != 1:
        return f"expected a last stride of 1, got '{op.tensor.type}'"
    for stride in strides[:-1]:
        if isinstance(stride, int) and stride * width % STEP:
            return (
                f"expected strides that are multiples of {STEP} bytes, got {stride * width} bytes"
            )
    return None


@converts(TmaCreateDescriptorOp)
def create(
    op: TmaCreateDescriptorOp, new: TmaCreateDescriptorOp, build: ConversionBuilder
) -> Result:
    """Write the encoder's arguments for a tensor and its boxes."""
    map, element = tensor_map(op.tensor_map), memref_type(op.tensor).element
    kind, width = driver_number(element), (bits_of(element) or 0) // 8
    if kind is None:
        return build.reject(f"expected a tensor map element type, got '{element}'")
    tensor = Buffer.of(op.tensor, build)
    problem = _problem(op, tensor.strides, width)
    if problem is not None:
        return build.reject(problem)
    start = tensor.element_address([0] * len(tensor.sizes), build)
    address = build.create(PtrToIntOp, arg=start, types=[I64]).res
    object = stack_memory(build, MAP_BYTES, I8, ALIGNMENT)
    rank = len(tensor.sizes)
    fields = Fields(object, build)
    fields.write(0, I64, address)
    fields.write(8, I32, kind, rank)
    fields.write(16, I64, *tensor.sizes[::-1])
    fields.write(56, I64, *[mul(build, stride, width) for stride in tensor.strides[-2::-1]])
    fields.write(88, I32, *new.box_dimensions[::-1])
    modes = (map.interleave, map.swizzle, map.l2promo, map.oob)
    fields.write(108, I8, *[1] * rank, *[0] * (5 - rank), *[mode.value for mode in modes])
    return object


PATTERNS: Final[Patterns] = (create,)
