"""The shared LLVM type converter: what each type of the stage is to LLVM.

A vector of several dimensions becomes one of all its elements, row by row. A memref becomes its
address, followed by a number for each offset, extent and stride that its type does not tell.
"""

from __future__ import annotations

from typing import Final

from tilewright.dialects.gpu.attributes import AddressSpace
from tilewright.dialects.llvm.types import (
    PTR,
    PTR_SHARED,
    PointerType,
    StructType,
    is_float,
    is_storable,
)
from tilewright.dialects.memref.layout import steps_of
from tilewright.dialects.nvgpu.types import (
    DeviceAsyncTokenType,
    MBarrierGroupType,
    MBarrierTokenType,
    TensorMapDescriptorType,
    WarpgroupAccumulatorType,
    WarpgroupDescriptorType,
)
from tilewright.ir.attributes import Attribute, IntegerAttr, Type
from tilewright.ir.type_converter import TypeConverter
from tilewright.ir.types import (
    DYNAMIC,
    F16,
    F32,
    I32,
    I64,
    TF32,
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    VectorType,
)
from tilewright.target.arch import WARP_SIZE
from tilewright.target.tensor_cores import WARPGROUP, WGMMA_ROWS

_SPACES: Final = {
    AddressSpace.GLOBAL: 1,
    AddressSpace.WORKGROUP: 3,
    # What a thread has of its own comes from an alloca, whose address is a generic one.
    AddressSpace.PRIVATE: 0,
    AddressSpace.CONSTANT: 4,
}


def space_of(space: Attribute | None) -> int | None:
    """The number that LLVM has for a memory space."""
    if isinstance(space, IntegerAttr):
        return space.value
    if isinstance(space, AddressSpace):
        return _SPACES[space]
    return 0 if space is None else None


def element_type(type: Type) -> Type | None:
    """What a number is to LLVM; nothing if it has no bytes of its own."""
    if isinstance(type, IndexType):
        return I64
    if isinstance(type, IntegerType):
        return IntegerType(type.width)
    if not isinstance(type, FloatType):
        return type if is_storable(type) else None
    if is_float(type):
        return type
    if type is TF32:
        return F32
    return IntegerType(type.width) if type.width == 8 else None


def lane_type(type: Type) -> Type | None:
    """What a number is in a vector, where floats of less than a byte are bits too."""
    if isinstance(type, FloatType) and type.width < 8:
        return IntegerType(type.width)
    return element_type(type)


def vector_type(type: VectorType) -> Type | None:
    """One dimension; a vector of none has one element."""
    element = lane_type(type.element)
    if element is None or any(type.scalable):
        return None
    return VectorType((extent_of(type),), element)


def extent_of(type: VectorType) -> int:
    """How many elements a vector has."""
    count = 1
    for extent in type.shape:
        count *= extent
    return count


def memref_types(type: MemRefType) -> tuple[Type, ...] | None:
    """The address, and a number for each step and extent that is only known at run time."""
    steps, space = steps_of(type), space_of(type.space)
    if steps is None or space is None or type.shape is None:
        return None
    if element_type(type.element) is None and not isinstance(type.element, VectorType):
        return None
    strides, offset = steps
    unknown = (offset, *type.shape, *strides).count(DYNAMIC)
    return (PointerType(space), *[I64] * unknown)


def accumulator_type(type: WarpgroupAccumulatorType) -> Type | None:
    """The registers of one thread; a struct of them for every 64 rows, where there are more."""
    shape, element = type.fragmented.shape, element_type(type.fragmented.element)
    if element is None or len(shape) != 2 or shape[0] % WGMMA_ROWS:
        return None
    rows, columns = shape
    count, register = WGMMA_ROWS * columns // (WARPGROUP * WARP_SIZE), element
    if element is F16:
        count, register = count // 2, VectorType((2,), F16)
    block = StructType((register,) * count)
    blocks = rows // WGMMA_ROWS
    return block if blocks == 1 else StructType((block,) * blocks)


def llvm_types() -> TypeConverter:
    """A new converter; whoever has more types adds to it."""
    types = TypeConverter()
    types.add(Type, lambda type: type if is_storable(type) else None)
    types.add(IndexType, element_type)
    types.add(IntegerType, element_type)
    types.add(FloatType, element_type)
    types.add(VectorType, vector_type)
    types.add(MemRefType, memref_types)
    types.add(DeviceAsyncTokenType, lambda token: I32)
    types.add(MBarrierTokenType, lambda token: I64)
    types.add(MBarrierGroupType, lambda group: PTR_SHARED)
    types.add(TensorMapDescriptorType, lambda map: PTR)
    types.add(WarpgroupDescriptorType, lambda matrix: I64)
    types.add(WarpgroupAccumulatorType, accumulator_type)
    return types
