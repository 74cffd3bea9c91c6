"""When the results of two schedules agree."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tilewright.driver.tuning.agreement import Tolerance, disagreement

FLOATS = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn]


def differ(one: Any, other: Any, tolerance: Tolerance | None = None) -> str:
    return disagreement([one], [other], tolerance or Tolerance())


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_last_bit_is_rounding(dtype: Any) -> None:
    one = np.array([1.0, -2.0, 8.0, 0.0]).astype(dtype)
    step = float(ml_dtypes.finfo(dtype).eps)
    other = (one.astype(np.float64) * (1 + step)).astype(dtype)
    assert (one != other).any()
    assert differ(one, other) == ""


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_wrong_element_is_not(dtype: Any) -> None:
    one = np.array([1.0, -2.0, 8.0, 4.0]).astype(dtype)
    other = one.copy()
    other[1] = 4
    assert differ(one, other).startswith("argument 0: expected -2")
    assert differ(one, other).endswith("got 4; 1 of 4 differ") or "got 4.0; 1 of 4" in differ(
        one, other
    )


def test_a_zero_in_place_of_a_small_element_is_found_in_a_row_of_its_own() -> None:
    """The bound is relative to the largest element of an array."""
    one = np.array([1e-3, 1e-3], np.float32)
    assert differ(one, np.zeros(2, np.float32)) != ""


def test_integers_are_equal_or_not() -> None:
    one = np.array([1 << 40, 5])
    assert differ(one, one.copy()) == ""
    assert "got 4; 1 of 2 differ" in differ(one, np.array([1 << 40, 4]))


def test_nans_and_infinities_agree_with_their_like() -> None:
    one = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
    assert differ(one, one.copy()) == ""
    assert differ(one, np.array([np.nan, np.inf, np.inf, 1.0], np.float32)) != ""
    assert differ(one, np.array([1.0, np.inf, -np.inf, 1.0], np.float32)) != ""


def test_tolerances_can_be_given() -> None:
    one, other = np.array([100.0]), np.array([101.0])
    assert differ(one, other) != ""
    assert differ(one, other, Tolerance(rtol=0.02)) == ""
    assert differ(one, other, Tolerance(atol=1.5)) == ""
    assert differ(one, other, Tolerance(atol=0.5)) != ""
    assert differ(one, np.array([np.nextafter(100.0, 101.0)]), Tolerance(rtol=0.0)) != ""


def test_numbers_among_arguments_are_not_compared() -> None:
    assert disagreement([3, np.ones(2)], [3, np.ones(2)], Tolerance()) == ""
    assert disagreement([3, np.ones(2)], [3, np.zeros(2)], Tolerance()).startswith("argument 1: ")
