"""Attribute kinds: map a declared attribute to a Python value (`int`, `str`, an enum member)."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

from tilewright.ir.attributes import (
    UNIT,
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DenseElementsAttr,
    DictionaryAttr,
    EnumAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    Type,
    TypeAttr,
    UnitAttr,
)
from tilewright.ir.types import I1, I32, I64, INDEX, IndexType, IntegerType

T = TypeVar("T")
AttrT = TypeVar("AttrT", bound=Attribute)
EnumT = TypeVar("EnumT", bound=EnumAttr)


class AttributeKind(Generic[T]):
    """Converts between an attribute and the Python value that `op.field` gives."""

    __slots__ = ("description",)

    def __init__(self, description: str) -> None:
        self.description = description

    def accepts(self, attribute: Attribute) -> bool:
        """Whether the attribute is valid for the declared field."""
        raise NotImplementedError

    def unwrap(self, attribute: Attribute) -> T:
        """The Python value of an accepted attribute."""
        raise NotImplementedError

    def wrap(self, value: T) -> Attribute:
        """Wrap a Python value in an attribute."""
        raise NotImplementedError

    def coerce(self, attribute: Attribute) -> Attribute:
        """The attribute to store when the generic form spells this one."""
        return attribute

    def __repr__(self) -> str:
        return f"<{self.description}>"


class IntegerKind(AttributeKind[int]):
    """An integer of one type, with an optional lower bound."""

    __slots__ = ("minimum", "type")

    def __init__(self, type: IntegerType | IndexType, minimum: int | None = None) -> None:
        bound = "" if minimum is None else f" whose minimum value is {minimum}"
        what = "index" if type is INDEX else f"{type.width}-bit integer"
        super().__init__(f"{what} attribute{bound}")
        self.type = type
        self.minimum = minimum

    def accepts(self, attribute: Attribute) -> bool:
        if not isinstance(attribute, IntegerAttr) or attribute.type is not self.type:
            return False
        return self.minimum is None or attribute.value >= self.minimum

    def unwrap(self, attribute: Attribute) -> int:
        assert isinstance(attribute, IntegerAttr)
        return attribute.value

    def wrap(self, value: int) -> Attribute:
        return IntegerAttr(value, self.type)


class BoolKind(AttributeKind[bool]):
    """`true` or `false`."""

    __slots__ = ()

    def accepts(self, attribute: Attribute) -> bool:
        return isinstance(attribute, IntegerAttr) and attribute.type is I1

    def unwrap(self, attribute: Attribute) -> bool:
        assert isinstance(attribute, IntegerAttr)
        return attribute.value != 0

    def wrap(self, value: bool) -> Attribute:
        return IntegerAttr(int(value), I1)


class UnitKind(AttributeKind[bool]):
    """A flag: present means true. `wrap(False)` has no meaning; leave the attribute out."""

    __slots__ = ()

    def accepts(self, attribute: Attribute) -> bool:
        return isinstance(attribute, UnitAttr)

    def unwrap(self, attribute: Attribute) -> bool:
        return True

    def wrap(self, value: bool) -> Attribute:
        assert value
        return UNIT


class StringKind(AttributeKind[str]):
    """A string."""

    __slots__ = ()

    def accepts(self, attribute: Attribute) -> bool:
        return isinstance(attribute, StringAttr)

    def unwrap(self, attribute: Attribute) -> str:
        assert isinstance(attribute, StringAttr)
        return attribute.value

    def wrap(self, value: str) -> Attribute:
        return StringAttr(value)


class SymbolKind(AttributeKind[str]):
    """A reference to a symbol by its own name alone."""

    __slots__ = ()

    def accepts(self, attribute: Attribute) -> bool:
        return isinstance(attribute, SymbolRefAttr) and len(attribute.path) == 1

    def unwrap(self, attribute: Attribute) -> str:
        assert isinstance(attribute, SymbolRefAttr)
        return attribute.leaf

    def wrap(self, value: str) -> Attribute:
        return SymbolRefAttr(value)


class TypeKind(AttributeKind[Type]):
    """A type."""

    __slots__ = ()

    def accepts(self, attribute: Attribute) -> bool:
        return isinstance(attribute, TypeAttr)

    def unwrap(self, attribute: Attribute) -> Type:
        assert isinstance(attribute, TypeAttr)
        return attribute.type

    def wrap(self, value: Type) -> Attribute:
        return TypeAttr(value)


class IntegerArrayKind(AttributeKind[tuple[int, ...]]):
    """`array<i32: ...>`."""

    __slots__ = ("element",)

    def __init__(self, description: str, element: IntegerType) -> None:
        super().__init__(description)
        self.element = element

    def accepts(self, attribute: Attribute) -> bool:
        return isinstance(attribute, DenseArrayAttr) and attribute.element is self.element

    def unwrap(self, attribute: Attribute) -> tuple[int, ...]:
        assert isinstance(attribute, DenseArrayAttr)
        return attribute.values

    def wrap(self, value: tuple[int, ...]) -> Attribute:
        return DenseArrayAttr(self.element, tuple(int(item) for item in value))


class ArrayKind(AttributeKind[tuple[Attribute, ...]]):
    """`[...]`."""

    __slots__ = ()

    def accepts(self, attribute: Attribute) -> bool:
        return isinstance(attribute, ArrayAttr)

    def unwrap(self, attribute: Attribute) -> tuple[Attribute, ...]:
        assert isinstance(attribute, ArrayAttr)
        return attribute.elements

    def wrap(self, value: tuple[Attribute, ...]) -> Attribute:
        return ArrayAttr(value)


class EnumKind(AttributeKind[EnumT]):
    """A member of an enumeration."""

    __slots__ = ("enum",)

    def __init__(self, enum: type[EnumT]) -> None:
        super().__init__(f"one of {', '.join(member.keyword for member in enum)}")
        self.enum = enum

    def accepts(self, attribute: Attribute) -> bool:
        return isinstance(attribute, self.enum)

    def unwrap(self, attribute: Attribute) -> EnumT:
        assert isinstance(attribute, self.enum)
        return attribute

    def wrap(self, value: EnumT) -> Attribute:
        return value

    def coerce(self, attribute: Attribute) -> Attribute:
        if not isinstance(attribute, IntegerAttr):
            return attribute
        return next((m for m in self.enum if m.value == attribute.value), attribute)


class InstanceKind(AttributeKind[AttrT]):
    """An attribute of one class, as it is."""

    __slots__ = ("kind",)

    def __init__(self, kind: type[AttrT], description: str) -> None:
        super().__init__(description)
        self.kind = kind

    def accepts(self, attribute: Attribute) -> bool:
        return isinstance(attribute, self.kind)

    def unwrap(self, attribute: Attribute) -> AttrT:
        assert isinstance(attribute, self.kind)
        return attribute

    def wrap(self, value: AttrT) -> Attribute:
        return value


I32_ATTR: Final = IntegerKind(I32)
I64_ATTR: Final = IntegerKind(I64)
INDEX_ATTR: Final = IntegerKind(INDEX)
BOOL_ATTR: Final = BoolKind("bool attribute")
UNIT_ATTR: Final = UnitKind("unit attribute")
STRING_ATTR: Final = StringKind("string attribute")
SYMBOL_ATTR: Final = SymbolKind("flat symbol reference attribute")
TYPE_ATTR: Final = TypeKind("type attribute")
I32_ARRAY_ATTR: Final = IntegerArrayKind("i32 dense array attribute", I32)
I64_ARRAY_ATTR: Final = IntegerArrayKind("i64 dense array attribute", I64)
BOOL_ARRAY_ATTR: Final = IntegerArrayKind("i1 dense array attribute", I1)
ARRAY_ATTR: Final = ArrayKind("array attribute")
DICTIONARY_ATTR: Final = InstanceKind(DictionaryAttr, "dictionary attribute")
ELEMENTS_ATTR: Final = InstanceKind(DenseElementsAttr, "dense elements attribute")
