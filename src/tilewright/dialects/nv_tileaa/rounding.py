"""Which rounding modes and modifiers an operation may have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.attributes import RoundingMode
from tilewright.ir.types import F8E8M0FNU, F32, F64, TF32
from tilewright.support.floats import FORMATS, widens

if TYPE_CHECKING:
    from tilewright.ir.types import FloatType
    from tilewright.ir.values import Value

IEEE: Final = (
    RoundingMode.NEAREST_EVEN,
    RoundingMode.ZERO,
    RoundingMode.NEGATIVE_INF,
    RoundingMode.POSITIVE_INF,
)

ROUNDING_SYNTAX: Final = "(`rounding` `<` $rounding_mode^ `>`)?"
FLUSH_SYNTAX: Final = "(`flush_to_zero` $flush_to_zero^)?"


def rounding_problems(mode: RoundingMode, allowed: tuple[RoundingMode, ...]) -> Iterator[str]:
    """What is wrong with a mode, where only some are allowed."""
    if mode not in allowed:
        expected = " or ".join(rounding.keyword for rounding in allowed)
        yield f"expected rounding mode {expected}, got {mode.keyword}"


def f32_problems(modifier: str, present: bool, value: Value) -> Iterator[str]:
    """What is wrong with a modifier that only single precision has."""
    element = element_of(value.type)
    if present and element is not F32:
        yield f"expected f32 elements with {modifier}, got {element}"


def conversion_roundings(source: FloatType, result: FloatType) -> tuple[RoundingMode, ...]:
    """The modes in which `fp_to_fp` converts from one float type to another."""
    if result is F8E8M0FNU:
        return (RoundingMode.ZERO, RoundingMode.POSITIVE_INF)
    if result.width <= 8:
        return (RoundingMode.NEAREST_EVEN,)
    if widens(FORMATS[source.format], FORMATS[result.format]):
        return (*IEEE, RoundingMode.NEAREST_AWAY)
    if source is F64 and result is F32:
        return IEEE
    if source is F32 and result is TF32:
        return (RoundingMode.NEAREST_EVEN, RoundingMode.ZERO, RoundingMode.NEAREST_AWAY)
    return (RoundingMode.NEAREST_EVEN, RoundingMode.ZERO)
