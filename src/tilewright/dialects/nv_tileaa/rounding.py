"""The rounding modes of arithmetic, how the text spells modifiers, and which types have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.attributes import RoundingMode
from tilewright.dialects.rounding import ieee_roundings
from tilewright.ir.types import F32

if TYPE_CHECKING:
    from tilewright.ir.values import Value

IEEE: Final = ieee_roundings(RoundingMode)

ROUNDING_SYNTAX: Final = "(`rounding` `<` $rounding_mode^ `>`)?"
FLUSH_SYNTAX: Final = "(`flush_to_zero` $flush_to_zero^)?"


def f32_problems(modifier: str, present: bool, value: Value) -> Iterator[str]:
    """What is wrong with a modifier that only single precision has."""
    element = element_of(value.type)
    if present and element is not F32:
        yield f"expected f32 elements with {modifier}, got {element}"
