"""pack and unpack: tiles as bytes, and back; a thread holds all elements of each of its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.shape.rearrangements import rearrange_registers
from tilewright.conversion.nv_tileas_to_nvgpu.types import vector_type
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import (
    as_integers,
    bitcast,
    select_registers,
    splat_constant,
)
from tilewright.dialects.arith.casts import ExtUIOp, TruncIOp
from tilewright.dialects.arith.integer import OrIOp, ShLIOp, ShRUIOp
from tilewright.dialects.elements import width_of
from tilewright.dialects.nv_tileas import shape
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.vector.shapes import BitcastOp, ShuffleOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I8, IntegerType, VectorType
from tilewright.layout.packing import BYTE, packed

if TYPE_CHECKING:
    from tilewright.ir.values import Value


@converts(shape.PackOp)
def pack(op: shape.PackOp, new: shape.PackOp, build: ConversionBuilder) -> Result:
    """The bytes of every register, low byte first."""
    bytes = _pack_bytes(build, new.source)
    source_bytes = packed(layout_of(op.source), width_of(new.source.type))
    return rearrange_registers(op, build, bytes, source_bytes, layout_of(op.result))


@converts(shape.UnpackOp)
def unpack(op: shape.UnpackOp, new: shape.UnpackOp, build: ConversionBuilder) -> Result:
    """The elements that the bytes hold."""
    type = vector_type(build, op.result)
    target = packed(layout_of(op.result), width_of(type))
    bytes = rearrange_registers(op, build, new.source, layout_of(op.source), target)
    if width_of(type) >= BYTE:
        return _cast(build, bytes, type)
    return _unpack_bytes(build, bytes, type)


def _cast(build: ConversionBuilder, vector: Value, type: VectorType) -> Value:
    assert isinstance(vector.type, VectorType)
    if vector.type.shape == type.shape:
        return bitcast(build, vector, type)
    return build.create(BitcastOp, source=vector, types=[type]).result


def _pack_bytes(build: ConversionBuilder, vector: Value) -> Value:
    """Elements as bytes; sub-byte elements share a byte, the first in its low bits."""
    width = width_of(vector.type)
    assert isinstance(vector.type, VectorType)
    count = vector.type.shape[0]
    if width >= BYTE:
        return _cast(build, vector, VectorType((count * width // BYTE,), I8))
    per_byte = BYTE // width
    byte_vector = VectorType((count // per_byte,), I8)
    bits, packed_bytes = as_integers(build, vector), None
    for position in range(per_byte):
        part = select_registers(build, bits, list(range(position, count, per_byte)))
        part = build.create(ExtUIOp, source=part, types=[byte_vector]).result
        shift = splat_constant(build, position * width, byte_vector)
        part = build.create(ShLIOp, lhs=part, rhs=shift).result if position else part
        packed_bytes = (
            part if packed_bytes is None else build.create(OrIOp, lhs=packed_bytes, rhs=part).result
        )
    assert packed_bytes is not None
    return packed_bytes


def _unpack_bytes(build: ConversionBuilder, bytes: Value, type: VectorType) -> Value:
    """Bytes as sub-byte elements: extract each bit position, then interleave."""
    width, count = width_of(type), type.shape[0]
    per_byte = BYTE // width
    assert isinstance(bytes.type, VectorType)
    narrow = VectorType(bytes.type.shape, IntegerType(width))
    parts: list[Value] = []
    for position in range(per_byte):
        shift = splat_constant(build, position * width, bytes.type)
        shifted = build.create(ShRUIOp, lhs=bytes, rhs=shift).result if position else bytes
        parts.append(build.create(TruncIOp, source=shifted, types=[narrow]).result)
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [_interleave(build, *parts[start::half]) for start in range(half)]
    (interleaved,) = parts
    assert interleaved.type is VectorType((count,), IntegerType(width))
    return bitcast(build, interleaved, type)


def _interleave(build: ConversionBuilder, first: Value, second: Value) -> Value:
    assert isinstance(first.type, VectorType)
    count = first.type.shape[0]
    order = [register + side for register in range(count) for side in (0, count)]
    type = VectorType((2 * count,), first.type.element)
    return build.create(ShuffleOp, v1=first, v2=second, mask=order, types=[type]).result


PATTERNS: Final[Patterns] = (
    pack,
    unpack,
)
