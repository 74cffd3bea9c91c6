"""Error bounds of reductions and dots: they hold in any order of additions, and are not loose."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tilewright.ir.types import BF16, F8E4M3FN, F8E5M2, F16, F32, F64, FloatType
from tilewright.reference.tile import dtype
from tilewright.testing.bounds import (
    dot_tolerance,
    exact_limit,
    reduction_tolerance,
    scan_tolerance,
    small_integers,
    truncation_error,
    unit_roundoff,
)


def test_the_unit_roundoff_is_half_an_ulp_of_one() -> None:
    assert unit_roundoff(F32) == 2.0**-24
    assert unit_roundoff(BF16) == 2.0**-8
    assert unit_roundoff(F64) == np.finfo(np.float64).eps / 2


def test_a_reduction_by_hand() -> None:
    terms = np.array([[1, -2, 3, -4]], np.float32)
    (bound,) = reduction_tolerance(terms, 1, F32).absolute
    assert bound == 4 * 2.0**-24 * 10


def test_a_scan_by_hand() -> None:
    terms = np.array([1, -2, 3, -4], np.float16)
    unit = 4 * 2.0**-11
    forward = scan_tolerance(terms, 0, F16).absolute
    assert forward.tolist() == [unit * n for n in (1, 3, 6, 10)]
    backward = scan_tolerance(terms, 0, F16, reverse=True).absolute
    assert backward.tolist() == [unit * n for n in (10, 9, 7, 4)]


def test_a_dot_by_hand() -> None:
    lhs, rhs, acc = np.array([[1.0, -2.0]]), np.array([[3.0], [4.0]]), np.array([[-5.0]])
    assert dot_tolerance(lhs, rhs, acc, F32).absolute.tolist() == [[3 * 2.0**-24 * 16]]


@pytest.mark.parametrize("type", [F16, BF16, F32], ids=str)
def test_reductions_in_any_order_stay_within_the_bound(type: FloatType) -> None:
    rng = np.random.default_rng(1)
    kind = dtype(type)
    terms = rng.normal(size=64).astype(kind)
    exact = float(sum(map(Fraction, terms.astype(np.float64).tolist())))
    bound = float(reduction_tolerance(terms, 0, type).absolute)
    worst = 0.0
    for _ in range(50):
        partial = kind.type(0)
        for term in rng.permutation(terms):
            partial = kind.type(partial + term)
        worst = max(worst, abs(float(partial) - exact))
    assert 0 < worst <= bound < 100 * worst


@pytest.mark.parametrize(
    ("terms", "operand", "accumulator", "expected"),
    [
        (1024, F16, F16, 1),  # floor(sqrt(2048 / 1024))
        (1024, F16, F32, 128),
        (1, F8E4M3FN, F32, 16),
        (64, F8E5M2, F32, 8),
        (2, F64, F64, 2**26),
        (1, BF16, F32, 256),
    ],
)
def test_integers_that_are_exact(
    terms: int, operand: FloatType, accumulator: FloatType, expected: int
) -> None:
    assert exact_limit(terms, operand, accumulator) == expected


def test_too_many_terms_are_inexact() -> None:
    with pytest.raises(ValueError, match="f16 cannot count them"):
        exact_limit(4096, F16, F16)


def test_small_integers_reach_their_limit() -> None:
    numbers = small_integers(np.random.default_rng(0), (1000,), 3)
    assert set(numbers.tolist()) == {-3, -2, -1, 0, 1, 2, 3}
    assert small_integers(np.random.default_rng(0), (1000,), 3, signed=False).min() == 0


@pytest.mark.parametrize("fast", [False, True])
def test_the_worst_case_truncation_of_wgmma(fast: bool) -> None:
    """Added to 1, terms below 2**-13 are truncated to 0; these are just below."""
    small = np.array([[1.75 * 2.0**-7 * 1.75 * 2.0**-8]])
    assert small < 2.0**-13
    lhs, rhs = np.full((1, 128), 1.75 * 2.0**-7), np.full((128, 1), 1.75 * 2.0**-8)
    lhs[0, 0] = rhs[0, 0] = 1
    lost = 127 * small
    bound = truncation_error(lhs, rhs, np.zeros((1, 1)), F8E5M2, fast=fast)
    assert lost < bound < 1.5 * lost


def test_wgmma_accumulators_are_promoted_every_128_terms() -> None:
    ones = np.ones((1, 1024)), np.ones((1024, 1)), np.zeros((1, 1))
    plain, fast = (truncation_error(*ones, F8E4M3FN, fast=each)[0, 0] for each in (False, True))
    assert plain == 136 * 2.0**-13 * 1024 + 34 * 2.0**-24 * 1024
    assert fast == 1088 * 2.0**-13 * 1024 + 34 * 2.0**-24 * 1024


def test_subnormal_numbers_have_the_least_normal_exponent() -> None:
    tiny, one, none = np.full((1, 1), 2.0**-9), np.ones((1, 1)), np.zeros((1, 1))
    least = np.full((1, 1), 2.0**-6)
    assert truncation_error(tiny, one, none, F8E4M3FN) == truncation_error(
        least, one, none, F8E4M3FN
    )
    assert truncation_error(none, one, none, F8E4M3FN) == 0
