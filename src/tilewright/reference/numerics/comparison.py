"""Comparisons of arrays of elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.dialects.arith.attributes import CmpFPredicate, CmpIPredicate
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate
from tilewright.ir.attributes import Type
from tilewright.ir.types import I1
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


LETTERS: Final = {
    "EQ": ComparisonPredicate.EQUAL,
    "NE": ComparisonPredicate.NOT_EQUAL,
    "LT": ComparisonPredicate.LESS_THAN,
    "LE": ComparisonPredicate.LESS_THAN_OR_EQUAL,
    "GT": ComparisonPredicate.GREATER_THAN,
    "GE": ComparisonPredicate.GREATER_THAN_OR_EQUAL,
}
"""The relations by the suffix of arith's predicates."""


def compare_integers(
    predicate: ComparisonPredicate, a: Array, b: Array, *, is_signed: bool
) -> Array:
    """Compare integers elementwise."""
    return HOLDS[predicate](read(a, is_signed), read(b, is_signed))


def integer_comparison(
    predicate: ComparisonPredicate, element: Type, *, is_signed: bool
) -> Callable[[Array, Array], Array]:
    """The comparison of integers of a type."""
    if is_signed and element is not I1:
        return HOLDS[predicate]
    return lambda a, b: compare_integers(predicate, a, b, is_signed=is_signed)


def compare_floats(predicate: ComparisonPredicate, a: Array, b: Array, *, ordered: bool) -> Array:
    """Compare floats elementwise; with NaN, ordered is false and unordered is true."""
    unordered = np.isnan(a) | np.isnan(b)
    holds = HOLDS[predicate](a, b)
    return holds & ~unordered if ordered else holds | unordered


def integer_relation(predicate: CmpIPredicate, element: Type) -> Callable[[Array, Array], Array]:
    """The comparison of integers of a type with a predicate of arith."""
    relation, is_signed = LETTERS[predicate.name[-2:]], predicate.name.startswith("S")
    return integer_comparison(relation, element, is_signed=is_signed)


def float_relation(predicate: CmpFPredicate, a: Array, b: Array) -> Array:
    """Compare floats with a predicate of arith."""
    unordered = np.isnan(a) | np.isnan(b)
    match predicate:
        case CmpFPredicate.FALSE | CmpFPredicate.TRUE:
            return np.full(unordered.shape, predicate is CmpFPredicate.TRUE)
        case CmpFPredicate.ORD:
            return ~unordered
        case CmpFPredicate.UNO:
            return unordered
        case _:
            ordered = predicate.name.startswith("O")
            return compare_floats(LETTERS[predicate.name[-2:]], a, b, ordered=ordered)
