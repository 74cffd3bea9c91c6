"""Modifiers of float arithmetic on tiles: their text forms, and the types that have them.

`cuda_tile` and `nv_tileaa` declare operations of their own over tile types and rounding modes of
their own; which combinations are valid is the same rule in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TypeVar

from tilewright.dialects.elements import element_of
from tilewright.dialects.rounding import rounding_problems
from tilewright.ir.attributes import EnumAttr
from tilewright.ir.types import F32

if TYPE_CHECKING:
    from tilewright.ir.values import Value

Mode = TypeVar("Mode", bound=EnumAttr)

FLUSH_SYNTAX: Final = "(`flush_to_zero` $flush_to_zero^)?"
EXTREMUM_SYNTAX: Final = (
    "$lhs `,` $rhs oilist(`flush_to_zero` $flush_to_zero | `propagate_nan` $propagate_nan) "
    "attr-dict `:` type($result)"
)
"""The form of maximum and minimum."""
_SINGLE_PRECISION: Final = ("APPROX", "FULL")
"""The rounding modes that only f32 has."""


def f32_problems(modifier: str, present: bool, value: Value) -> Iterator[str]:
    """What is wrong with a modifier that only single precision has."""
    element = element_of(value.type)
    if present and element is not F32:
        yield f"expected f32 elements with {modifier}, got {element}"


def flush_problems(flush_to_zero: bool, value: Value) -> Iterator[str]:
    """What is wrong with flushing subnormal operands and results to zero."""
    yield from f32_problems("flush_to_zero", flush_to_zero, value)


def rounded_problems(
    mode: Mode, allowed: tuple[Mode, ...], flush_to_zero: bool, result: Value
) -> Iterator[str]:
    """What is wrong with the modifiers of an operation that rounds."""
    yield from rounding_problems(mode, allowed)
    yield from flush_problems(flush_to_zero, result)
    is_fast = mode.name in _SINGLE_PRECISION
    yield from f32_problems(f"rounding mode {mode.keyword}", is_fast, result)
