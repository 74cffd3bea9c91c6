"""What `assume` may promise of a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Self

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.types import MemrefType, PtrType
from tilewright.ir.attribute_kinds import InstanceKind
from tilewright.ir.attributes import Parametric, Type
from tilewright.ir.types import IntegerType
from tilewright.support.bits import is_power_of_two

if TYPE_CHECKING:
    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser

_MAX_DIVISOR: Final = 1 << 62


class Predicate(Parametric):
    """Base of the promises."""

    __slots__ = ()

    is_elementwise: ClassVar[bool] = True
    """Whether it says the same of every element, wherever that stands."""

    def value_problem(self, type: Type) -> str | None:
        """Why this cannot be said of a value of that type, or nothing."""
        raise NotImplementedError

    def spell(self) -> str:
        """What stands between the angle brackets."""
        raise NotImplementedError

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        return f"<{self.spell()}>"


class DivByAttr(Predicate):
    """`#nv_tileaa.div_by<16, every 4 along 1>`: elements, or the first of each group, divide."""

    __slots__ = ("divisor", "every", "along")  # noqa: RUF023 - the order of the parameters
    mnemonic = "nv_tileaa.div_by"

    divisor: int
    every: int | None
    along: int | None

    def __new__(cls, divisor: int, every: int | None = None, along: int | None = None) -> Self:
        return cls.unique(divisor, every, along)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        divisor, every, along = parameters
        assert isinstance(divisor, int)
        if not is_power_of_two(divisor) or divisor > _MAX_DIVISOR:
            return f"'div_by' expects a power of two up to 2^62, got {divisor}"
        if (every is None) != (along is None):
            return "'div_by' takes 'every' and 'along' together"
        return None

    @property
    def is_elementwise(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Groups depend on where an element stands."""
        return self.every is None

    def value_problem(self, type: Type) -> str | None:
        if isinstance(type, MemrefType):
            return None if self.every is None else "'div_by' takes no 'every' for a memref"
        if not isinstance(element_of(type), IntegerType | PtrType):
            return f"'div_by' expects integers, pointers or a memref, got '{type}'"
        if self.every is None or self.along is None:
            return None
        extents = shape(type)
        if not 0 <= self.along < len(extents):
            return f"'div_by' expects 'along' below the rank {len(extents)}, got {self.along}"
        if not 0 <= self.every <= extents[self.along]:
            extent = extents[self.along]
            return f"'div_by' expects 'every' from 0 to the extent {extent}, got {self.every}"
        return None

    def spell(self) -> str:
        groups = "" if self.every is None else f", every {self.every} along {self.along}"
        return f"{self.divisor}{groups}"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read what `print` writes."""
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


class SameElementsAttr(Predicate):
    """`#nv_tileaa.same_elements<[1, 4]>`: blocks of that shape hold equal elements."""

    __slots__ = ("values",)
    mnemonic = "nv_tileaa.same_elements"
    is_elementwise = False

    values: tuple[int, ...]

    def __new__(cls, values: tuple[int, ...]) -> Self:
        return cls.unique(values)

    def value_problem(self, type: Type) -> str | None:
        if not isinstance(element_of(type), IntegerType | PtrType):
            return f"'same_elements' expects integers or pointers, got '{type}'"
        extents = shape(type)
        if len(self.values) != len(extents):
            return f"'same_elements' expects {len(extents)} values, got {len(self.values)}"
        for value, extent in zip(self.values, extents, strict=True):
            if not 0 <= value <= extent:
                return f"'same_elements' expects a value from 0 to {extent}, got {value}"
        return None

    def spell(self) -> str:
        return str(list(self.values))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read what `print` writes."""
        parser.expect("<")
        values = parser.listed(parser.integer, "[", "]")
        parser.expect(">")
        return cls(tuple(values))


class BoundedAttr(Predicate):
    """`#nv_tileaa.bounded<0, ?>`: every element, read as signed, lies between, ends included."""

    __slots__ = ("lower", "upper")
    mnemonic = "nv_tileaa.bounded"

    lower: int | None
    upper: int | None

    def __new__(cls, lower: int | None, upper: int | None) -> Self:
        return cls.unique(lower, upper)

    def value_problem(self, type: Type) -> str | None:
        element = element_of(type)
        if not isinstance(element, IntegerType):
            return f"'bounded' expects integers, got '{type}'"
        limit = 1 << (element.width - 1)
        for bound in (self.lower, self.upper):
            if bound is not None and not -limit <= bound < limit:
                return f"'bounded' expects bounds from {-limit} to {limit - 1}, got {bound}"
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            return f"'bounded' expects {self.lower} not to be above {self.upper}"
        return None

    def spell(self) -> str:
        return ", ".join("?" if bound is None else str(bound) for bound in (self.lower, self.upper))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read what `print` writes."""

        def bound() -> int | None:
            return None if parser.accept("?") else parser.integer()

        parser.expect("<")
        lower = bound()
        parser.expect(",")
        upper = bound()
        parser.expect(">")
        return cls(lower, upper)


PREDICATE: Final = InstanceKind(Predicate, "assume predicate attribute")
