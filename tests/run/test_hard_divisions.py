"""Divisions of f32 with a result close to a midpoint of two floats: in integers, and compiled."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from compiled_once import compiled
from hard_divisions import BITS, LEAST, LIMIT, Hard, Integers, hard_divisions, odd_midpoints
from numpy.typing import NDArray
from repeats import keep_first
from row_divisions import COLUMNS, ROWS, program

from tilewright.conversion.nv_tileas_to_nvgpu.numerics.shared_divisors import EXCESS_EXPONENT
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx


def rounded(number: Integers, bits: int) -> Integers:
    """`number / 2**bits`, rounded to nearest even."""
    below = number >> bits
    rest, half = number - (below << bits), 1 << (bits - 1)
    return below + ((rest > half) | ((rest == half) & (below % 2 == 1)))


def divide(hard: Hard) -> Integers:
    """The division of `numerics/shared_divisors.py` in integers.

    No divisor near a midpoint is a power of two.
    """
    return divide_by(hard.y, reciprocals(hard.y), hard.x, BITS - 1 + hard.is_below_one)


def reciprocals(y: Integers) -> Integers:
    """The correctly rounded ones, as multiples of 2**-47: integers of 24 bits."""
    return (2**47 + y // 2) // y


def divide_by(y: Integers, reciprocal: Integers, x: Integers, bits: int) -> Integers:
    """Divide with a reciprocal; results are multiples of `2**-bits`."""
    quotient = rounded(x * reciprocal, 47 - bits)
    return corrected(quotient, (x << bits) - y * quotient, reciprocal)


EXCESS = 2 ** (47 + EXCESS_EXPONENT)


def refine(y: Integers, estimate: Integers, excess: int = EXCESS) -> Integers:
    """Refine an estimate of a reciprocal by one step."""
    return corrected(estimate, as_float(2**47 - y * estimate) + excess, estimate)


def as_float(remainder: Integers) -> Integers:
    """A remainder rounded to 24 bits, of which it has one more at most."""
    assert np.all(np.abs(remainder) <= 2 * LIMIT)
    return np.where(np.abs(remainder) < LIMIT, remainder, 2 * rounded(remainder, 1))


def corrected(number: Integers, remainder: Integers, reciprocal: Integers) -> Integers:
    """`number + remainder * reciprocal`, where the remainder and the result have 24 bits."""
    correction = as_float(remainder) * reciprocal
    whole = number + (correction >> 47)
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


def wrong_reciprocals(y: Integers, excess: int = EXCESS) -> Iterator[tuple[int, int]]:
    """Divisors, and reciprocals refined from an estimate, that are not correctly rounded.

    An estimate is one ulp from the correctly rounded reciprocal, which has 24 bits and is below 1.
    So the other float within one ulp of the exact one is among them.
    """
    exact = reciprocals(y)
    for estimate in (exact - 1, exact, exact + 1):
        refined = refine(y, estimate, excess)
        for index in np.flatnonzero(refined != exact):
            yield int(y[index]), int(refined[index])


WRONG = {9179780, 9612203, 9761029, 12648641, 15616965}
"""The divisors of which some refined reciprocals are not correctly rounded."""
LARGE_DIVISORS = (15_600_000, LIMIT)
IN_CACHE = 1 << 14
"""Dividends at a time: arrays of all of them would be in memory."""
PARTS = [(LEAST + (part << 20) + (part == 0), LEAST + (part + 1 << 20)) for part in range(8)]


@pytest.mark.parametrize(("first", "end"), keep_first([LARGE_DIVISORS, *PARTS]))
def test_estimates_within_one_ulp_suffice(first: int, end: int) -> None:
    """Any estimate of a reciprocal rounds the division correctly."""
    wrong = set(wrong_reciprocals(np.arange(first, end, dtype=np.int64)))
    assert {divisor for divisor, _ in wrong} == WRONG & set(range(first, end))
    for divisor, reciprocal in wrong:
        check_all_dividends(divisor, reciprocal)


def check_all_dividends(divisor: int, reciprocal: int) -> None:
    y, r = np.array([divisor]), np.array([reciprocal])
    for first, last, bits in ((LEAST, divisor, BITS), (divisor, LIMIT, BITS - 1)):
        for start in range(first, last, IN_CACHE):
            x = np.arange(start, min(start + IN_CACHE, last), dtype=np.int64)
            expected = (x << bits) // divisor
            rest = (x << bits) - expected * divisor
            expected += 2 * rest > divisor
            assert np.all(2 * rest != divisor)
            assert np.array_equal(divide_by(y, r, x, bits), expected)


def test_the_largest_mantissas_need_the_excess() -> None:
    wrong = set(wrong_reciprocals(np.arange(LIMIT - 4, LIMIT, dtype=np.int64), excess=0))
    assert {divisor for divisor, _ in wrong} == {LIMIT - 1, LIMIT - 3}
    for divisor, reciprocal in wrong:
        with pytest.raises(AssertionError):
            check_all_dividends(divisor, reciprocal)


@pytest.mark.parametrize("estimate", [1 - 2.0**-23, 1 - 2.0**-24, 1.0, 1 + 2.0**-23])
def test_reciprocals_of_powers_of_two_are_exact(estimate: float) -> None:
    excess = Fraction(2) ** EXCESS_EXPONENT
    refined = Fraction(estimate) * (2 - Fraction(estimate) + excess)
    assert np.float32(float(refined)) == 1


def run(arrays: list[NDArray[np.float32]], perturb: int = 0) -> None:
    """Divide rows on the emulator, without its checks."""
    text = program("rows")
    module = read_runnable(text, "kernel.mlir")
    run_ptx(compiled(text).ptx, module, "k", (1, 1, 1), arrays, perturb=perturb)


@pytest.mark.parametrize("seed", range(1, 9))
def test_compiled_programs_depend_on_no_better_estimate(seed: int) -> None:
    """Powers of two by the largest mantissas, of which some estimates lead to the wrong float."""
    scales = np.ldexp(np.float32(1), np.arange(ROWS, dtype=np.int32) - ROWS // 2 - 23)
    divisors = (LIMIT - 1 - np.arange(ROWS, dtype=np.int32) % 4).astype(np.float32) * scales
    powers = np.ldexp(np.float32(1), np.arange(COLUMNS, dtype=np.int32) - COLUMNS // 2)
    dividends = np.tile(powers, (ROWS, 1))
    dividends[1::2, ::2] *= np.float32(5592403 + LEAST)
    results = np.zeros_like(dividends)
    arrays = [dividends, divisors, results]
    run(arrays, perturb=seed)
    assert np.array_equal(results, dividends / divisors[:, None])


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
    count = len(x) // ROWS * ROWS
    assert count >= 128
    for first in range(0, count, ROWS):
        dividends = x[first : first + ROWS, None] * scales
        divisors = y[first : first + ROWS] * np.float32(2.0**-12)
        results = np.zeros_like(dividends)
        arrays = [dividends, divisors, results]
        run(arrays)
        assert np.array_equal(results, dividends / divisors[:, None])
