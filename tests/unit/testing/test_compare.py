"""Comparison of results that are equal, within the tolerance and outside of it."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tilewright.ir.attributes import Type
from tilewright.ir.types import BF16, F16, F32, F64, FNV8E5M3FNU, I1, I4, I32, TF32
from tilewright.testing.compare import (
    Tolerance,
    array_difference,
    difference,
    error_in_ulps,
    ulp,
)

INF, NAN = np.inf, np.nan
MAX = float(np.finfo(np.float32).max)


def f32(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


def test_integers_must_be_the_same() -> None:
    a = np.array([1, -2, 3], np.int32)
    assert difference(a, a.copy(), I32) is None
    wrong = difference(a, np.array([1, -2, 4], np.int32), I32)
    assert str(wrong) == "expected 4 at [2], got 3; 1 of 3 differ"


def test_the_index_is_that_of_the_first_mismatch() -> None:
    actual = difference(np.ones((2, 3), np.bool_), np.zeros((2, 3), np.bool_), I1)
    assert actual is not None
    assert (actual.index, actual.count, actual.size) == ((0, 0), 6, 6)


def test_nans_are_equal_whatever_their_bits() -> None:
    quiet = np.array([0x7FC00000, 0xFFC00001], np.uint32).view(np.float32)
    assert difference(quiet, f32(NAN, NAN), F32) is None
    assert difference(quiet, f32(NAN, 1), F32) is not None
    patterns = np.array([0xFF, 0x10], np.uint8)
    assert difference(patterns, patterns.copy(), FNV8E5M3FNU) is None


def test_defined_results_have_defined_zeros() -> None:
    assert difference(f32(0.0), f32(-0.0), F32) is not None
    assert difference(f32(0.0), f32(-0.0), F32, Tolerance(ulps=1)) is None


def test_int4_is_stored_in_bytes() -> None:
    assert difference(np.array([-8], np.int8), np.array([-8], np.int8), I4) is None


def test_shapes_and_dtypes_must_agree() -> None:
    with pytest.raises(ValueError, match="shape"):
        difference(f32(1, 2), f32(1), F32)
    with pytest.raises(ValueError, match="of f32"):
        difference(np.zeros(1), np.zeros(1), F32)
    with pytest.raises(ValueError, match="elements of f32"):
        difference(f32(1), np.ones(1), F32)


@pytest.mark.parametrize(
    ("number", "element", "expected"),
    [
        (1.0, F32, 2.0**-23),
        (1.999, F32, 2.0**-23),
        (2.0, F32, 2.0**-22),
        (-3.0, F16, 2.0**-9),
        (0.0, F32, 2.0**-149),
        (2.0**-140, F32, 2.0**-149),
        (1e300, F32, 2.0**104),
        (INF, BF16, 2.0**120),
        (1.0, TF32, 2.0**-10),
    ],
)
def test_ulp(number: float, element: Type, expected: float) -> None:
    assert ulp(np.array(number), element) == expected


def test_the_ulp_tolerance_is_inclusive() -> None:
    one = f32(1.0)
    third = np.nextafter(np.nextafter(np.nextafter(one, f32(2)), f32(2)), f32(2))
    assert difference(third, one, F32, Tolerance(ulps=3)) is None
    assert difference(third, one, F32, Tolerance(ulps=2)) is not None


def test_a_bound_may_differ_by_element() -> None:
    actual, expected = f32(1.0, 2.0), np.array([1.5, 2.5])
    assert difference(actual, expected, F32, Tolerance(absolute=0.5)) is None
    partly = difference(actual, expected, F32, Tolerance(absolute=np.array([0.5, 0.25])))
    assert partly is not None
    assert partly.index == (1,)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.bool_, np.float16, ml_dtypes.bfloat16])
def test_the_dtype_selects_the_element_type(dtype: type) -> None:
    ones = np.ones(4, dtype)
    assert array_difference(ones, ones.copy()) is None
    assert array_difference(ones, np.array([1, 1, 0, 1], dtype)) is not None
    assert array_difference(ones, np.full(4, 1.5), Tolerance(absolute=0.5)) is None
    assert array_difference(ones, np.full(4, 1.5), Tolerance(absolute=0.4)) is not None


def test_all_bits_of_an_array_count() -> None:
    assert array_difference(np.array([16], np.int8), np.array([0], np.int8)) is not None
    assert array_difference(f32(1 + 2.0**-20), f32(1)) is not None


def test_a_relative_bound() -> None:
    actual = np.array([1.0, -4.0], ml_dtypes.bfloat16)
    assert difference(actual, np.array([1.01, -4.02]), BF16, Tolerance(relative=0.01)) is None
    assert difference(actual, np.array([1.02, -4.02]), BF16, Tolerance(relative=0.01)) is not None


def test_infinity_is_one_step_beyond_the_largest_number() -> None:
    assert difference(f32(INF, -INF), f32(MAX, -MAX), F32, Tolerance(ulps=1)) is None
    assert difference(f32(MAX), f32(INF), F32, Tolerance(ulps=1)) is None
    assert difference(f32(MAX / 2), f32(INF), F32, Tolerance(ulps=4)) is not None
    assert difference(f32(INF), f32(-INF), F32, Tolerance(ulps=4)) is not None
    assert difference(f32(INF), np.array([1e300]), F32, Tolerance(ulps=1)) is None
    assert error_in_ulps(f32(INF, 0), np.array([1e300, -1e300]), F32).tolist() == [0, 2.0**24]


def test_nan_is_within_no_tolerance() -> None:
    generous = Tolerance(absolute=INF)
    assert difference(f32(NAN), f32(1), F32, generous) is not None
    assert difference(f32(1), f32(NAN), F32, generous) is not None
    assert difference(f32(NAN), f32(NAN), F32, generous) is None


def test_errors_are_measured_against_wider_numbers() -> None:
    exact = np.array([1.0 + 2.0**-24, 0.0, NAN, 2.0])
    assert error_in_ulps(f32(1, 0, NAN, 2), exact, F32).tolist() == [0.5, 0, 0, 0]
    assert np.isnan(error_in_ulps(f32(NAN), np.ones(1), F32)).all()


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long double is no longer")
def test_f64_is_compared_with_long_double() -> None:
    exact = np.array([1], np.longdouble) + np.longdouble(2) ** -54
    assert error_in_ulps(np.ones(1), exact, F64).tolist() == [0.25]
