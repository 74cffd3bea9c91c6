"""Base classes of the predicates of `assume` in cuda_tile and nv_tileaa.

They define parameters, assembly format and parameter checks; a subclass declares the slots and
checks the type of the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from tilewright.ir.attributes import Parametric
from tilewright.support.bits import is_power_of_two

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser

_MAX_DIVISOR: Final = 1 << 62


class Assumption(Parametric):
    """Base of the assumptions about a value."""

    __slots__ = ()

    def value_problem(self, type: Type) -> str | None:
        """Check the type of the value; returns an error message or `None`."""
        raise NotImplementedError

    def print(self, printer: AttributePrinter | None) -> str:
        """The text after the mnemonic; needs no printer."""
        raise NotImplementedError

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        raise NotImplementedError


class DivBy(Assumption):
    """`div_by<16, every 4 along 1>`: divisibility of each element, or group."""

    __slots__ = ()

    divisor: int
    every: int | None
    along: int | None

    def __new__(cls, divisor: int, every: int | None = None, along: int | None = None) -> Self:
        return cls.unique(divisor, every, along)

    @staticmethod
    def parameter_problem(divisor: int, every: int | None, along: int | None) -> str | None:
        """Check the parameters; returns an error message or `None`."""
        if not is_power_of_two(divisor) or divisor > _MAX_DIVISOR:
            return f"'div_by' expects a power of two up to 2^62, got {divisor}"
        if (every is None) != (along is None):
            return "'div_by' takes 'every' and 'along' together"
        return None

    def group_problem(self, shape: Sequence[int]) -> str | None:
        """Check the groups against a tile shape; returns an error message or `None`."""
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

    def print(self, printer: AttributePrinter | None) -> str:
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


class SameElements(Assumption):
    """`same_elements<[1, 4]>`: all elements of a block of that shape are equal."""

    __slots__ = ()

    values: tuple[int, ...]

    def __new__(cls, values: tuple[int, ...]) -> Self:
        return cls.unique(values)

    def block_problem(self, shape: Sequence[int]) -> str | None:
        """Check the blocks against a tile shape; returns an error message or `None`."""
        if len(self.values) != len(shape):
            return f"'same_elements' expects {len(shape)} values, got {len(self.values)}"
        for value, extent in zip(self.values, shape, strict=True):
            if not 0 <= value <= extent:
                return f"'same_elements' expects a value from 0 to {extent}, got {value}"
        return None

    def print(self, printer: AttributePrinter | None) -> str:
        return f"<{list(self.values)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.expect("<")
        values = parser.listed(parser.integer, "[", "]")
        parser.expect(">")
        return cls(tuple(values))


class Bounded(Assumption):
    """`bounded<0, ?>`: an inclusive signed range of every element."""

    __slots__ = ()

    lower: int | None
    upper: int | None

    def __new__(cls, lower: int | None, upper: int | None) -> Self:
        return cls.unique(lower, upper)

    def width_problem(self, width: int) -> str | None:
        """Check the bounds against an integer width; returns an error message or `None`."""
        limit = 1 << (width - 1)
        for bound in (self.lower, self.upper):
            if bound is not None and not -limit <= bound < limit:
                return f"'bounded' expects bounds from {-limit} to {limit - 1}, got {bound}"
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            return f"'bounded' expects {self.lower} not to be above {self.upper}"
        return None

    def print(self, printer: AttributePrinter | None) -> str:
        lower, upper = ("?" if bound is None else bound for bound in (self.lower, self.upper))
        return f"<{lower}, {upper}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.expect("<")
        lower = None if parser.accept("?") else parser.integer()
        parser.expect(",")
        upper = None if parser.accept("?") else parser.integer()
        parser.expect(">")
        return cls(lower, upper)
