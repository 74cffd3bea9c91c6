"""Two's complement against NumPy, over all patterns of 8 and 16 bits."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.support import bits


def test_the_examples_in_the_documentation() -> None:
    assert doctest.testmod(bits).failed == 0


@pytest.mark.parametrize(("width", "signed"), [(8, np.int8), (16, np.int16)])
def test_signed_reading_is_numpy_s(width: int, signed: type[np.signedinteger]) -> None:
    patterns = np.arange(1 << width).astype(f"u{width // 8}")
    expected = patterns.view(signed).tolist()
    assert [bits.to_signed(pattern, width) for pattern in range(1 << width)] == expected


def test_sign_extension_is_numpy_s() -> None:
    patterns = np.arange(256, dtype=np.uint8)
    expected = patterns.view(np.int8).astype(np.int32).view(np.uint32).tolist()
    assert [bits.sign_extend(pattern, 8, 32) for pattern in range(256)] == expected


@given(st.integers(), st.integers(1, 128))
def test_a_pattern_stands_for_the_number_it_was_made_from_modulo_its_range(
    number: int, width: int
) -> None:
    pattern = bits.to_unsigned(number, width)
    assert pattern in range(1 << width)
    assert (bits.to_signed(pattern, width) - number) % (1 << width) == 0
    assert -(1 << width) <= 2 * bits.to_signed(pattern, width) < 1 << width


@given(st.integers(0, 200), st.integers(0, 1 << 64))
def test_trailing_zeros_count_the_twos(zeros: int, half: int) -> None:
    assert bits.trailing_zeros((2 * half + 1) << zeros) == zeros


def test_powers_of_two_have_one_bit() -> None:
    assert [n for n in range(-4, 300) if bits.is_power_of_two(n)] == [1 << n for n in range(9)]
