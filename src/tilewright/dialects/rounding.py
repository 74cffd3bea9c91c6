"""Rounding modes and modifiers of float arithmetic: assembly formats, and supported types.

`cuda_tile` and `nv_tileaa` have operations, tile types and rounding modes of their own, but the
same rules for valid combinations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TypeVar

from tilewright.ir.attributes import EnumAttr
from tilewright.ir.types import F8E8M0FNU, F32, F64, TF32, FloatType
from tilewright.support.floats import FORMATS, widens

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type

Mode = TypeVar("Mode", bound=EnumAttr)

FLUSH_SYNTAX: Final = "(`flush_to_zero` $flush_to_zero^)?"
EXTREMUM_SYNTAX: Final = (
    "$lhs `,` $rhs oilist(`flush_to_zero` $flush_to_zero | `propagate_nan` $propagate_nan) "
    "attr-dict `:` type($result)"
)
"""The assembly format of maximum and minimum."""
_SINGLE_PRECISION: Final = ("APPROX", "FULL")
"""The rounding modes that only f32 supports."""
_IEEE: Final = ("NEAREST_EVEN", "ZERO", "NEGATIVE_INF", "POSITIVE_INF")


def ieee_roundings(modes: type[Mode]) -> tuple[Mode, ...]:
    """The IEEE 754 rounding modes of a dialect."""
    return tuple(modes[name] for name in _IEEE)


def conversion_roundings(
    modes: type[Mode], source: FloatType, result: FloatType
) -> tuple[Mode, ...]:
    """The rounding modes of a dialect for a conversion between float types."""
    return tuple(modes[name] for name in _conversion_names(source, result))


def _conversion_names(source: FloatType, result: FloatType) -> tuple[str, ...]:
    if result is F8E8M0FNU:
        return ("ZERO", "POSITIVE_INF")
    if result.width <= 8:
        return ("NEAREST_EVEN",)
    if widens(FORMATS[source.format], FORMATS[result.format]):
        return (*_IEEE, "NEAREST_AWAY")
    if source is F64 and result is F32:
        return _IEEE
    if source is F32 and result is TF32:
        return ("NEAREST_EVEN", "ZERO", "NEAREST_AWAY")
    return ("NEAREST_EVEN", "ZERO")


def rounding_problems(mode: Mode, allowed: tuple[Mode, ...]) -> Iterator[str]:
    """Check that a rounding mode is allowed."""
    if mode not in allowed:
        expected = " or ".join(rounding.keyword for rounding in allowed)
        yield f"expected rounding mode {expected}, got {mode.keyword}"


def f32_problems(modifier: str, present: bool, element: Type) -> Iterator[str]:
    """Check a modifier that only f32 supports."""
    if present and element is not F32:
        yield f"expected f32 elements with {modifier}, got {element}"


def flush_problems(flush_to_zero: bool, element: Type) -> Iterator[str]:
    """Check the `flush_to_zero` flag."""
    yield from f32_problems("flush_to_zero", flush_to_zero, element)


def rounded_problems(
    mode: Mode, allowed: tuple[Mode, ...], flush_to_zero: bool, element: Type
) -> Iterator[str]:
    """Check the rounding mode and `flush_to_zero` of an operation."""
    yield from rounding_problems(mode, allowed)
    yield from flush_problems(flush_to_zero, element)
    is_fast = mode.name in _SINGLE_PRECISION
    yield from f32_problems(f"rounding mode {mode.keyword}", is_fast, element)


def conversion_problems(mode: EnumAttr, source: Type, result: Type) -> Iterator[str]:
    """Check the rounding mode of a conversion between float types."""
    if source is result:
        yield f"expected a conversion to another type than {source}, got the same"
        return
    assert isinstance(source, FloatType)
    assert isinstance(result, FloatType)
    for problem in rounding_problems(mode, conversion_roundings(type(mode), source, result)):
        yield f"{problem}, to convert {source} to {result}"
