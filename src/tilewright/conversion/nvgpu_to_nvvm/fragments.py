"""Vectors as the registers that instructions take, and registers as vectors again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nvgpu_to_nvvm.elementwise import joined, lanes
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
    """A value as one of another type that has its bits."""
    if value.type is type:
        return value
    return build.create(BitcastOp, arg=value, types=[type]).res


def _width(type: Type) -> int:
    """The bits of a number, or of all elements of a vector."""
    if isinstance(type, VectorType):
        return type.shape[0] * (bits_of(type.element) or 0)
    return bits_of(type) or 0


def taken_apart(build: ConversionBuilder, vector: Value, part: Type) -> list[Value]:
    """The parts of a vector, each a number or a small vector of this type."""
    assert isinstance(vector.type, VectorType)
    if vector.type.element is part:
        return lanes(build, vector)
    width = _width(part)
    words = VectorType((_width(vector.type) // width,), IntegerType(width))
    whole = same_bits(build, vector, words)
    return [same_bits(build, word, part) for word in lanes(build, whole)]


def put_together(build: ConversionBuilder, parts: Sequence[Value], type: Type) -> Value:
    """The vector that has these parts, one behind the other."""
    assert isinstance(type, VectorType)
    part = parts[0].type
    if part is not type.element:
        part = IntegerType(_width(part))
    words = [same_bits(build, each, part) for each in parts]
    vector = VectorType((len(words),), part)
    return same_bits(build, joined(build, words, vector), type)


def members(build: ConversionBuilder, value: Value) -> list[Value]:
    """The registers of a result: those of a struct, or the only one."""
    if not isinstance(value.type, StructType):
        return [value]
    return [
        build.create(ExtractValueOp, container=value, position=[index]).res
        for index in range(len(value.type.elements))
    ]
