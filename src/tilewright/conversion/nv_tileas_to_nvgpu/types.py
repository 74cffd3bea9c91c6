"""The type converter: a tile becomes the vector of a thread's registers, an address an i64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.types import (
    MemrefType,
    MemTokenType,
    ProgramIdType,
    PtrType,
    TiledViewType,
)
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, layout_of
from tilewright.dialects.nv_tileas.types import (
    AsyncTokenType,
    BufferType,
    ConsumerTokenType,
    IteratorType,
    PipelineType,
    ProducerTokenType,
    TensorMapType,
)
from tilewright.ir.attributes import Type
from tilewright.ir.type_converter import Converted, TypeConverter
from tilewright.ir.types import (
    DYNAMIC,
    F4E2M1FN,
    F32,
    I4,
    I32,
    I64,
    TF32,
    FloatType,
    TensorType,
    VectorType,
)
from tilewright.layout.linear import REGISTER
from tilewright.plans.tensor_maps import descriptor_type

if TYPE_CHECKING:
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value

_TF32_DROPPED: Final = F32.width - TF32.width
"""The low bits of an f32 that a tf32 lacks."""


def thread_types() -> TypeConverter:
    """The types of the program of one thread.

    A tile is one vector of the thread's registers. An address is an i64. A memref, or a view of
    one, is its address and its dynamic extents and strides, each an i64. Memory tokens become
    nothing, since barriers already order memory; a token of an asynchronous copy is the handle of
    an mbarrier. A pipeline iterator is a stage and a phase. A tensor map of a view is one of nvgpu,
    and an i32 that is added to the outermost coordinate: it puts every tile of an empty tensor out
    of bounds.
    """
    types = TypeConverter()
    types.keep(Type)
    types.add(FloatType, element_type)
    types.add(PtrType, element_type)
    types.add(TensorType, tile_type)
    types.add(MemrefType, _memref_fields)
    types.add(TiledViewType, lambda view: _memref_fields(view.source))
    types.add(MemTokenType, lambda _: ())
    types.add(ProgramIdType, lambda _: ())
    types.add(AsyncTokenType, lambda _: I32)
    types.add(BufferType, lambda _: I32)
    types.add(PipelineType, lambda _: ())
    types.add(TensorMapType, lambda map: (descriptor_type(map), I32))
    for stage in (IteratorType, ProducerTokenType, ConsumerTokenType):
        types.add(stage, lambda _: (I32, I32))
    return types


def element_type(type: Type) -> Type:
    """The type that a thread has for an element of a tile, or a scalar."""
    if isinstance(type, PtrType):
        return I64
    # No instruction computes with f4: threads only move its bits.
    if type is F4E2M1FN:
        return I4
    # A tf32 is an f32 whose low bits are ignored.
    return F32 if type is TF32 else type


def thread_bits(pattern: int, type: Type) -> int:
    """The bits of a constant in the type that a thread has for it."""
    return pattern << _TF32_DROPPED if element_of(type) is TF32 else pattern


def tile_type(tile: TensorType) -> Converted:
    """The vector of a thread's registers of a tile; a tile without a layout has none.

    A tile in shared memory is its byte offset in the shared memory of the function.
    """
    if tile.encoding is None:
        return None
    if in_shared_memory(tile):
        return I32
    return VectorType((registers(tile),), element_type(tile.element))


def vector_type(build: ConversionBuilder, tile: Value) -> VectorType:
    """The vector of a thread's registers of a tile of the old program."""
    (type,) = build.types.convert(tile.type) or (tile.type,)
    assert isinstance(type, VectorType)
    return type


def registers(tile: Type | Value) -> int:
    """The number of a thread's registers of a tile."""
    return layout_of(tile).extent(REGISTER)


def _memref_fields(memory: MemrefType) -> Converted:
    return (I64,) * (1 + memory.shape.count(DYNAMIC) + memory.strides.count(DYNAMIC))
