"""Values of a generated program, and what is known about their elements."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from tilewright.testing.generate.elements import ELEMENTS, Element

Shape = tuple[int, ...]


class Tile(NamedTuple):
    """The type of a tile."""

    element: str
    shape: Shape = ()

    @property
    def kind(self) -> Element:
        """The element type."""
        return ELEMENTS[self.element]

    @property
    def elements(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def is_float(self) -> bool:
        """Whether its elements are floats."""
        return self.kind.is_float

    def of(self, element: str) -> Tile:
        """The tile type with other elements."""
        return Tile(element, self.shape)

    def shaped(self, *shape: int) -> Tile:
        """The tile type with another shape."""
        return Tile(self.element, shape)

    def __str__(self) -> str:
        return f"tile<{''.join(f'{extent}x' for extent in self.shape)}{self.element}>"

    @property
    def pointers(self) -> str:
        """The type of a tile of pointers to such elements."""
        return f"tile<{''.join(f'{extent}x' for extent in self.shape)}ptr<{self.element}>>"


class Facts(NamedTuple):
    """Bounds of elements: integers read as signed, floats that are numbers.

    Without bounds nothing is known, and floats may be infinite or no numbers.
    """

    low: float | None = None
    high: float | None = None
    is_whole: bool = False
    """Whether floats are integers."""

    @property
    def magnitude(self) -> float:
        """The largest absolute value."""
        return math.inf if self.low is None or self.high is None else max(-self.low, self.high)

    def union(self, other: Facts) -> Facts:
        """Facts that hold for the elements of either."""
        if None in (self.low, self.high, other.low, other.high):
            return UNKNOWN
        low, high = min(self.low or 0, other.low or 0), max(self.high or 0, other.high or 0)
        return Facts(low, high, self.is_whole and other.is_whole)

    def within(self, low: float, high: float) -> bool:
        """Whether all elements are known to be in range."""
        if self.low is None or self.high is None:
            return False
        return low <= self.low and self.high <= high


UNKNOWN: Final = Facts()


class Value(NamedTuple):
    """An SSA value of the program."""

    name: str
    tile: Tile
    facts: Facts


def full(element: Element) -> Facts:
    """The facts of any element of a type."""
    return UNKNOWN if element.is_float else Facts(element.low, element.high, True)


def integer_facts(low: int, high: int, element: Element) -> Facts:
    """The bounds of an integer, which wraps on overflow."""
    if element.low <= low and high <= element.high:
        return Facts(low, high, True)
    return full(element)


def float_facts(low: float, high: float, is_whole: bool, element: Element) -> Facts:
    """The bounds of a float rounded to a type; unknown on overflow."""
    slack = (
        0.0 if is_whole and max(-low, high) <= 2.0**element.precision else 2.0**-element.precision
    )
    low, high = low - abs(low) * 2 * slack, high + abs(high) * 2 * slack
    if max(-low, high) >= element.largest or (low < 0 and not element.is_signed):
        return UNKNOWN
    return Facts(low, high, is_whole)
