"""What a thread has of each value: its registers of a tile, addresses as numbers, no tokens."""

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
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.nv_tileas.types import (
    AsyncTokenType,
    BufferType,
    ConsumerTokenType,
    IteratorType,
    PipelineType,
    ProducerTokenType,
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

if TYPE_CHECKING:
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value

_TF32_DROPPED: Final = F32.width - TF32.width
"""What an f32 has at its end that a tf32 has not."""


def thread_types() -> TypeConverter:
    """The types of one thread's part of the program.

    A tile is one vector of the thread's registers. An address is a number of 64 bits. A tensor in
    memory is its address and, as numbers of 64 bits, those extents and strides that its type
    leaves open; so is a view of it. Tokens have been heeded by now and are nothing; those of
    asynchronous copies are the handle of a barrier. A place in a pipeline is stage and parity.
    """
    types = TypeConverter()
    types.keep(Type)
    types.add(FloatType, element_type)
    types.add(PtrType, element_type)
    types.add(TensorType, tile_type)
    types.add(MemrefType, _parts)
    types.add(TiledViewType, lambda view: _parts(view.source))
    types.add(MemTokenType, lambda _: ())
    types.add(ProgramIdType, lambda _: ())
    types.add(AsyncTokenType, lambda _: I32)
    types.add(BufferType, lambda _: I64)
    types.add(PipelineType, lambda _: ())
    for stage in (IteratorType, ProducerTokenType, ConsumerTokenType):
        types.add(stage, lambda _: (I32, I32))
    return types


def element_type(type: Type) -> Type:
    """What an element of a tile, or a scalar, is to a thread."""
    if isinstance(type, PtrType):
        return I64
    # Nothing computes with four bits: they are what they are in memory.
    if type is F4E2M1FN:
        return I4
    # The bits of tf32 that count are those of an f32.
    return F32 if type is TF32 else type


def thread_bits(pattern: int, type: Type) -> int:
    """The bits of a constant as a thread has it."""
    return pattern << _TF32_DROPPED if element_of(type) is TF32 else pattern


def tile_type(tile: TensorType) -> Converted:
    """The registers that a thread has of a tile; what has no layout is not for threads."""
    if tile.encoding is None:
        return None
    return VectorType((registers(tile),), element_type(tile.element))


def vector_type(build: ConversionBuilder, tile: Value) -> VectorType:
    """The vector of registers that a thread has of a tile of the old program."""
    (type,) = build.types.convert(tile.type) or (tile.type,)
    assert isinstance(type, VectorType)
    return type


def registers(tile: Type | Value) -> int:
    """How many elements of a tile a thread has."""
    return layout_of(tile).extent(REGISTER)


def _parts(memory: MemrefType) -> Converted:
    return (I64,) * (1 + memory.shape.count(DYNAMIC) + memory.strides.count(DYNAMIC))
