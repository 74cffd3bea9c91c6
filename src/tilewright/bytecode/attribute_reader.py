"""Read attributes: self-describing ones with a tag, and ones of a declared kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from tilewright.bytecode.opcodes import AttributeTag
from tilewright.bytecode.tables import ConstantTable, StringTable
from tilewright.bytecode.types import TypeTable
from tilewright.bytecode.varint import Cursor
from tilewright.dialects.cuda_tile.attributes import (
    BoundedAttr,
    DivByAttr,
    OptimizationHintsAttr,
    SameElementsAttr,
)
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
    UnitKind,
)
from tilewright.ir.attributes import (
    UNIT,
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DenseElementsAttr,
    DictionaryAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    Type,
    TypeAttr,
    element_bytes,
)
from tilewright.ir.types import I1, FloatType, IntegerType
from tilewright.support.bits import to_signed
from tilewright.support.diagnostics import InternalError, InvalidValue

T = TypeVar("T")

MAX_ATTRIBUTE_NESTING: Final = 64

_BOOLEANS: Final = bytes([0] + 255 * [1])
"""The boolean of each byte."""


class Reader(Cursor):
    """A cursor with access to the tables of a file."""

    __slots__ = ("constants", "nesting", "strings", "types")

    def __init__(
        self,
        part: Cursor,
        strings: StringTable,
        types: TypeTable,
        constants: ConstantTable,
    ) -> None:
        self.data = part.data
        self.at = part.at
        self.end = part.end
        self.base = part.base
        self.file = part.file
        self.title = part.title
        self.strings = strings
        self.types = types
        self.constants = constants
        self.nesting = 0

    def part(self, size: int, title: str) -> Cursor:
        """Take the next bytes as a separate cursor."""
        base = self.base + self.at
        return Cursor(self.take(size), base, self.file, title)

    def attribute(self) -> Attribute:
        """Read an attribute that starts with its tag."""
        at = self.at
        tag = self.varint()
        read = _READERS.get(tag)
        if read is None:
            self.fail(f"expected the tag of an attribute, 1 to {len(_READERS)}, found {tag}", at)
        try:
            return read(self)
        except InvalidValue as problem:
            self.fail(str(problem), at)

    def members(self, what: str, size: int, read: Callable[[Reader], T]) -> tuple[T, ...]:
        """Read the members of an attribute, each of at least `size` bytes."""
        if self.nesting == MAX_ATTRIBUTE_NESTING:
            self.fail(f"expected at most {self.nesting} nested attributes, found more")
        self.nesting += 1
        members = tuple([read(self) for _ in range(self.count(what, size))])
        self.nesting -= 1
        return members

    def hints(self) -> OptimizationHintsAttr:
        """Hints without their tag."""
        at = self.at
        try:
            return OptimizationHintsAttr(_read_dictionary(self))
        except InvalidValue as problem:
            self.fail(str(problem), at)

    def name(self, what: str) -> str:
        """Read a nonempty string."""
        at = self.at
        name = self.strings.read(self)
        if not name:
            self.fail(f"expected the name of {what}, found an empty string", at)
        return name

    def boolean(self) -> int:
        """Read a byte: 0 is false, all others are true."""
        return _BOOLEANS[self.byte()]

    def integer(self, type: IntegerType) -> IntegerAttr:
        """Read an integer of a known type."""
        if type is I1:
            return IntegerAttr(self.boolean(), I1)
        at = self.at
        pattern = self.varint()
        if pattern >> type.width:
            self.fail(f"expected an integer of {type.width} bits, found {pattern}", at)
        return IntegerAttr(to_signed(pattern, type.width), type)

    def array(self, element: IntegerType) -> DenseArrayAttr:
        """Read a list of integers of a known type."""
        at = self.at
        if element is I1:
            flags = self.take(self.count("elements"))
            return DenseArrayAttr(element, tuple(flags.translate(_BOOLEANS)))
        values = self.words(element_bytes(element), "elements")
        # NVIDIA's readers reserve the two ends of the range.
        top = (1 << element.width - 1) - 1
        if any(not -top <= value < top for value in values):
            self.fail(f"expected elements from {-top} to {top - 1}, found one beyond", at)
        return DenseArrayAttr(element, values)


def _read_integer(reader: Reader) -> Attribute:
    at = reader.at
    type = reader.types.read(reader)
    if not isinstance(type, IntegerType):
        reader.fail(f"expected the type of an integer, found '{type}'", at)
    return reader.integer(type)


def _read_float(reader: Reader) -> Attribute:
    at = reader.at
    type = reader.types.read(reader)
    if not isinstance(type, FloatType):
        reader.fail(f"expected the type of a float, found '{type}'", at)
    at = reader.at
    bits = reader.byte() if type.width <= 8 else _read_pattern(reader)
    if bits >> type.width:
        reader.fail(f"expected a pattern of {type.width} bits, found 0x{bits:x}", at)
    return FloatAttr(bits, type)


def _read_pattern(reader: Reader) -> int:
    """Read a zigzag number that encodes an unsigned 64-bit pattern.

    cuTile Python doubles the pattern instead of converting it to a signed number, so a pattern
    with its top bit set is encoded as an even number of 65 bits.
    """
    number = reader.long_varint()
    if not number & 1:
        return number >> 1
    return number if number >> 64 else ~(number >> 1) & (1 << 64) - 1


def _read_bool(reader: Reader) -> Attribute:
    return IntegerAttr(reader.boolean(), I1)


def _read_type(reader: Reader) -> Attribute:
    return TypeAttr(reader.types.read(reader))


def _read_string(reader: Reader) -> Attribute:
    return StringAttr(reader.strings.read(reader))


def _read_array(reader: Reader) -> Attribute:
    return ArrayAttr(reader.members("elements", 2, Reader.attribute))


def _read_dense(reader: Reader) -> Attribute:
    return reader.constants.read(reader, reader.types.read(reader))


def _read_div_by(reader: Reader) -> Attribute:
    divisor = reader.varint()
    present = reader.byte()
    every = reader.signed_varint() if present & 1 else None
    return DivByAttr(divisor, every, reader.signed_varint() if present & 2 else None)


def _read_same_elements(reader: Reader) -> Attribute:
    return SameElementsAttr(reader.words(8, "elements"))


def _read_dictionary(reader: Reader) -> DictionaryAttr:
    return DictionaryAttr(reader.members("entries", 3, _read_entry))


def _read_entry(reader: Reader) -> tuple[str, Attribute]:
    return reader.name("an entry"), reader.attribute()


def _read_hints(reader: Reader) -> Attribute:
    return OptimizationHintsAttr(_read_dictionary(reader))


def _read_bounded(reader: Reader) -> Attribute:
    present = reader.byte()
    lower = reader.signed_varint() if present & 1 else None
    return BoundedAttr(lower, reader.signed_varint() if present & 2 else None)


_READERS: Final[dict[int, Callable[[Reader], Attribute]]] = {
    AttributeTag.INTEGER: _read_integer,
    AttributeTag.FLOAT: _read_float,
    AttributeTag.BOOL: _read_bool,
    AttributeTag.TYPE: _read_type,
    AttributeTag.STRING: _read_string,
    AttributeTag.ARRAY: _read_array,
    AttributeTag.DENSE_ELEMENTS: _read_dense,
    AttributeTag.DIV_BY: _read_div_by,
    AttributeTag.SAME_ELEMENTS: _read_same_elements,
    AttributeTag.DICTIONARY: _read_dictionary,
    AttributeTag.OPTIMIZATION_HINTS: _read_hints,
    AttributeTag.BOUNDED: _read_bounded,
}

FieldReader = Callable[[Reader, Sequence[Type]], Attribute]
"""Reads an attribute of an operation, given its result types."""


def field_reader(kind: AttributeKind[Any]) -> FieldReader:
    """Return the reader of a declared attribute kind."""
    make = _FIELD_READERS.get(kind.__class__)
    if make is None:
        raise InternalError(f"bytecode has no form for a {kind.description}")
    return make(kind)


def _enum_reader(enum: type[EnumAttr]) -> FieldReader:
    members = {member.value: member for member in enum if member.value >= 0}

    def read(reader: Reader, types: Sequence[Type]) -> Attribute:
        at = reader.at
        number = reader.varint()
        member = members.get(number)
        if member is None:
            known = ", ".join(f"{member.keyword} {value}" for value, member in members.items())
            reader.fail(f"expected one of {known}, found {number}", at)
        return member

    return read


def _instance_reader(kind: InstanceKind[Any]) -> FieldReader:
    if kind.kind is DenseElementsAttr:
        return lambda reader, types: reader.constants.read(reader, types[0])
    if kind.kind is OptimizationHintsAttr:
        return lambda reader, types: reader.hints()

    def read(reader: Reader, types: Sequence[Type]) -> Attribute:
        at = reader.at
        attribute = reader.attribute()
        if not kind.accepts(attribute):
            reader.fail(f"expected {kind.description}, found tag {reader.data[at]}", at)
        return attribute

    return read


_FIELD_READERS: Final[dict[type[AttributeKind[Any]], Callable[[Any], FieldReader]]] = {
    EnumKind: lambda kind: _enum_reader(kind.enum),
    IntegerKind: lambda kind: lambda reader, types: reader.integer(kind.type),
    BoolKind: lambda kind: lambda reader, types: _read_bool(reader),
    UnitKind: lambda kind: lambda reader, types: UNIT,
    StringKind: lambda kind: lambda reader, types: _read_string(reader),
    SymbolKind: lambda kind: lambda reader, types: SymbolRefAttr(reader.name("a symbol")),
    TypeKind: lambda kind: lambda reader, types: _read_type(reader),
    IntegerArrayKind: lambda kind: lambda reader, types: reader.array(kind.element),
    ArrayKind: lambda kind: lambda reader, types: _read_array(reader),
    InstanceKind: lambda kind: _instance_reader(kind),
}
