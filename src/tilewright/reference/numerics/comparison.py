"""Comparisons of arrays of elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.dialects.cuda_tile.enums import ComparisonPredicate
from tilewright.reference.numerics.integer import read
from tilewright.reference.tile import Array

HOLDS: Final[dict[ComparisonPredicate, Callable[[Array, Array], Array]]] = {
    ComparisonPredicate.EQUAL: np.equal,
    ComparisonPredicate.NOT_EQUAL: np.not_equal,
    ComparisonPredicate.LESS_THAN: np.less,
    ComparisonPredicate.LESS_THAN_OR_EQUAL: np.less_equal,
    ComparisonPredicate.GREATER_THAN: np.greater,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: np.greater_equal,
}


def compare_integers(
    predicate: ComparisonPredicate, a: Array, b: Array, *, is_signed: bool
) -> Array:
    """Where the relation holds between two integers."""
    return HOLDS[predicate](read(a, is_signed), read(b, is_signed))


def compare_floats(predicate: ComparisonPredicate, a: Array, b: Array, *, ordered: bool) -> Array:
    """Where the relation holds; with a NaN, an ordered one never does, an unordered one always."""
    unordered = np.isnan(a) | np.isnan(b)
    holds = HOLDS[predicate](a, b)
    return holds & ~unordered if ordered else holds | unordered
