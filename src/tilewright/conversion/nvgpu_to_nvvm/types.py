"""The shared LLVM type converter.

A vector of several dimensions is flattened in row-major order. A memref becomes its address,
followed by an i64 for each dynamic offset, extent and stride.
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
from tilewright.dialects.memref.layout import strides_and_offset
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
    # Private memory is an alloca, whose address is generic.
    AddressSpace.PRIVATE: 0,
    AddressSpace.CONSTANT: 4,
}


def space_of(space: Attribute | None) -> int | None:
    """Return LLVM's address space of a memory space, or `None` if it has none."""
    if isinstance(space, IntegerAttr):
        return space.value
    if isinstance(space, AddressSpace):
        return _SPACES[space]
    return 0 if space is None else None


def element_type(type: Type) -> Type | None:
    """Convert a scalar type, or return `None` if it is narrower than a byte or has no LLVM type."""
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
    """Convert the element type of a vector, where floats below 8 bits become integers too."""
    if isinstance(type, FloatType) and type.width < 8:
        return IntegerType(type.width)
    return element_type(type)


def vector_type(type: VectorType) -> Type | None:
    """Flatten a vector type to one dimension; rank 0 has one element."""
    element = lane_type(type.element)
    if element is None or any(type.scalable):
        return None
    return VectorType((extent_of(type),), element)


def extent_of(type: VectorType) -> int:
    """Return the number of elements of a vector."""
    count = 1
    for extent in type.shape:
        count *= extent
    return count


def memref_types(type: MemRefType) -> tuple[Type, ...] | None:
    """Convert to a pointer and an i64 for each dynamic offset, extent and stride."""
    layout, space = strides_and_offset(type), space_of(type.space)
    if layout is None or space is None or type.shape is None:
        return None
    if element_type(type.element) is None and not isinstance(type.element, VectorType):
        return None
    strides, offset = layout
    unknown = (offset, *type.shape, *strides).count(DYNAMIC)
    return (PointerType(space), *[I64] * unknown)


def accumulator_type(type: WarpgroupAccumulatorType) -> Type | None:
    """Convert to a struct of one thread's registers, or one such struct per 64 rows."""
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
    """Create a converter; callers may add types."""
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
