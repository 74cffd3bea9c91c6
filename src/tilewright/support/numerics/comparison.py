"""Comparisons of integer and float elements."""

from __future__ import annotations

import operator
from collections.abc import Callable
from enum import Enum
from typing import Final

from tilewright.support.floats import FloatFormat, is_nan
from tilewright.support.numerics.integer import number


class Predicate(Enum):
    """Comparison predicates."""

    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    LESS_THAN = "less_than"
    LESS_THAN_OR_EQUAL = "less_than_or_equal"
    GREATER_THAN = "greater_than"
    GREATER_THAN_OR_EQUAL = "greater_than_or_equal"


_HOLDS: Final[dict[Predicate, Callable[[int, int], bool]]] = {
    Predicate.EQUAL: operator.eq,
    Predicate.NOT_EQUAL: operator.ne,
    Predicate.LESS_THAN: operator.lt,
    Predicate.LESS_THAN_OR_EQUAL: operator.le,
    Predicate.GREATER_THAN: operator.gt,
    Predicate.GREATER_THAN_OR_EQUAL: operator.ge,
}


def compare_integers(predicate: Predicate, a: int, b: int, width: int, *, signed: bool) -> bool:
    """Whether the relation holds between two integers."""
    return _HOLDS[predicate](number(a, width, signed=signed), number(b, width, signed=signed))


def compare_floats(
    predicate: Predicate, a: int, b: int, format: FloatFormat, *, ordered: bool
) -> bool:
    """Whether the relation holds between two floats, where -0 equals +0.

    If either is NaN they have no order: an ordered comparison is then false, whatever the
    predicate, and an unordered one true.
    """
    if is_nan(a, format) or is_nan(b, format):
        return not ordered
    return _HOLDS[predicate](_rank(a, format), _rank(b, format))


def _rank(pattern: int, format: FloatFormat) -> int:
    """Map a pattern to an integer with the same order; both zeros map to zero."""
    magnitude = pattern & ~format.sign
    return -magnitude if pattern & format.sign else magnitude
