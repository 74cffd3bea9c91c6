"""Which rounding modes an operation may have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.ir.types import F8E8M0FNU, F32, F64, TF32
from tilewright.support.floats import FORMATS, widens

if TYPE_CHECKING:
    from tilewright.ir.types import FloatType

IEEE: Final = (
    Rounding.NEAREST_EVEN,
    Rounding.ZERO,
    Rounding.NEGATIVE_INF,
    Rounding.POSITIVE_INF,
)

ROUNDING_SYNTAX: Final = "` ` (`rounding` `<` $rounding_mode^ `>`)?"
"""`rounding<zero>`, or nothing for the default; the space in front is there in any case."""


def rounding_problems(mode: Rounding, allowed: tuple[Rounding, ...]) -> Iterator[str]:
    """What is wrong with a mode, where only some are allowed."""
    if mode not in allowed:
        expected = " or ".join(rounding.keyword for rounding in allowed)
        yield f"expected rounding mode {expected}, got {mode.keyword}"


def conversion_roundings(source: FloatType, result: FloatType) -> tuple[Rounding, ...]:
    """The modes in which `ftof` converts from one float type to another."""
    if result is F8E8M0FNU:
        return (Rounding.ZERO, Rounding.POSITIVE_INF)
    if result.width <= 8:
        return (Rounding.NEAREST_EVEN,)
    if widens(FORMATS[source.format], FORMATS[result.format]):
        return (*IEEE, Rounding.NEAREST_AWAY)
    if source is F64 and result is F32:
        return IEEE
    if source is F32 and result is TF32:
        return (Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.NEAREST_AWAY)
    return (Rounding.NEAREST_EVEN, Rounding.ZERO)
