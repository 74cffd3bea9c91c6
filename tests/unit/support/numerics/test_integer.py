"""Integer elements against NumPy over all pairs of 8 bits, and against the definitions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from each_case import each_case
from hypothesis import given
from hypothesis import strategies as st

from tilewright.support.floats import Rounding
from tilewright.support.numerics import integer

PAIRS = [(a, b) for a in range(256) for b in range(256)]
A, B = (np.array(column, dtype=np.uint8) for column in zip(*PAIRS, strict=True))
WIDTHS = st.sampled_from([1, 8, 16, 32, 64])
Element = Callable[..., int | None]


def wide(column: np.ndarray, signed: bool) -> np.ndarray:
    """The numbers that 8-bit patterns stand for, where nothing overflows."""
    return column.view(np.int8 if signed else np.uint8).astype(np.int64)


def patterns(column: np.ndarray) -> list[int]:
    return column.astype(np.uint8).tolist()


@each_case(
    ("ours", "numpy_s"),
    [
        (integer.add, np.add),
        (integer.subtract, np.subtract),
        (integer.multiply, np.multiply),
    ],
)
def test_arithmetic_wraps(ours: Element, numpy_s: np.ufunc) -> None:
    assert [ours(a, b, 8) for a, b in PAIRS] == numpy_s(A, B).tolist()


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(
    ("ours", "numpy_s"),
    [
        (integer.add_overflows, np.add),
        (integer.subtract_overflows, np.subtract),
        (integer.multiply_overflows, np.multiply),
    ],
)
def test_a_result_overflows_where_the_wrapped_one_differs(
    ours: Callable[..., bool], numpy_s: np.ufunc, signed: bool
) -> None:
    exact = numpy_s(wide(A, signed), wide(B, signed))
    wrapped = wide(exact.astype(np.uint8), signed)
    assert [ours(a, b, 8, signed=signed) for a, b in PAIRS] == (exact != wrapped).tolist()


def test_multiply_high_is_the_upper_half_of_the_unsigned_product() -> None:
    expected = patterns(wide(A, False) * wide(B, False) >> 8)
    assert [integer.multiply_high(a, b, 8) for a, b in PAIRS] == expected


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(
    ("rounding", "round_"),
    [
        (Rounding.ZERO, np.trunc),
        (Rounding.NEGATIVE_INF, np.floor),
        (Rounding.POSITIVE_INF, np.ceil),
    ],
)
def test_division_is_rounded(rounding: Rounding, round_: np.ufunc, signed: bool) -> None:
    x, y = wide(A, signed), wide(B, signed)
    with np.errstate(divide="ignore", invalid="ignore"):
        rounded = round_(x / y).tolist()
    for (a, b), x_, y_, quotient in zip(PAIRS, x, y, rounded, strict=True):
        got = integer.divide(a, b, 8, signed=signed, rounding=rounding)
        undefined = y_ == 0 or (x_ == -128 and y_ == -1)
        assert got == (None if undefined else int(quotient) % 256), (a, b)


@pytest.mark.parametrize("signed", [False, True])
def test_remainder_is_c_s(signed: bool) -> None:
    with np.errstate(divide="ignore"):
        expected = patterns(np.fmod(wide(A, signed), wide(B, signed)))
    for (a, b), rest in zip(PAIRS, expected, strict=True):
        assert integer.remainder(a, b, 8, signed=signed) == (None if b == 0 else rest)


def test_the_smallest_number_by_minus_one() -> None:
    assert integer.divide(0x80, 0xFF, 8, signed=True) is None
    assert integer.remainder(0x80, 0xFF, 8, signed=True) == 0
    assert integer.divide(0x80, 0xFF, 8, signed=False) == 0


@pytest.mark.parametrize("rounding", [Rounding.NEAREST_EVEN, Rounding.NEAREST_AWAY])
def test_division_does_not_round_to_nearest(rounding: Rounding) -> None:
    with pytest.raises(ValueError, match="to round one way, got nearest"):
        integer.divide(1, 2, 8, signed=True, rounding=rounding)


@pytest.mark.parametrize("signed", [False, True])
def test_extremes(signed: bool) -> None:
    x, y = wide(A, signed), wide(B, signed)
    larger, smaller = patterns(np.maximum(x, y)), patterns(np.minimum(x, y))
    assert [integer.maximum(a, b, 8, signed=signed) for a, b in PAIRS] == larger
    assert [integer.minimum(a, b, 8, signed=signed) for a, b in PAIRS] == smaller


def test_bitwise() -> None:
    assert [integer.bitwise_and(a, b) for a, b in PAIRS] == (A & B).tolist()
    assert [integer.bitwise_or(a, b) for a, b in PAIRS] == (A | B).tolist()
    assert [integer.bitwise_xor(a, b) for a, b in PAIRS] == (A ^ B).tolist()


def test_negation_and_absolute_value() -> None:
    column = np.arange(256).astype(np.uint8)
    assert [integer.negate(a, 8) for a in range(256)] == patterns(-wide(column, True))
    assert [integer.absolute(a, 8) for a in range(256)] == patterns(abs(wide(column, True)))
    assert [a for a in range(256) if integer.negate_overflows(a, 8, signed=True)] == [0x80]
    assert [a for a in range(256) if not integer.negate_overflows(a, 8, signed=False)] == [0]


@each_case(
    ("a", "amount", "left", "logical", "arithmetic"),
    [
        (0b1000_0001, 0, 0b1000_0001, 0b1000_0001, 0b1000_0001),
        (0b1000_0001, 1, 0b0000_0010, 0b0100_0000, 0b1100_0000),
        (0b1000_0001, 7, 0b1000_0000, 0b0000_0001, 0b1111_1111),
        (0b1000_0001, 8, 0, 0, 0b1111_1111),
        (0b1000_0001, 255, 0, 0, 0b1111_1111),
        (0b0111_1111, 8, 0, 0, 0),
        (0b0111_1111, 6, 0b1100_0000, 0b0000_0001, 0b0000_0001),
    ],
)
def test_shifts(a: int, amount: int, left: int, logical: int, arithmetic: int) -> None:
    assert integer.shift_left(a, amount, 8) == left
    assert integer.shift_right(a, amount, 8, signed=False) == logical
    assert integer.shift_right(a, amount, 8, signed=True) == arithmetic


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), WIDTHS, st.booleans())
def test_a_left_shift_overflows_like_the_product(
    a: int, amount: int, width: int, signed: bool
) -> None:
    a %= 1 << width
    amount %= 2 * width
    exact = integer.number(a, width, signed=signed) * 2**amount
    low, high = (-(1 << width) // 2, (1 << width) // 2) if signed else (0, 1 << width)
    assert integer.shift_left_overflows(a, amount, width, signed=signed) != (low <= exact < high)


def test_a_huge_shift_costs_nothing() -> None:
    assert integer.shift_left(1, 2**64 - 1, 64) == 0
    assert integer.shift_right(2**63, 2**64 - 1, 64, signed=True) == 2**64 - 1
    assert integer.shift_left_overflows(1, 2**64 - 1, 64, signed=False)


def test_an_i1_is_0_or_1_unsigned_and_0_or_minus_1_signed() -> None:
    assert integer.number(1, 1, signed=True) == -1
    assert integer.number(1, 1, signed=False) == 1
    assert integer.maximum(0, 1, 1, signed=True) == 0
    assert integer.maximum(0, 1, 1, signed=False) == 1
    assert integer.multiply_high(1, 1, 1) == 0


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), WIDTHS, st.booleans())
def test_quotient_and_remainder_make_up_the_dividend(
    a: int, b: int, width: int, signed: bool
) -> None:
    a, b = a % (1 << width), b % (1 << width)
    quotient = integer.divide(a, b, width, signed=signed)
    rest = integer.remainder(a, b, width, signed=signed)
    if quotient is None or rest is None:
        return
    assert integer.add(integer.multiply(quotient, b, width), rest, width) == a
    x, y, r = (integer.number(n, width, signed=signed) for n in (a, b, rest))
    assert abs(r) < abs(y)
    assert r == 0 or (r < 0) == (x < 0)
