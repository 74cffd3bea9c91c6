"""`dot` against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright.support.floats import BF16, F16, F32
from tilewright.support.numerics import floating, integer

HALVES = st.lists(
    st.tuples(*[st.floats(width=16, allow_nan=False, allow_infinity=False)] * 2), max_size=12
)


def half(number: float) -> int:
    return int(np.float16(number).view(np.uint16))


def single(number: float) -> int:
    return int(np.float32(number).view(np.uint32))


@given(HALVES, st.floats(-(2.0**100), 2.0**100, width=32))
def test_float_dots_are_rounded_once(pairs: list[tuple[float, float]], c: float) -> None:
    a, b = [half(x) for x, _ in pairs], [half(y) for _, y in pairs]
    pattern = floating.dot(a, b, single(c), F16, F32)
    exact = sum((Fraction(x) * Fraction(y) for x, y in pairs), Fraction(c))
    value = np.uint32(pattern).view(np.float32)
    below, above = np.nextafter(value, -np.inf), np.nextafter(value, np.inf)
    error = abs(Fraction(float(value)) - exact)
    assert all(
        error <= abs(Fraction(float(other)) - exact)
        for other in (below, above)
        if np.isfinite(other)
    )


def test_infinities_and_nans_go_on() -> None:
    infinity, nan, one, zero = 0x7C00, 0x7E00, 0x3C00, 0
    assert floating.dot([infinity], [one], single(5.0), F16, F32) == single(np.inf)
    assert floating.dot([infinity], [zero], single(5.0), F16, F32) == 0x7FC00000
    assert floating.dot([nan], [one], single(5.0), F16, F32) == 0x7FC00000
    assert floating.dot([], [], single(-0.0), BF16, F32) == single(-0.0)


BYTES = st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255)), max_size=12)


@given(BYTES, st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_integer_dots_wrap(pairs: list[tuple[int, int]], c: int, left: bool, right: bool) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    read = {True: np.int8, False: np.uint8}
    x = np.array(a, np.uint8).view(read[left]).astype(np.int64)
    y = np.array(b, np.uint8).view(read[right]).astype(np.int64)
    expected = (int(x @ y) + c) % 2**32
    assert integer.dot(a, b, c, 8, 32, signed=(left, right)) == expected
