"""Helpers for short vectors, against NumPy's own functions."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.ptxsim.vectors import all_set, any_set, distinct, distinct_ascending

_VECTORS = [
    np.array([], np.int64),
    np.array([7]),
    np.array([0, 0, 0]),
    np.array([3, -1, 3, 2, -1]),
    np.array([1, 1, 2, 5], np.uint32),
    np.array([True, False]),
    np.array([[True, True], [True, False]]),
]


@pytest.mark.parametrize("values", _VECTORS)
def test_tests_of_all_elements(values: np.ndarray) -> None:
    assert any_set(values) == values.any()
    assert all_set(values) == values.all()


@pytest.mark.parametrize("values", [each for each in _VECTORS if each.ndim == 1])
def test_distinct_elements(values: np.ndarray) -> None:
    expected = np.unique(values)
    for result in (distinct(values), distinct_ascending(np.sort(values))):
        assert result.dtype == values.dtype
        assert result.tolist() == expected.tolist()
