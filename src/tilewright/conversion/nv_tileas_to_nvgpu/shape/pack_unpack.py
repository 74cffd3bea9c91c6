"""Tiles as the bytes that hold them, and back: a thread has all elements of each of its bytes."""

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
    made = packed(layout_of(op.source), width_of(new.source.type))
    return rearrange_registers(op, build, bytes, made, layout_of(op.result))


@converts(shape.UnpackOp)
def unpack(op: shape.UnpackOp, new: shape.UnpackOp, build: ConversionBuilder) -> Result:
    """The registers that bytes hold."""
    type = vector_type(build, op.result)
    wanted = packed(layout_of(op.result), width_of(type))
    bytes = rearrange_registers(op, build, new.source, layout_of(op.source), wanted)
    if width_of(type) >= BYTE:
        return _cast(build, bytes, type)
    return _unpack_bytes(build, bytes, type)


def _cast(build: ConversionBuilder, vector: Value, type: VectorType) -> Value:
    assert isinstance(vector.type, VectorType)
    if vector.type.shape == type.shape:
        return bitcast(build, vector, type)
    return build.create(BitcastOp, source=vector, types=[type]).result


def _pack_bytes(build: ConversionBuilder, vector: Value) -> Value:
    """Registers as bytes; of small ones several are one byte, the first in its low bits."""
    width = width_of(vector.type)
    assert isinstance(vector.type, VectorType)
    count = vector.type.shape[0]
    if width >= BYTE:
        return _cast(build, vector, VectorType((count * width // BYTE,), I8))
    share = BYTE // width
    wide = VectorType((count // share,), I8)
    patterns, total = as_integers(build, vector), None
    for place in range(share):
        part = select_registers(build, patterns, list(range(place, count, share)))
        part = build.create(ExtUIOp, source=part, types=[wide]).result
        shift = splat_constant(build, place * width, wide)
        part = build.create(ShLIOp, lhs=part, rhs=shift).result if place else part
        total = part if total is None else build.create(OrIOp, lhs=total, rhs=part).result
    assert total is not None
    return total


def _unpack_bytes(build: ConversionBuilder, bytes: Value, type: VectorType) -> Value:
    """Bytes as registers of fewer bits: each place of a byte, then all of them in turn."""
    width, count = width_of(type), type.shape[0]
    share = BYTE // width
    assert isinstance(bytes.type, VectorType)
    narrow = VectorType(bytes.type.shape, IntegerType(width))
    places: list[Value] = []
    for place in range(share):
        shift = splat_constant(build, place * width, bytes.type)
        moved = build.create(ShRUIOp, lhs=bytes, rhs=shift).result if place else bytes
        places.append(build.create(TruncIOp, source=moved, types=[narrow]).result)
    while len(places) > 1:
        half = len(places) // 2
        places = [_interleave(build, *places[at::half]) for at in range(half)]
    (whole,) = places
    assert whole.type is VectorType((count,), IntegerType(width))
    return bitcast(build, whole, type)


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
