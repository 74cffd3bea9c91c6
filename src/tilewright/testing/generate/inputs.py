"""Kernel arguments: arrays and numbers, described by keywords and a seed."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from tilewright.driver.array_text import ELEMENTS, elements_of
from tilewright.reference.tile import Array
from tilewright.testing.generate.elements import ELEMENTS as KINDS
from tilewright.testing.generate.elements import SMALL
from tilewright.testing.generate.values import UNKNOWN, Facts, full

POWERS: Final = (1.0, 2.0, 4.0)
SPECIALS: Final = (0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 3e-41, -6e-8, 65504.0)
REACH: Final = 8.0

Contents = str | tuple[float, ...]
"""What an argument holds: a keyword, or numbers."""


class Input(NamedTuple):
    """An argument of a kernel.

    `contents` is `small` for small integers, `signs` for 1 and -1, `random` for any integers and
    for floats around zero, `special` for floats of all sorts, `powers` for powers of two, `zeros`,
    or the numbers of the array.
    """

    name: str
    element: str
    length: int
    contents: Contents
    seed: int = 0
    number: bool = False
    """Whether it is passed as a number."""

    def facts(self) -> Facts:
        """The facts about the elements."""
        kind = KINDS[self.element]
        if kind.name == "i1":
            return full(kind)
        if isinstance(self.contents, tuple):
            return Facts(min(self.contents), max(self.contents), _are_whole(self.contents))
        match self.contents:
            case "small":
                return Facts(-SMALL if kind.is_signed else 0, SMALL, True)
            case "signs":
                return Facts(-1, 1, True)
            case "powers":
                return Facts(min(POWERS), max(POWERS), True)
            case "zeros":
                return Facts(0, 1, True)
            case "random" if kind.is_float:
                return Facts(-REACH if kind.is_signed else 0.0, REACH)
            case _:
                return full(kind) if not kind.is_float else UNKNOWN

    def value(self) -> Any:
        """A new array, or the number."""
        numbers = self._numbers()
        if self.number:
            return numbers[0].item()
        return elements_of(numbers, ELEMENTS[self.element])

    def _numbers(self) -> Array:
        random, kind = np.random.default_rng(self.seed), KINDS[self.element]
        match self.contents:
            case tuple():
                return np.array(self.contents, np.float64 if kind.is_float else np.int64)
            case "zeros":
                return np.full(self.length, int(self.element == "f8E8M0FNU"), np.int64)
            case "small":
                low = -SMALL if kind.is_signed and kind.bits > 1 else 0
                return random.integers(
                    low, SMALL if kind.bits > 1 else 1, self.length, endpoint=True
                )
            case "signs":
                return random.choice(np.array((-1, 1)), self.length)
            case "powers":
                return random.choice(np.array(POWERS), self.length)
            case "special":
                return random.choice(np.array(SPECIALS), self.length)
            case _ if kind.is_float:
                low = -REACH if kind.is_signed else 0.0
                return np.clip(random.standard_normal(self.length) * 3, low, REACH)
            case _:
                return random.integers(-(1 << 63), (1 << 63) - 1, self.length, endpoint=True)

    def __str__(self) -> str:
        if isinstance(self.contents, tuple):
            gist = ", ".join(map(str, self.contents[:8]))
            return f"{gist}{', ...' if len(self.contents) > 8 else ''} : {self.element}"
        return f"{self.contents}:{self.length}x{self.element}:{self.seed}"


def _are_whole(numbers: tuple[float, ...]) -> bool:
    return all(float(number).is_integer() for number in numbers)
