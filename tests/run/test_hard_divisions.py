"""Divisions of f32 with a result close to a midpoint of two floats: in integers, and compiled."""

from __future__ import annotations

import numpy as np
import pytest
from hard_divisions import BITS, LIMIT, Hard, Integers, hard_divisions, odd_midpoints
from row_divisions import COLUMNS, ROWS, program

import tilewright


def rounded(number: Integers, bits: int) -> Integers:
    """`number / 2**bits`, rounded to nearest even."""
    below = number >> bits
    rest, half = number - (below << bits), 1 << (bits - 1)
    return below + ((rest > half) | ((rest == half) & (below % 2 == 1)))


def divide(hard: Hard) -> Integers:
    """The division of `numerics/shared_divisors.py` in integers.

    A reciprocal is a number of 2**-47; no divisor near a midpoint is a power of two.
    """
    reciprocal = (2**47 + hard.y // 2) // hard.y
    quotient = rounded(hard.x * reciprocal, BITS - hard.is_below_one)
    remainder = (hard.x << (BITS - 1 + hard.is_below_one)) - hard.y * quotient
    exact = np.abs(remainder) < LIMIT
    remainder = np.where(exact, remainder, 2 * rounded(remainder, 1))
    correction = remainder * reciprocal
    whole = quotient + (correction >> 47)
    rest, half = correction & ((1 << 47) - 1), 1 << 46
    return whole + ((rest > half) | ((rest == half) & (whole % 2 == 1)))


@pytest.mark.parametrize("start", [0, 1 << 22, (1 << 23) - (1 << 16)])
def test_divisions_of_some_midpoints(start: int) -> None:
    count = 0
    for hard in hard_divisions(odd_midpoints(start, 1 << 16)):
        assert np.all(hard.y & (hard.y - 1))
        assert np.array_equal(divide(hard), hard.quotient)
        count += len(hard.x)
    assert count > 100_000


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(8))
def test_divisions_of_all_midpoints(part: int) -> None:
    for hard in hard_divisions(odd_midpoints(part << 20, 1 << 20)):
        assert np.array_equal(divide(hard), hard.quotient)


def test_midpoints_are_close() -> None:
    """The results are those of NumPy, and double precision shows how close midpoints are."""
    for hard in hard_divisions(odd_midpoints(12345, 1000)):
        x, y = hard.x.astype(np.float32), hard.y.astype(np.float32)
        expected = hard.quotient * np.float32(2.0 ** -(BITS - 1 + hard.is_below_one))
        assert np.array_equal(x / y, expected.astype(np.float32))
        in_last_bits = np.ldexp(x.astype(np.float64) / y, BITS - 1 + hard.is_below_one)
        assert np.all(np.abs(in_last_bits - np.floor(in_last_bits) - 0.5) <= 2.0**-20)


def test_compiled_programs_round_them_correctly() -> None:
    """Each row has a divisor, and the hard dividend in all columns, scaled by powers of two."""
    pairs = list(hard_divisions(odd_midpoints(4_000_000, 64)))
    x = np.concatenate([each.x for each in pairs]).astype(np.float32)
    y = np.concatenate([each.y for each in pairs]).astype(np.float32)
    scales = np.ldexp(np.float32(1), np.arange(COLUMNS, dtype=np.int32) - COLUMNS // 2 - 23)
    text = program("rows")
    count = len(x) // ROWS * ROWS
    assert count >= 128
    for first in range(0, count, ROWS):
        dividends = x[first : first + ROWS, None] * scales
        divisors = y[first : first + ROWS] * np.float32(2.0**-12)
        results = np.zeros_like(dividends)
        arrays = [dividends, divisors, results]
        tilewright.execute(text, "k", 1, arrays, "emulator", check=False, arch="sm_90")
        assert np.array_equal(results, dividends / divisors[:, None])
