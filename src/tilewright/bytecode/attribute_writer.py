"""Write attributes, with their tags or by their declared kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tilewright.bytecode.opcodes import AttributeTag
from tilewright.bytecode.tables import ConstantPool, StringPool, encode_constant
from tilewright.bytecode.types import TypePool
from tilewright.bytecode.varint import Buffer
from tilewright.bytecode.versions import Version
from tilewright.dialects.cuda_tile.attributes import (
    BoundedAttr,
    DivByAttr,
    OptimizationHintsAttr,
    SameElementsAttr,
)
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.attribute_kinds import (
    ArrayKind,
    AttributeKind,
    BoolKind,
    EnumKind,
    InstanceKind,
    IntegerArrayKind,
    IntegerKind,
    StringKind,
    SymbolKind,
    TypeKind,
)
from tilewright.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DenseElementsAttr,
    DictionaryAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
    element_bytes,
)
from tilewright.ir.types import FloatType, IntegerType
from tilewright.support.bits import to_signed, to_unsigned
from tilewright.support.diagnostics import InternalError, InvalidValue


class Pools:
    """The pools of a file: entities that sections refer to by index."""

    __slots__ = ("constants", "strings", "types", "version")

    def __init__(self, version: Version) -> None:
        self.version = version
        self.strings = StringPool()
        self.types = TypePool(version)
        self.constants = ConstantPool()


class Writer(Buffer):
    """A buffer with access to the pools; raises `InvalidValue` for unencodable entities."""

    __slots__ = ("pools",)

    def __init__(self, pools: Pools) -> None:
        super().__init__()
        self.pools = pools

    def attribute(self, attribute: Attribute) -> None:
        """Write an attribute with its tag."""
        write = _WRITERS.get(attribute.__class__)
        if write is None:
            name = attribute.mnemonic or attribute.__class__.__name__
            raise InvalidValue(f"attribute '{name}' has no form in bytecode")
        tag, payload = write
        self.varint(tag)
        payload(self, attribute)

    def string(self, text: str) -> None:
        """Write the index of a string."""
        self.varint(self.pools.strings.index(text))

    def constant(self, attribute: DenseElementsAttr) -> None:
        """Write the index of a constant."""
        type = attribute.type
        if not isinstance(type, TileType):
            raise InvalidValue(f"expected the type of a constant to be a tile, got '{type}'")
        self.varint(self.pools.constants.index(encode_constant(attribute, type)))


def _write_integer(writer: Writer, attribute: IntegerAttr) -> None:
    type = attribute.type
    writer.varint(writer.pools.types.index(type))
    assert isinstance(type, IntegerType)
    writer.varint(to_unsigned(attribute.value, type.width))


def _write_float(writer: Writer, attribute: FloatAttr) -> None:
    type = attribute.type
    writer.varint(writer.pools.types.index(type))
    assert isinstance(type, FloatType)
    if type.width <= 8:
        writer.out.append(attribute.bits)
    else:
        writer.signed_varint(to_signed(attribute.bits, 64))


def _write_type(writer: Writer, attribute: TypeAttr) -> None:
    writer.varint(writer.pools.types.index(attribute.type))


def _write_string(writer: Writer, attribute: StringAttr) -> None:
    writer.string(attribute.value)


def _write_array(writer: Writer, attribute: ArrayAttr) -> None:
    writer.varint(len(attribute.elements))
    for element in attribute.elements:
        writer.attribute(element)


def _write_dense(writer: Writer, attribute: DenseElementsAttr) -> None:
    writer.varint(writer.pools.types.index(attribute.type))
    writer.constant(attribute)


def _write_div_by(writer: Writer, attribute: DivByAttr) -> None:
    if attribute.divisor < 0 or attribute.divisor >> 64:
        raise InvalidValue(f"expected a divisor of 64 bits, got {attribute.divisor}")
    writer.varint(attribute.divisor)
    _write_optional_pair(writer, attribute.every, attribute.along)


def _write_optional_pair(writer: Writer, first: int | None, second: int | None) -> None:
    writer.out.append((first is not None) | (second is not None) << 1)
    for value in (first, second):
        if value is not None:
            writer.signed_varint(value)


def _write_same_elements(writer: Writer, attribute: SameElementsAttr) -> None:
    writer.words(attribute.values, 8)


def _write_dictionary(writer: Writer, attribute: DictionaryAttr) -> None:
    writer.varint(len(attribute.entries))
    for name, value in attribute.entries:
        writer.string(name)
        writer.attribute(value)


def _write_hints(writer: Writer, attribute: OptimizationHintsAttr) -> None:
    _write_dictionary(writer, attribute.entries)


def _write_bounded(writer: Writer, attribute: BoundedAttr) -> None:
    _write_optional_pair(writer, attribute.lower, attribute.upper)


_WRITERS: Final[dict[type[Attribute], tuple[int, Callable[[Writer, Any], None]]]] = {
    IntegerAttr: (AttributeTag.INTEGER, _write_integer),
    FloatAttr: (AttributeTag.FLOAT, _write_float),
    TypeAttr: (AttributeTag.TYPE, _write_type),
    StringAttr: (AttributeTag.STRING, _write_string),
    ArrayAttr: (AttributeTag.ARRAY, _write_array),
    DenseElementsAttr: (AttributeTag.DENSE_ELEMENTS, _write_dense),
    DivByAttr: (AttributeTag.DIV_BY, _write_div_by),
    SameElementsAttr: (AttributeTag.SAME_ELEMENTS, _write_same_elements),
    DictionaryAttr: (AttributeTag.DICTIONARY, _write_dictionary),
    OptimizationHintsAttr: (AttributeTag.OPTIMIZATION_HINTS, _write_hints),
    BoundedAttr: (AttributeTag.BOUNDED, _write_bounded),
}

FieldWriter = Callable[[Writer, Any], None]
"""Writes an attribute of an operation."""


def field_writer(kind: AttributeKind[Any]) -> FieldWriter:
    """Return the writer of a declared attribute kind."""
    if isinstance(kind, EnumKind):
        return _write_enum
    make = _FIELD_WRITERS.get(kind.__class__)
    if make is None:
        raise InternalError(f"bytecode has no form for a {kind.description}")
    return make(kind)


def _write_enum(writer: Writer, attribute: EnumAttr) -> None:
    if attribute.value < 0:
        raise InvalidValue(f"'{attribute.keyword}' has no form in bytecode")
    writer.varint(attribute.value)


def _integer_writer(type: IntegerType) -> FieldWriter:
    width = type.width
    return lambda writer, attribute: writer.varint(to_unsigned(attribute.value, width))


def _array_writer(element: IntegerType) -> FieldWriter:
    size = element_bytes(element)

    def write(writer: Writer, attribute: DenseArrayAttr) -> None:
        writer.words(attribute.values, size)

    return write


def _instance_writer(kind: InstanceKind[Any]) -> FieldWriter:
    if kind.kind is DenseElementsAttr:
        return Writer.constant
    if kind.kind is OptimizationHintsAttr:
        return _write_hints
    return Writer.attribute


_FIELD_WRITERS: Final[dict[type[AttributeKind[Any]], Callable[[Any], FieldWriter]]] = {
    IntegerKind: lambda kind: _integer_writer(kind.type),
    BoolKind: lambda kind: lambda writer, attribute: writer.out.append(attribute.value),
    StringKind: lambda kind: _write_string,
    SymbolKind: lambda kind: lambda writer, attribute: writer.string(attribute.leaf),
    TypeKind: lambda kind: _write_type,
    IntegerArrayKind: lambda kind: _array_writer(kind.element),
    ArrayKind: lambda kind: _write_array,
    InstanceKind: lambda kind: _instance_writer(kind),
}
