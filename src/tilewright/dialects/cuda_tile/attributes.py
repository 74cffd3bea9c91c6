"""The attributes of Tile IR: what `assume` may promise, and hints for the compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Self

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
from tilewright.dialects.cuda_tile.types import PtrType, TensorViewType, TileType
from tilewright.ir.attributes import Attribute, DictionaryAttr, IntegerAttr, Parametric, Type
from tilewright.ir.types import I1, I64, IntegerType
from tilewright.support.bits import is_power_of_two
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

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        raise NotImplementedError

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read what `print` writes."""
        raise NotImplementedError


_MAX_DIVISOR: Final = 1 << 62


def _is_integer_or_pointer(tile: TileType) -> bool:
    return isinstance(tile.element, IntegerType | PtrType)


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

    def value_problem(self, type: Type) -> str | None:
        if not is_power_of_two(self.divisor) or self.divisor > _MAX_DIVISOR:
            return f"'div_by' expects a power of two up to 2^62, got {self.divisor}"
        if (self.every is None) != (self.along is None):
            return "'div_by' takes 'every' and 'along' together"
        if isinstance(type, TensorViewType):
            return None if self.every is None else "'div_by' takes no 'every' for a tensor_view"
        if not isinstance(type, TileType) or not _is_integer_or_pointer(type):
            return f"'div_by' expects a tile of integers or pointers or a tensor_view, got '{type}'"
        return self._group_problem(type.shape)

    def _group_problem(self, shape: tuple[int, ...]) -> str | None:
        if self.every is None or self.along is None:
            return None
        if not shape:
            return "'div_by' takes no 'every' for a scalar"
        if not 0 <= self.along < len(shape):
            return f"'div_by' expects 'along' below the rank {len(shape)}, got {self.along}"
        if not 0 <= self.every <= shape[self.along]:
            extent = shape[self.along]
            return f"'div_by' expects 'every' from 0 to the extent {extent}, got {self.every}"
        return None

    def print(self, printer: AttributePrinter) -> str:
        groups = "" if self.every is None else f", every {self.every} along {self.along}"
        return f"<{self.divisor}{groups}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.expect("<")
        divisor = parser.integer()
        every = along = None
        if parser.accept(","):
            parser.expect("every")
            every = parser.integer()
            parser.expect("along")
            along = parser.integer()
        parser.expect(">")
        return cls(divisor, every, along)


class SameElementsAttr(AssumePredicate):
    """`same_elements<[1, 4]>`: blocks of that shape hold equal elements."""

    __slots__ = ("values",)
    mnemonic = "cuda_tile.same_elements"
    spelling = "same_elements"

    values: tuple[int, ...]

    def __new__(cls, values: tuple[int, ...]) -> Self:
        return cls.unique(values)

    def value_problem(self, type: Type) -> str | None:
        if not isinstance(type, TileType) or not _is_integer_or_pointer(type):
            return f"'same_elements' expects a tile of integers or pointers, got '{type}'"
        if len(self.values) != type.rank:
            return f"'same_elements' expects {type.rank} values, got {len(self.values)}"
        for value, extent in zip(self.values, type.shape, strict=True):
            if not 0 <= value <= extent:
                return f"'same_elements' expects a value from 0 to {extent}, got {value}"
        return None

    def print(self, printer: AttributePrinter) -> str:
        return f"<[{', '.join(map(str, self.values))}]>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.expect("<")
        values = parser.listed(parser.integer, "[", "]")
        parser.expect(">")
        return cls(tuple(values))


class BoundedAttr(AssumePredicate):
    """`bounded<0, ?>`: every element, read as signed, lies between the two, both included."""

    __slots__ = ("lower", "upper")
    mnemonic = "cuda_tile.bounded"
    spelling = "bounded"

    lower: int | None
    upper: int | None

    def __new__(cls, lower: int | None, upper: int | None) -> Self:
        return cls.unique(lower, upper)

    def value_problem(self, type: Type) -> str | None:
        if not isinstance(type, TileType) or not isinstance(type.element, IntegerType):
            return f"'bounded' expects a tile of integers, got '{type}'"
        limit = 1 << (type.element.width - 1)
        for bound in (self.lower, self.upper):
            if bound is not None and not -limit <= bound < limit:
                return f"'bounded' expects bounds from {-limit} to {limit - 1}, got {bound}"
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            return f"'bounded' expects {self.lower} not to be above {self.upper}"
        return None

    def print(self, printer: AttributePrinter) -> str:
        lower, upper = ("?" if b is None else str(b) for b in (self.lower, self.upper))
        return f"<{lower}, {upper}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.expect("<")
        lower = None if parser.accept("?") else parser.integer()
        parser.expect(",")
        upper = None if parser.accept("?") else parser.integer()
        parser.expect(">")
        return cls(lower, upper)


class OptimizationHintsAttr(Parametric):
    """`<sm_90 = {latency = 3}, default = {}>`: hints by architecture.

    The text leaves out the widths of integers, which mean nothing: all are i64 here.
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
        """Read what `print` writes."""
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
    """A value without its type: integers are all that NVIDIA's compiler takes."""
    if isinstance(value, IntegerAttr) and value.type is not I1:
        return str(value.value)
    return printer.attribute(value)
