"""Formats, decoding and rounding, against NumPy, ml_dtypes and the definition of rounding."""

from __future__ import annotations

import doctest
import math
import struct
from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
from each_case import each_case
from hypothesis import given
from hypothesis import strategies as st

from tilewright.support import floats
from tilewright.support.floats import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    FNV8E5M3FNU,
    FORMATS,
    TF32,
    Exact,
    FloatFormat,
    Kind,
    Rounding,
    decode,
    encode,
    is_nan,
    is_subnormal,
)

DTYPES = {
    F16: np.float16,
    BF16: ml_dtypes.bfloat16,
    F8E4M3FN: ml_dtypes.float8_e4m3fn,
    F8E5M2: ml_dtypes.float8_e5m2,
    F8E8M0FNU: ml_dtypes.float8_e8m0fnu,
    F4E2M1FN: ml_dtypes.float4_e2m1fn,
}
ROUNDINGS = list(Rounding)
SMALL = [format for format in FORMATS.values() if format.width <= 8]


def fraction(value: Exact) -> Fraction:
    assert value.kind is Kind.FINITE
    magnitude = value.significand * Fraction(2) ** value.exponent
    return -magnitude if value.negative else magnitude


def exact(number: Fraction) -> Exact:
    """The value of a dyadic fraction."""
    exponent = number.denominator.bit_length() - 1
    assert number.denominator == 1 << exponent
    return Exact(number < 0, abs(number.numerator), -exponent)


def as_float(pattern: int, format: FloatFormat) -> float:
    value = decode(pattern, format)
    if value.is_nan:
        return math.nan
    magnitude = math.inf if value.is_infinite else math.ldexp(value.significand, value.exponent)
    return -magnitude if value.negative else magnitude


def same(a: float, b: float) -> bool:
    """Equal, with the sign of zero, and NaN equal to itself."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1, a) == math.copysign(1, b)


def test_the_examples_in_the_documentation() -> None:
    assert doctest.testmod(floats).failed == 0


def test_the_table_of_formats() -> None:
    rows = {
        f.name: (f.width, f.precision, f.min_exponent, f.max_exponent) for f in FORMATS.values()
    }
    assert rows == {
        "f16": (16, 11, -14, 15),
        "bf16": (16, 8, -126, 127),
        "f32": (32, 24, -126, 127),
        "f64": (64, 53, -1022, 1023),
        "tf32": (19, 11, -126, 127),
        "f8E4M3FN": (8, 4, -6, 8),
        "f8E5M2": (8, 3, -14, 15),
        "f8E8M0FNU": (8, 1, -127, 127),
        "f4E2M1FN": (4, 2, 0, 2),
        "fnv8E5M3FNU": (8, 4, -14, 16),
    }


@each_case(
    ("format", "max_finite", "infinity", "nan"),
    [
        (F16, 0x7BFF, 0x7C00, 0x7E00),
        (BF16, 0x7F7F, 0x7F80, 0x7FC0),
        (F32, 0x7F7FFFFF, 0x7F800000, 0x7FC00000),
        (F64, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000),
        (TF32, 0x3FBFF, 0x3FC00, 0x3FE00),
        (F8E4M3FN, 0x7E, None, 0x7F),
        (F8E5M2, 0x7B, 0x7C, 0x7E),
        (F8E8M0FNU, 0xFE, None, 0xFF),
        (F4E2M1FN, 0x7, None, None),
        (FNV8E5M3FNU, 0xFE, None, 0xFF),
    ],
)
def test_landmarks(
    format: FloatFormat, max_finite: int, infinity: int | None, nan: int | None
) -> None:
    assert (format.max_finite, format.infinity, format.nan) == (max_finite, infinity, nan)


@pytest.mark.parametrize("format", DTYPES, ids=repr)
def test_every_pattern_is_worth_what_numpy_says(format: FloatFormat) -> None:
    storage = np.uint16 if format.width == 16 else np.uint8
    patterns = np.arange(1 << format.width).astype(storage)
    with np.errstate(invalid="ignore"):  # a signalling NaN, converted
        expected = patterns.view(DTYPES[format]).astype(np.float64).tolist()
    assert all(same(as_float(p, format), e) for p, e in enumerate(expected))


def test_the_patterns_of_fnv8e5m3fnu() -> None:
    by_hand = {0x00: 0.0, 0x01: 2.0**-17, 0x07: 7 * 2.0**-17, 0x08: 2.0**-14, 0x78: 1.0}
    by_hand |= {0x79: 1.125, 0xF0: 32768.0, 0xF8: 65536.0, 0xFE: 114688.0}
    assert {p: as_float(p, FNV8E5M3FNU) for p in by_hand} == by_hand
    assert math.isnan(as_float(0xFF, FNV8E5M3FNU))


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1))
def test_f32_and_f64_are_the_machine_s(single: int, double: int) -> None:
    assert same(as_float(single, F32), struct.unpack("<f", struct.pack("<I", single))[0])
    assert same(as_float(double, F64), struct.unpack("<d", struct.pack("<Q", double))[0])


@given(st.integers(0, 2**19 - 1))
def test_tf32_is_the_upper_part_of_f32(pattern: int) -> None:
    assert same(as_float(pattern, TF32), as_float(pattern << 13, F32))


@pytest.mark.parametrize("format", [f for f in FORMATS.values() if f.width <= 16], ids=repr)
def test_every_number_encodes_to_its_own_pattern(format: FloatFormat) -> None:
    for pattern in range(1 << format.width):
        value = decode(pattern, format)
        if value.is_nan:
            assert is_nan(pattern, format)
            assert encode(value, format) == format.nan
            continue
        assert not is_nan(pattern, format)
        assert encode(value, format, ROUNDINGS[pattern % 5]) == pattern


def neighbours(format: FloatFormat) -> tuple[list[Fraction], dict[Fraction, int]]:
    """The finite numbers in order, and the pattern of each (that of +0 for zero)."""
    patterns = {
        fraction(value): pattern
        for pattern in reversed(range(1 << format.width))
        if (value := decode(pattern, format)).kind is Kind.FINITE
    }
    return sorted(patterns), patterns


def by_definition(
    number: Fraction, below: Fraction, above: Fraction, even: Fraction, rounding: Rounding
) -> Fraction:
    """Which of the two neighbours of a number between them rounding picks."""
    away, toward = (above, below) if number > 0 else (below, above)
    if rounding is Rounding.NEGATIVE_INF:
        return below
    if rounding is Rounding.POSITIVE_INF:
        return above
    if rounding is Rounding.ZERO:
        return toward
    if number - below != above - number:
        return below if number - below < above - number else above
    return even if rounding is Rounding.NEAREST_EVEN else away


@each_case("format", SMALL, ids=repr)
@each_case("rounding", Rounding)
def test_between_two_neighbours_rounding_picks_by_definition(
    format: FloatFormat, rounding: Rounding
) -> None:
    ordered, patterns = neighbours(format)
    for below, above in pairwise(ordered):
        even = above if patterns[below] & 1 else below
        if format is F8E8M0FNU:
            even = above  # both are odd, having one bit: IEEE 754 takes the larger
        for part in (Fraction(1, 1024), Fraction(1, 2), Fraction(1023, 1024)):
            number = below + (above - below) * part
            expected = by_definition(number, below, above, even, rounding)
            got = encode(exact(number), format, rounding)
            assert fraction(decode(got, format)) == expected, (number, hex(got))
            # A number that underflows keeps its sign.
            assert not format.signed or (got & format.sign != 0) == (number < 0)


def test_encoding_picks_neighbours_that_bisection_finds() -> None:
    ordered, _ = neighbours(F8E4M3FN)
    for numerator in range(-(448 << 4), 448 << 4, 7):
        number = Fraction(numerator, 16)
        below = ordered[bisect_right(ordered, number) - 1]
        got = encode(exact(number), F8E4M3FN, Rounding.NEGATIVE_INF)
        assert fraction(decode(got, F8E4M3FN)) == below


@pytest.mark.parametrize("format", [F16, BF16, F8E4M3FN, F8E5M2], ids=repr)
def test_nearest_even_is_numpy_s_cast(format: FloatFormat) -> None:
    rng = np.random.default_rng(1)
    singles = rng.integers(0, 2**32, 20_000, dtype=np.uint32)
    # Half of them near the range of the format, for most of f32 overflows a small one.
    singles[::2] = (rng.normal(size=10_000) * 100).astype(np.float32).view(np.uint32)
    with np.errstate(all="ignore"):
        cast = singles.view(np.float32).astype(DTYPES[format])
    expected = cast.view(np.uint16 if format.width == 16 else np.uint8).tolist()
    for single, pattern in zip(singles.tolist(), expected, strict=True):
        got = encode(decode(single, F32), format)
        assert got == pattern or (is_nan(got, format) and is_nan(pattern, format)), hex(single)


def f64_pattern(number: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", number))[0]


@given(st.one_of(st.floats(), st.floats(-4e38, 4e38), st.floats(-1e-37, 1e-37)))
def test_f64_to_f32_agrees_with_numpy(number: float) -> None:
    with np.errstate(all="ignore"):
        expected = float(np.float64(number).astype(np.float32))
    got = encode(decode(f64_pattern(number), F64), F32)
    assert same(as_float(got, F32), expected)


@given(st.one_of(st.floats(-1e38, 1e38), st.floats(-1e-37, 1e-37)))
def test_directed_roundings_enclose_the_number(number: float) -> None:
    value = decode(f64_pattern(number), F64)
    down, up, zero = (
        encode(value, F32, rounding)
        for rounding in (Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF, Rounding.ZERO)
    )
    assert as_float(down, F32) <= number <= as_float(up, F32)
    assert zero == (up if value.negative else down)
    # No other f32 lies between them.
    assert abs((down & ~F32.sign) - (up & ~F32.sign)) == (as_float(down, F32) != number)
    assert encode(value, F32) in (down, up)


OVERFLOW = Exact(False, 1, 200)


@each_case(
    ("format", "rounding", "saturate", "expected"),
    [
        (F16, Rounding.NEAREST_EVEN, False, 0x7C00),
        (F16, Rounding.NEAREST_AWAY, False, 0x7C00),
        (F16, Rounding.POSITIVE_INF, False, 0x7C00),
        (F16, Rounding.NEGATIVE_INF, False, 0x7BFF),
        (F16, Rounding.ZERO, False, 0x7BFF),
        (F16, Rounding.NEAREST_EVEN, True, 0x7BFF),
        (F8E4M3FN, Rounding.NEAREST_EVEN, False, 0x7F),
        (F8E4M3FN, Rounding.NEAREST_EVEN, True, 0x7E),
        (F8E5M2, Rounding.NEAREST_EVEN, False, 0x7C),
        (F8E5M2, Rounding.NEAREST_EVEN, True, 0x7B),
        (F8E8M0FNU, Rounding.POSITIVE_INF, False, 0xFF),
        (F8E8M0FNU, Rounding.POSITIVE_INF, True, 0xFE),
        (F8E8M0FNU, Rounding.ZERO, False, 0xFE),
        (F4E2M1FN, Rounding.NEAREST_EVEN, False, 0x7),
        (FNV8E5M3FNU, Rounding.NEAREST_EVEN, True, 0xFE),
    ],
)
def test_overflow(format: FloatFormat, rounding: Rounding, saturate: bool, expected: int) -> None:
    assert encode(OVERFLOW, format, rounding, saturate=saturate) == expected


@each_case("negative", [False, True])
@each_case(("numerator", "expected"), [(65519, 0x7BFF), (65520, 0x7C00), (65521, 0x7C00)])
def test_f16_overflows_halfway_to_the_next_power_of_two(
    numerator: int, expected: int, negative: bool
) -> None:
    assert encode(Exact(negative, numerator, 0), F16) == F16.signed_pattern(expected, negative)


def test_directed_rounding_overflows_on_one_side_only() -> None:
    assert encode(Exact(True, 1, 200), F16, Rounding.NEGATIVE_INF) == 0xFC00
    assert encode(Exact(True, 1, 200), F16, Rounding.POSITIVE_INF) == 0xFBFF


@each_case(
    ("number", "zero", "up", "nearest"),
    [
        (Fraction(0), 0x00, 0x00, 0x00),
        (Fraction(1, 2**140), 0x00, 0x00, 0x00),
        (Fraction(3, 2**128), 0x00, 0x01, 0x01),
        (Fraction(1), 0x7F, 0x7F, 0x7F),
        (Fraction(5, 4), 0x7F, 0x80, 0x7F),
        (Fraction(3, 2), 0x7F, 0x80, 0x80),
        (Fraction(3), 0x80, 0x81, 0x81),
    ],
)
def test_f8e8m0fnu_has_powers_of_two_and_no_zero(
    number: Fraction, zero: int, up: int, nearest: int
) -> None:
    value = exact(number)
    assert encode(value, F8E8M0FNU, Rounding.ZERO) == zero
    assert encode(value, F8E8M0FNU, Rounding.POSITIVE_INF) == up
    assert encode(value, F8E8M0FNU, Rounding.NEAREST_EVEN) == nearest


def test_a_sign_that_the_format_cannot_hold_is_dropped() -> None:
    assert encode(Exact(True, 1, 0), FNV8E5M3FNU) == 0x78
    assert encode(Exact(True, 1, 0), F8E8M0FNU) == 0x7F


def test_a_nan_that_the_format_cannot_hold_is_the_largest_number() -> None:
    assert encode(floats.NAN, F4E2M1FN) == 0x7


@given(st.integers(1, 1 << 70), st.integers(1, 1 << 70), st.sampled_from(list(Rounding)))
def test_a_ratio_is_rounded_exactly(numerator: int, denominator: int, rounding: Rounding) -> None:
    cut = floats.ratio(False, numerator, denominator, F16.precision)
    precise = (numerator << 300) // denominator
    sticky = Exact(False, precise << 1 | 1, -301)
    if numerator << 300 == precise * denominator:
        sticky = Exact(False, precise, -300)
    assert encode(cut, F16, rounding) == encode(sticky, F16, rounding)


def test_subnormal_means_below_the_smallest_normal_number() -> None:
    for format in FORMATS.values():
        first_normal = 1 << format.mantissa_bits
        assert not is_subnormal(0, format)
        assert is_subnormal(first_normal - 1, format) == (format is not F8E8M0FNU)
        assert not is_subnormal(first_normal, format)
