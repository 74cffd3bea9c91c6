from __future__ import annotations

import numpy as np
from each_case import each_case

from tilewright.ptxsim.matrix.accumulate import (
    ADDERS,
    Adder,
    adder_for,
    multiply_add,
    multiply_add_bits,
    multiply_add_f64,
    multiply_add_integers,
)
from tilewright.ptxsim.matrix.elements import ELEMENTS

F16 = ELEMENTS["f16"]
HOPPER = ADDERS["wgmma"]


def dot(a: list[float], b: list[float], c: float, result: str = "f32", adder: Adder = HOPPER):
    """Compute one element of an mma."""
    dtype = np.float16 if result == "f16" else np.float32
    operands = np.array([[a]]), np.array([[b]]), np.array([[[c]]], dtype)
    return multiply_add(*operands, (F16, F16), result, adder)[0, 0, 0]


def test_25_bits_below_the_largest_term_contribute() -> None:
    # 1 plus twice half an f32 ulp: the terms are added before the truncation.
    ulp = 2.0**-23
    tiny = 2.0**-12
    assert dot([1, tiny, tiny], [1, tiny, tiny], 0) == 1 + ulp * 2.0**-1 * 2
    assert dot([1, tiny], [1, tiny], 0) == 1
    # The 26th bit is lost in each term, even if eight of them would make up a bit.
    lost = [2.0**-13] * 8
    assert dot([1, *lost], [1, *lost], 0) == 1


def test_accumulators_are_truncated_not_rounded() -> None:
    above = 2.0**-12 * 1.5
    assert dot([1, above], [1, 2.0**-12], 0) == 1
    assert dot([-1, -above], [1, 2.0**-12], 0) == -1


def test_f16_results_are_rounded_to_nearest_even() -> None:
    half_ulp = 2.0**-11
    assert dot([1, 1], [1, half_ulp], 0, "f16") == 1
    assert dot([1, 3], [1, half_ulp], 0, "f16") == 1 + 4 * half_ulp


def test_f8_in_wgmma_keeps_13_bits() -> None:
    narrow = adder_for("wgmma", ELEMENTS["e4m3"])
    assert (narrow.fraction_bits, narrow.kept_bits) == (13, 13)
    assert dot([1, 1], [1, 2.0**-13], 0, adder=narrow) == 1 + 2.0**-13
    assert dot([1, 1], [1, 2.0**-14], 0, adder=narrow) == 1
    assert dot([1], [1], 2.0**-14, adder=narrow) == 1


def test_the_exponent_of_a_term_is_not_normalised() -> None:
    # 1.5 * 1.5 = 2.25 has exponent 0 here: 2**-25 is still within reach, 2**-26 is not.
    assert dot([1.5, -1.5, 1], [1.5, 1.5, 2.0**-24], 2.0**-25) == 2.0**-24 + 2.0**-25
    assert dot([1.5, -1.5], [1.5, 1.5], 2.0**-26) == 0


def test_integers_are_exact_in_any_order() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(-8, 9, (5, 64, 16)), rng.integers(-8, 9, (5, 24, 16))
    c = rng.integers(-99, 99, (5, 64, 24)).astype(np.float32)
    actual = multiply_add(a.astype(float), b.astype(float), c, (F16, F16), "f32", HOPPER)
    assert np.array_equal(actual, a @ b.transpose(0, 2, 1) + c)


@each_case(
    ("a", "b", "c", "expected"),
    [
        ([np.inf], [1.0], 1.0, 0x7F800000),
        ([np.inf], [-1.0], 1.0, 0xFF800000),
        ([np.inf], [0.0], 1.0, 0x7FFFFFFF),
        ([1.0], [1.0], np.nan, 0x7FFFFFFF),
        ([np.inf], [1.0], -np.inf, 0x7FFFFFFF),
        ([-0.0], [1.0], -0.0, 0x00000000),
    ],
)
def test_special_numbers(a: list[float], b: list[float], c: float, expected: int) -> None:
    with np.errstate(invalid="ignore"):
        actual = np.float32(dot(a, b, c))
    assert int(actual.view(np.uint32)) == expected


def test_f64_is_a_chain_of_fmas() -> None:
    a, b = np.array([[[1.0, 2.0**-30]]]), np.array([[[1.0, 2.0**-30]]])
    # 2**-60 is lost when added to 1, and kept when added to 0.
    assert multiply_add_f64(a, b, np.zeros((1, 1, 1)))[0, 0, 0] == 1
    assert multiply_add_f64(a, b, np.full((1, 1, 1), -1.0))[0, 0, 0] == 2.0**-60


def test_integers_wrap_or_saturate() -> None:
    a, b = np.full((1, 1, 32), 127.0), np.full((1, 1, 32), 127.0)
    c = np.full((1, 1, 1), 0x7FFFFFFF, np.int32)
    assert multiply_add_integers(a, b, c, saturate=True)[0, 0, 0] == 0x7FFFFFFF
    assert multiply_add_integers(a, b, c, saturate=False)[0, 0, 0] == 32 * 127 * 127 - 0x80000001


def test_b1_mma_counts_bits() -> None:
    a, b = np.array([[[1.0, 1, 0, 0]]]), np.array([[[1.0, 0, 1, 0]]])
    c = np.full((1, 1, 1), 10, np.int32)
    assert multiply_add_bits(a, b, c, "and")[0, 0, 0] == 11
    assert multiply_add_bits(a, b, c, "xor")[0, 0, 0] == 12
