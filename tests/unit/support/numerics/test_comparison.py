"""Comparisons against Python's, over all pairs of 8 bits and over telling floats."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from each_case import each_case

from tilewright.support.bits import to_signed
from tilewright.support.floats import F8E5M2, F16, F32, F64, FloatFormat, decode
from tilewright.support.numerics.comparison import Predicate, compare_floats, compare_integers

PYTHON: dict[Predicate, Callable[[float, float], bool]] = {
    Predicate.EQUAL: operator.eq,
    Predicate.NOT_EQUAL: operator.ne,
    Predicate.LESS_THAN: operator.lt,
    Predicate.LESS_THAN_OR_EQUAL: operator.le,
    Predicate.GREATER_THAN: operator.gt,
    Predicate.GREATER_THAN_OR_EQUAL: operator.ge,
}


def test_there_are_six_predicates() -> None:
    assert set(PYTHON) == set(Predicate)


@pytest.mark.parametrize("predicate", Predicate)
def test_integers(predicate: Predicate) -> None:
    for a in range(0, 256, 3):
        for b in range(256):
            holds = PYTHON[predicate]
            assert compare_integers(predicate, a, b, 8, signed=False) == holds(a, b)
            expected = holds(to_signed(a, 8), to_signed(b, 8))
            assert compare_integers(predicate, a, b, 8, signed=True) == expected


@pytest.mark.parametrize("predicate", Predicate)
def test_floats_of_eight_bits(predicate: Predicate) -> None:
    column = np.arange(256).astype(np.uint8).view(ml_dtypes.float8_e5m2)
    numbers = column.astype(np.float64).tolist()
    for a, x in list(enumerate(numbers))[::3]:
        for b, y in enumerate(numbers):
            nan = math.isnan(x) or math.isnan(y)
            ordered = compare_floats(predicate, a, b, F8E5M2, ordered=True)
            unordered = compare_floats(predicate, a, b, F8E5M2, ordered=False)
            assert ordered == (not nan and PYTHON[predicate](x, y))
            assert unordered == (nan or PYTHON[predicate](x, y))


@each_case("format", [F16, F32, F64], ids=repr)
def test_the_two_zeros_are_equal_and_infinities_lie_outside(format: FloatFormat) -> None:
    assert compare_floats(Predicate.EQUAL, 0, format.sign, format, ordered=True)
    assert format.infinity is not None
    infinity = format.infinity
    assert compare_floats(Predicate.LESS_THAN, format.max_finite, infinity, format, ordered=True)
    assert compare_floats(
        Predicate.LESS_THAN, infinity | format.sign, format.max_finite, format, ordered=True
    )
    assert decode(infinity, format).is_infinite


def test_not_equal_is_c_s_only_if_unordered() -> None:
    nan = F32.nan
    assert nan is not None
    assert compare_floats(Predicate.NOT_EQUAL, nan, nan, F32, ordered=False)
    assert not compare_floats(Predicate.NOT_EQUAL, nan, nan, F32, ordered=True)
