"""The attributes of Tile IR: predicates of `assume`, and optimization hints."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from tilewright.dialects.assumptions import Assumption, Bounded, DivBy, SameElements
from tilewright.dialects.cuda_tile.enums import (
    ENUM_SINCE,
    AtomicMode,
    ComparisonOrdering,
    ComparisonPredicate,
    MemoryOrdering,
    MemoryScope,
    MultimemReduction,
    Overflow,
    PaddingValue,
    PtrAttr,
    Rounding,
    Signedness,
    SymbolVisibility,
    TileEnum,
)
from tilewright.dialects.cuda_tile.types import PtrType, TensorViewType, TileType
from tilewright.ir.attributes import Attribute, DictionaryAttr, IntegerAttr, Parametric, Type
from tilewright.ir.types import I1, I64, IntegerType
from tilewright.text.attribute_printer import keyword_or_string

if TYPE_CHECKING:
    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser

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
    "MultimemReduction",
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


class AssumePredicate(Assumption):
    """Base of the predicates of `assume`."""

    __slots__ = ()

    spelling: ClassVar[str]
    """The mnemonic without the dialect."""


def _is_integer_or_pointer(tile: TileType) -> bool:
    return isinstance(tile.element, IntegerType | PtrType)


class DivByAttr(DivBy, AssumePredicate):
    """`div_by<16, every 4 along 1>`: divisibility of each element, or group."""

    __slots__ = ("divisor", "every", "along")  # noqa: RUF023 - the order of the parameters
    mnemonic = "cuda_tile.div_by"
    spelling = "div_by"

    def value_problem(self, type: Type) -> str | None:
        problem = self.parameter_problem(self.divisor, self.every, self.along)
        if problem is not None:
            return problem
        if isinstance(type, TensorViewType):
            return None if self.every is None else "'div_by' takes no 'every' for a tensor_view"
        if not isinstance(type, TileType) or not _is_integer_or_pointer(type):
            return f"'div_by' expects a tile of integers or pointers or a tensor_view, got '{type}'"
        return self.group_problem(type.shape)


class SameElementsAttr(SameElements, AssumePredicate):
    """`same_elements<[1, 4]>`: all elements of a block of that shape are equal."""

    __slots__ = ("values",)
    mnemonic = "cuda_tile.same_elements"
    spelling = "same_elements"

    def value_problem(self, type: Type) -> str | None:
        if not isinstance(type, TileType) or not _is_integer_or_pointer(type):
            return f"'same_elements' expects a tile of integers or pointers, got '{type}'"
        return self.block_problem(type.shape)


class BoundedAttr(Bounded, AssumePredicate):
    """`bounded<0, ?>`: an inclusive signed range of every element."""

    __slots__ = ("lower", "upper")
    mnemonic = "cuda_tile.bounded"
    spelling = "bounded"

    def value_problem(self, type: Type) -> str | None:
        if not isinstance(type, TileType) or not isinstance(type.element, IntegerType):
            return f"'bounded' expects a tile of integers, got '{type}'"
        return self.width_problem(type.element.width)


class OptimizationHintsAttr(Parametric):
    """`<sm_90 = {latency = 3}, default = {}>`: hints by architecture.

    The text elides the type of integers; all are i64.
    """

    __slots__ = ("entries",)
    mnemonic = "cuda_tile.optimization_hints"

    entries: DictionaryAttr

    def __new__(cls, entries: DictionaryAttr | dict[str, Attribute]) -> Self:
        pairs = entries if isinstance(entries, dict) else dict(entries.entries)
        return cls.unique(DictionaryAttr({arch: _widened(hints) for arch, hints in pairs.items()}))

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        (entries,) = parameters
        assert isinstance(entries, DictionaryAttr)
        for name, value in entries.entries:
            if not isinstance(value, DictionaryAttr):
                return f"expected a dictionary for optimization hint '{name}'"
        return None

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        parts = [
            f"{keyword_or_string(arch)} = {_print_hints(entry, printer)}"
            for arch, entry in self.entries.entries
        ]
        return f"<{', '.join(parts)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        entries: dict[str, Attribute] = {}

        def entry() -> None:
            at = parser.at
            arch = parser.string() if parser.peek().startswith('"') else parser.keyword()
            if arch in entries:
                parser.error(f"expected one entry for '{arch}', got another", at)
            parser.expect("=")
            at = parser.at
            entries[arch] = value = parser.attribute()
            if not isinstance(value, DictionaryAttr):
                parser.error(f"expected a dictionary for optimization hint '{arch}'", at)

        parser.listed(entry, "<", ">")
        return cls(entries)


def _widened(value: Attribute) -> Attribute:
    if isinstance(value, DictionaryAttr):
        return DictionaryAttr({name: _widened(inner) for name, inner in value.entries})
    if isinstance(value, IntegerAttr) and value.type is not I1:
        return IntegerAttr(value.value, I64)
    return value


def _print_hints(entry: Attribute, printer: AttributePrinter) -> str:
    assert isinstance(entry, DictionaryAttr)
    parts = [
        f"{keyword_or_string(name)} = {_print_hint(value, printer)}"
        for name, value in entry.entries
    ]
    return f"{{{', '.join(parts)}}}"


def _print_hint(value: Attribute, printer: AttributePrinter) -> str:
    """Print a value without its type; NVIDIA's compiler accepts integers only."""
    if isinstance(value, IntegerAttr) and value.type is not I1:
        return str(value.value)
    return printer.attribute(value)
