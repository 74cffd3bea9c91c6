"""Conversion between vectors and the registers that instructions take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nvgpu_to_nvvm.elementwise import build_vector, lanes
from tilewright.dialects.llvm.aggregate import ExtractValueOp
from tilewright.dialects.llvm.conversion import BitcastOp
from tilewright.dialects.llvm.types import StructType
from tilewright.dialects.nvgpu.constraints import bits_of
from tilewright.ir.types import IntegerType, VectorType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value


def same_bits(build: ConversionBuilder, value: Value, type: Type) -> Value:
    """Bitcast a value to a type of the same width; a no-op if it has that type."""
    if value.type is type:
        return value
    return build.create(BitcastOp, arg=value, types=[type]).res


def _width(type: Type) -> int:
    """Return the width of a scalar or of a whole vector, in bits."""
    if isinstance(type, VectorType):
        return type.shape[0] * (bits_of(type.element) or 0)
    return bits_of(type) or 0


def unpack_registers(build: ConversionBuilder, vector: Value, part: Type) -> list[Value]:
    """Unpack a vector into registers of a type, which is a scalar or a small vector."""
    assert isinstance(vector.type, VectorType)
    if vector.type.element is part:
        return lanes(build, vector)
    width = _width(part)
    words = VectorType((_width(vector.type) // width,), IntegerType(width))
    packed = same_bits(build, vector, words)
    return [same_bits(build, word, part) for word in lanes(build, packed)]


def pack_registers(build: ConversionBuilder, parts: Sequence[Value], type: Type) -> Value:
    """Pack registers into a vector, in order."""
    assert isinstance(type, VectorType)
    part = parts[0].type
    if part is not type.element:
        part = IntegerType(_width(part))
    words = [same_bits(build, each, part) for each in parts]
    vector = VectorType((len(words),), part)
    return same_bits(build, build_vector(build, words, vector), type)


def members(build: ConversionBuilder, value: Value) -> list[Value]:
    """Return the registers of a result: the members of a struct, or the value itself."""
    if not isinstance(value.type, StructType):
        return [value]
    return [
        build.create(ExtractValueOp, container=value, position=[index]).res
        for index in range(len(value.type.elements))
    ]
