"""Conversions against NumPy, the published tables, and hand calculation."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from each_case import each_case
from hypothesis import given
from hypothesis import strategies as st

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
    FloatFormat,
    Rounding,
    decode,
    encode,
    is_nan,
    widens,
)
from tilewright.support.numerics import conversion

WIDE = {F16: np.float16, BF16: ml_dtypes.bfloat16, F32: np.float32, F64: np.float64}
STORAGE = {16: np.uint16, 32: np.uint32, 64: np.uint64}


@pytest.mark.parametrize("source", [F16, BF16], ids=repr)
@pytest.mark.parametrize("target", WIDE, ids=repr)
def test_patterns_of_16_bits_convert_as_in_numpy(source: FloatFormat, target: FloatFormat) -> None:
    patterns = np.arange(0, 1 << 16, 3).astype(np.uint16)
    with np.errstate(all="ignore"):
        converted = patterns.view(WIDE[source]).astype(WIDE[target])
    expected = converted.view(STORAGE[target.width]).tolist()
    for pattern, theirs in zip(patterns.tolist(), expected, strict=True):
        ours = conversion.float_to_float(pattern, source, target)
        assert ours is not None
        assert ours == theirs or (is_nan(ours, target) and is_nan(theirs, target))


@given(st.integers(0, 2**32 - 1))
def test_to_tf32_by_adding_and_cutting(pattern: int) -> None:
    """Rounding on the bits of an f32: tf32 is its upper 19."""
    if pattern & 0x7F800000 == 0x7F800000:
        return
    convert = conversion.float_to_float
    assert convert(pattern, F32, TF32, Rounding.ZERO) == pattern >> 13
    assert convert(pattern, F32, TF32, Rounding.NEAREST_AWAY) == (pattern + 0x1000) >> 13
    even = (pattern + 0x0FFF + (pattern >> 13 & 1)) >> 13
    assert convert(pattern, F32, TF32, Rounding.NEAREST_EVEN) == even


INF, MINUS_INF, NAN, HUGE, MINUS_HUGE = 0x7F800000, 0xFF800000, 0xFFC00000, 0x7F000000, 0xFF000000


@each_case(
    ("target", "expected"),
    [
        (F16, (0x7C00, 0xFC00, 0x7E00, 0x7C00, 0xFC00)),
        (BF16, (0x7F80, 0xFF80, 0x7FC0, 0x7F00, 0xFF00)),
        (TF32, (0x3FC00, 0x7FC00, 0x3FE00, 0x3F800, 0x7F800)),
        (F8E4M3FN, (0x7E, 0xFE, 0x7F, 0x7E, 0xFE)),
        (F8E5M2, (0x7B, 0xFB, 0x7E, 0x7B, 0xFB)),
        (F4E2M1FN, (0x7, 0xF, 0x7, 0x7, 0xF)),
        (F8E8M0FNU, (0xFE, 0xFE, 0xFF, 0xFE, 0xFE)),
        (FNV8E5M3FNU, (0xFE, None, 0xFF, 0xFE, None)),
    ],
    ids=repr,
)
def test_what_is_too_large(target: FloatFormat, expected: tuple[int | None, ...]) -> None:
    sources = (INF, MINUS_INF, NAN, HUGE, MINUS_HUGE)
    assert tuple(conversion.float_to_float(s, F32, target) for s in sources) == expected


@each_case(
    ("number", "rounding", "expected"),
    [
        (65519.0, Rounding.NEAREST_EVEN, 0x7BFF),
        (65520.0, Rounding.NEAREST_EVEN, 0x7C00),
        (1e30, Rounding.ZERO, 0x7BFF),
        (-1e30, Rounding.ZERO, 0xFBFF),
        (2.0**-25, Rounding.NEAREST_EVEN, 0x0000),
        (2.0**-24 * 1.5, Rounding.NEAREST_EVEN, 0x0002),
        (-(2.0**-26), Rounding.NEAREST_EVEN, 0x8000),
        (-(2.0**-26), Rounding.ZERO, 0x8000),
    ],
)
def test_f64_to_f16_at_the_edges(number: float, rounding: Rounding, expected: int) -> None:
    pattern = int(np.float64(number).view(np.uint64))
    assert conversion.float_to_float(pattern, F64, F16, rounding) == expected


@each_case(
    ("number", "zero", "up"),
    [
        (0.0, 0x00, 0x00),
        (-0.0, 0x00, 0x00),
        (1.0, 0x7F, 0x7F),
        (1.5, 0x7F, 0x80),
        (-1.5, 0x7F, 0x80),
        (2.0**-127, 0x00, 0x00),
        (2.0**-149, 0x00, 0x00),
        (1.5 * 2.0**-127, 0x00, 0x01),
        (1.5 * 2.0**127, 0xFE, 0xFE),
    ],
)
def test_f8e8m0fnu_takes_the_magnitude(number: float, zero: int, up: int) -> None:
    pattern = int(np.float32(number).view(np.uint32))
    assert conversion.float_to_float(pattern, F32, F8E8M0FNU, Rounding.ZERO) == zero
    assert conversion.float_to_float(pattern, F32, F8E8M0FNU, Rounding.POSITIVE_INF) == up


def test_negative_zero_is_zero_in_fnv8e5m3fnu() -> None:
    assert conversion.float_to_float(0x80000000, F32, FNV8E5M3FNU) == 0
    assert conversion.float_to_float(0x3F800000, F32, FNV8E5M3FNU) == 0x78


INTEGERS = [
    (np.int8, np.uint8, 8),
    (np.int16, np.uint16, 16),
    (np.int32, np.uint32, 32),
    (np.int64, np.uint64, 64),
]


@each_case(("signed", "unsigned", "width"), INTEGERS)
@each_case("target", [F16, F32, F64], ids=repr)
def test_integers_become_the_floats_of_numpy(
    signed: type[np.signedinteger],
    unsigned: type[np.unsignedinteger],
    width: int,
    target: FloatFormat,
) -> None:
    rng = np.random.default_rng(width)
    patterns = rng.integers(0, np.iinfo(unsigned).max, 1_000, dtype=unsigned, endpoint=True)
    patterns[::2] >>= unsigned(width // 3)
    for dtype, is_signed in ((signed, True), (unsigned, False)):
        with np.errstate(over="ignore"):
            converted = patterns.view(dtype).astype(WIDE[target])
        got = [
            conversion.int_to_float(p, width, target, signed=is_signed) for p in patterns.tolist()
        ]
        assert got == converted.view(STORAGE[target.width]).tolist()


@each_case(
    ("pattern", "width", "signed", "target", "expected"),
    [
        (1, 1, True, F32, 0xBF800000),
        (1, 1, False, F32, 0x3F800000),
        (65536, 32, True, F16, 0x7C00),
        (500, 16, True, F8E4M3FN, 0x7E),
        (500, 16, True, F8E5M2, 0x60),
        (0xFE0C, 16, True, F8E4M3FN, 0xFE),
        (7, 8, True, F4E2M1FN, 0x7),
        (3, 8, True, F8E8M0FNU, 0x81),
        (0xFF, 8, True, FNV8E5M3FNU, None),
        (0xFF, 8, False, FNV8E5M3FNU, 0xB8),
        (16777217, 32, True, F32, 0x4B800000),
        (2**64 - 1, 64, False, F64, 0x43F0000000000000),
    ],
)
def test_integers_to_floats_by_hand(
    pattern: int, width: int, signed: bool, target: FloatFormat, expected: int | None
) -> None:
    assert conversion.int_to_float(pattern, width, target, signed=signed) == expected


@pytest.mark.parametrize("saturating", [False, True])
@pytest.mark.parametrize("is_signed", [False, True])
@pytest.mark.parametrize("width", [1, 8, 16, 32, 64])
def test_f16_become_integers(width: int, is_signed: bool, saturating: bool) -> None:
    low, high = (-(1 << (width - 1)), 1 << (width - 1)) if is_signed else (0, 1 << width)
    patterns = np.arange(0, 1 << 16, 7).astype(np.uint16)
    with np.errstate(invalid="ignore"):  # a signalling NaN, converted
        numbers = patterns.view(np.float16).astype(np.float64).tolist()
    for pattern, number in zip(patterns.tolist(), numbers, strict=True):
        got = conversion.float_to_int(pattern, F16, width, signed=is_signed, saturating=saturating)
        if number != number:
            assert got == (0 if saturating else None)
        elif low <= (whole := np.trunc(number)) < high:
            assert got == int(whole) % (1 << width)
        elif saturating:
            assert got == (low if number < 0 else high - 1) % (1 << width)
        else:
            assert got is None


def test_infinities_and_huge_numbers_become_integers_only_if_saturating() -> None:
    for pattern, clamped in ((INF, 0x7FFFFFFF), (MINUS_INF, 0x80000000), (HUGE, 0x7FFFFFFF)):
        assert conversion.float_to_int(pattern, F32, 32, signed=True) is None
        got = conversion.float_to_int(pattern, F32, 32, signed=True, saturating=True)
        assert got == clamped


def test_widening_and_narrowing_integers() -> None:
    assert conversion.extend(0x80, 8, 16, signed=True) == 0xFF80
    assert conversion.extend(0x80, 8, 16, signed=False) == 0x0080
    assert conversion.extend(1, 1, 8, signed=True) == 0xFF
    assert conversion.truncate(0x1234, 8) == 0x34


@pytest.mark.parametrize("signed", [False, True])
def test_truncation_overflows_where_extending_does_not_undo_it(signed: bool) -> None:
    for pattern in range(1 << 12):
        back = conversion.extend(conversion.truncate(pattern, 5), 5, 12, signed=signed)
        overflows = conversion.truncate_overflows(pattern, 12, 5, signed=signed)
        assert overflows == (back != pattern)


def test_bitcast_keeps_the_pattern() -> None:
    assert conversion.bitcast(0x3F800000, 32, 32) == 0x3F800000
    with pytest.raises(ValueError, match="equal widths, got 19 and 32"):
        conversion.bitcast(0, 19, 32)


@pytest.mark.parametrize("source", [f for f in FORMATS.values() if f.width <= 16], ids=repr)
def test_widening_is_exact_whatever_the_rounding(source: FloatFormat) -> None:
    targets = [t for t in FORMATS.values() if t.width > 8 and widens(source, t)]
    assert F64 in targets
    for pattern in range(0, 1 << source.width, 1 if source.width <= 8 else 61):
        value = decode(pattern, source)
        if value.is_nan:
            continue
        for target in targets:
            results = {conversion.float_to_float(pattern, source, target, r) for r in Rounding}
            assert len(results) == 1
            back = encode(decode(results.pop() or 0, target), source)
            assert back == pattern
