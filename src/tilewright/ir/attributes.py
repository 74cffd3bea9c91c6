"""Attributes: immutable compile-time data, uniqued so that `is` is equality."""

from __future__ import annotations

from _thread import allocate_lock  # `threading.Lock` at a tenth of the start-up time
from _weakref import ref
from enum import Enum
from itertools import pairwise
from typing import ClassVar, Self, TypeVar, cast

from tilewright.support.diagnostics import InvalidValue
from tilewright.support.location import Location

T = TypeVar("T")


class Attribute:
    """Base of attributes and types. Attributes are uniqued: equal contents are the same object."""

    __slots__ = ()

    mnemonic: ClassVar[str] = ""
    """`dialect.name` of a dialect's attribute or type; empty for MLIR's builtin ones."""


class EnumAttr(Attribute, Enum):
    """Base of enumerations whose members are attributes; a member's value is its number.

    The keyword in the text is the member's name in lower case. A class with a `mnemonic` has a
    dialect attribute of that name, `#dialect.name<keyword>`, or `#dialect<name keyword>` if it is
    `wrapped`; without one the generic form is a plain integer, i32 unless a `width` is given.
    """

    __hash__ = object.__hash__

    _value_: int
    width: ClassVar[int]
    """Bit width of the integer in the generic form."""
    wrapped: ClassVar[bool]
    """Whether the name stands inside the angle brackets."""

    def __init_subclass__(cls, mnemonic: str = "", width: int = 32, wrapped: bool = False) -> None:
        cls.mnemonic = mnemonic
        cls.width = width
        cls.wrapped = wrapped

    @property
    def keyword(self) -> str:
        """The spelling of this member in the text."""
        return self.name.lower()

    def keyword_in(self, style: str) -> str:
        """The spelling of this member in a printing style."""
        return self.keyword

    @classmethod
    def from_keyword(cls, keyword: str) -> Self | None:
        """The member with this spelling."""
        return cls.__members__.get(keyword.upper()) if keyword.islower() else None

    def __str__(self) -> str:
        if not self.mnemonic:
            return f"{self.value} : i{self.width}"
        if not self.wrapped:
            return f"#{self.mnemonic}<{self.keyword}>"
        dialect, _, name = self.mnemonic.partition(".")
        return f"#{dialect}<{name} {self.keyword}>"


class _Entry(ref["Parametric"]):
    """A pool entry that knows its key, so that it can leave when its object dies."""

    __slots__ = ("key",)

    key: tuple[object, ...]


_pool: dict[tuple[object, ...], _Entry] = {}
_lock = allocate_lock()


def _forget(entry: ref[Parametric]) -> None:
    assert isinstance(entry, _Entry)
    if _pool.get(entry.key) is entry:
        del _pool[entry.key]


class Parametric(Attribute):
    """Base of types and attributes with parameters: the slots, in order.

    A subclass declares `__slots__`, annotates them, and gives a typed `__new__` that returns
    `cls.unique(...)`. The pool holds weak references, so that a long-lived process does not
    accumulate the constants of every kernel it compiled.
    """

    __slots__ = ("__weakref__",)

    @classmethod
    def unique(cls, *parameters: object) -> Self:
        """The one object of this class with these parameters; raises `InvalidValue`."""
        key = (cls, *parameters)
        entry = _pool.get(key)
        if entry is not None:
            existing = entry()
            if existing is not None:
                return existing  # pyrefly: ignore[bad-return]
        return cls._make(key)

    @classmethod
    def _make(cls, key: tuple[object, ...]) -> Self:
        problem = cls.problem(*key[1:])
        if problem is not None:
            raise InvalidValue(problem)
        made = object.__new__(cls)
        for slot, value in zip(cls.__slots__, key[1:], strict=True):
            object.__setattr__(made, slot, value)
        with _lock:
            entry = _pool.get(key)
            existing = entry() if entry is not None else None
            if existing is not None:
                return existing  # pyrefly: ignore[bad-return]
            entry = _Entry(made, _forget)
            entry.key = key
            _pool[key] = entry
        return made

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        """Why the parameters are invalid, or `None`. Runs once for each new object."""
        return None

    @property
    def parameters(self) -> tuple[object, ...]:
        """The parameters, in the order of the slots."""
        return tuple(getattr(self, slot) for slot in type(self).__slots__)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self.parameters

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.parameters!r}"


class Type(Parametric):
    """Base of the types of values."""

    __slots__ = ()

    def spell(self) -> str:
        """The text form, without the `!dialect.` that a dialect's type may have in front."""
        raise NotImplementedError

    def __str__(self) -> str:
        if not self.mnemonic:
            return self.spell()
        return f"!{self.mnemonic.partition('.')[0]}.{self.spell()}"


class UnitAttr(Parametric):
    """`unit`: carries no value, only its presence."""

    __slots__ = ()

    def __new__(cls) -> Self:
        return cls.unique()


class StringAttr(Parametric):
    """`"text"`."""

    __slots__ = ("value",)
    value: str

    def __new__(cls, value: str) -> Self:
        return cls.unique(value)


class IntegerAttr(Parametric):
    """`42 : i32`; the value is signed unless the type says otherwise. i1 holds 0 or 1."""

    __slots__ = ("type", "value")
    type: Type
    value: int

    def __new__(cls, value: int, type: Type) -> Self:
        return cls.unique(type, value)

    def __reduce__(self) -> tuple[object, ...]:
        return IntegerAttr, (self.value, self.type)

    def __str__(self) -> str:
        return f"{self.value} : {self.type}"


class FloatAttr(Parametric):
    """`1.0 : f32`, kept as the bit pattern of its type, so that NaN payloads survive."""

    __slots__ = ("bits", "type")
    bits: int
    type: Type

    def __new__(cls, bits: int, type: Type) -> Self:
        return cls.unique(bits, type)


class ArrayAttr(Parametric):
    """`[a, b]`."""

    __slots__ = ("elements",)
    elements: tuple[Attribute, ...]

    def __new__(cls, elements: tuple[Attribute, ...]) -> Self:
        return cls.unique(elements)


class DictionaryAttr(Parametric):
    """`{a = 1, b}`: entries sorted by name, as MLIR keeps them."""

    __slots__ = ("entries",)
    entries: tuple[tuple[str, Attribute], ...]

    def __new__(cls, entries: tuple[tuple[str, Attribute], ...] | dict[str, Attribute]) -> Self:
        pairs = entries.items() if isinstance(entries, dict) else entries
        return cls.unique(tuple(sorted(pairs, key=_first)))

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        (entries,) = cast("tuple[tuple[tuple[str, Attribute], ...]]", parameters)
        names = [name for name, _ in entries]
        repeated = next((a for a, b in pairwise(names) if a == b), None)
        return None if repeated is None else f"duplicate key '{repeated}' in dictionary attribute"

    def get(self, name: str) -> Attribute | None:
        """The value of an entry, or nothing."""
        return next((value for key, value in self.entries if key == name), None)


def _first(pair: tuple[str, Attribute]) -> str:
    return pair[0]


class TypeAttr(Parametric):
    """A type used as an attribute."""

    __slots__ = ("type",)
    type: Type

    def __new__(cls, type: Type) -> Self:
        return cls.unique(type)


class SymbolRefAttr(Parametric):
    """`@name` or `@outer::@inner`."""

    __slots__ = ("path",)
    path: tuple[str, ...]

    def __new__(cls, *path: str) -> Self:
        return cls.unique(path)

    def __reduce__(self) -> tuple[object, ...]:
        return SymbolRefAttr, self.path

    @property
    def leaf(self) -> str:
        """The last name of the path."""
        return self.path[-1]


class DenseArrayAttr(Parametric):
    """`array<i32: 1, 2>`: integers, booleans (0 or 1), or the bit patterns of floats."""

    __slots__ = ("element", "values")
    element: Type
    values: tuple[int, ...]

    def __new__(cls, element: Type, values: tuple[int, ...]) -> Self:
        return cls.unique(element, values)


class DenseElementsAttr(Parametric):
    """`dense<...> : type`: a splat or all elements of a shaped constant.

    `data` holds little-endian elements, row by row, each in the whole bytes that its type needs
    (one byte for i1); a splat holds one element. Splats are always stored as such.
    """

    __slots__ = ("data", "type")
    data: bytes
    type: Type

    def __new__(cls, data: bytes, type: Type) -> Self:
        size = element_bytes(type.element)  # pyrefly: ignore[missing-attribute]
        if len(data) > size and data == data[:size] * (len(data) // size):
            data = data[:size]
        return cls.unique(data, type)

    @property
    def is_splat(self) -> bool:
        """Whether all elements are the one that is stored."""
        return len(self.data) == element_bytes(self.type.element)  # pyrefly: ignore[missing-attribute]

    def elements(self) -> list[int]:
        """The stored elements as bit patterns: one for a splat, else all, row by row."""
        size = element_bytes(self.type.element)  # pyrefly: ignore[missing-attribute]
        data = self.data
        if size == 1:
            return list(data)
        return [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]


def element_bytes(element: Type) -> int:
    """Bytes of an element in dense data."""
    return (element.width + 7) // 8  # pyrefly: ignore[missing-attribute]


class LocationAttr(Parametric):
    """A location used as an attribute."""

    __slots__ = ("location",)
    location: Location

    def __new__(cls, location: Location) -> Self:
        return cls.unique(location)


class OpaqueAttr(Parametric):
    """An opaque attribute, kept as text: of an unregistered dialect, or meaningful only to MLIR."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        return cls.unique(text)

    def __str__(self) -> str:
        return self.text


UNIT = UnitAttr()
