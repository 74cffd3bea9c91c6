"""The attributes of Tile IR: what `assume` may promise, and hints for the compiler."""

from __future__ import annotations

from typing import ClassVar, Self

from tilewright.dialects.cuda_tile.enums import (
    ENUM_SINCE,
    AtomicMode,
    ComparisonOrdering,
    ComparisonPredicate,
    MemoryOrdering,
    MemoryScope,
    Overflow,
    PaddingValue,
    PtrAttr,
    Rounding,
    Signedness,
    SymbolVisibility,
    TileEnum,
)
from tilewright.ir.attributes import Attribute, DictionaryAttr, Parametric, Type

__all__ = [
    "ENUM_SINCE",
    "AssumePredicate",
    "AtomicMode",
    "BoundedAttr",
    "ComparisonOrdering",
    "ComparisonPredicate",
    "DivByAttr",
    "MemoryOrdering",
    "MemoryScope",
    "OptimizationHintsAttr",
    "Overflow",
    "PaddingValue",
    "PtrAttr",
    "Rounding",
    "SameElementsAttr",
    "Signedness",
    "SymbolVisibility",
    "TileEnum",
]


class AssumePredicate(Parametric):
    """Base of what `assume` may promise of a value."""

    __slots__ = ()

    spelling: ClassVar[str]
    """The mnemonic without the dialect."""

    def value_problem(self, type: Type) -> str | None:
        """Why this cannot be said of a value of that type, or nothing."""
        raise NotImplementedError


class DivByAttr(AssumePredicate):
    """`div_by<16, every 4 along 1>`: elements, or the first of each group, are divisible."""

    __slots__ = ("divisor", "every", "along")  # noqa: RUF023 - the order of the parameters
    mnemonic = "cuda_tile.div_by"
    spelling = "div_by"

    divisor: int
    every: int | None
    along: int | None

    def __new__(cls, divisor: int, every: int | None = None, along: int | None = None) -> Self:
        return cls.unique(divisor, every, along)


class SameElementsAttr(AssumePredicate):
    """`same_elements<[1, 4]>`: blocks of that shape hold equal elements."""

    __slots__ = ("values",)
    mnemonic = "cuda_tile.same_elements"
    spelling = "same_elements"

    values: tuple[int, ...]

    def __new__(cls, values: tuple[int, ...]) -> Self:
        return cls.unique(values)


class BoundedAttr(AssumePredicate):
    """`bounded<0, ?>`: every element, read as signed, lies between the two, both included."""

    __slots__ = ("lower", "upper")
    mnemonic = "cuda_tile.bounded"
    spelling = "bounded"

    lower: int | None
    upper: int | None

    def __new__(cls, lower: int | None, upper: int | None) -> Self:
        return cls.unique(lower, upper)


class OptimizationHintsAttr(Parametric):
    """`<sm_90 = {latency = 3}, default = {}>`: hints by architecture."""

    __slots__ = ("entries",)
    mnemonic = "cuda_tile.optimization_hints"

    entries: DictionaryAttr

    def __new__(cls, entries: DictionaryAttr | dict[str, Attribute]) -> Self:
        if isinstance(entries, dict):
            entries = DictionaryAttr(entries)
        return cls.unique(entries)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        (entries,) = parameters
        assert isinstance(entries, DictionaryAttr)
        for name, value in entries.entries:
            if not isinstance(value, DictionaryAttr):
                return f"expected a dictionary for optimization hint '{name}'"
        return None
