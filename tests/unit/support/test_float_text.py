"""Decimal text of floats, against tileirdisasm, Python's own conversions and exact fractions."""

from __future__ import annotations

import doctest
import struct
from fractions import Fraction
from pathlib import Path

import pytest
from each_case import each_case
from hypothesis import given
from hypothesis import strategies as st
from repeats import keep

from tilewright.support import float_text
from tilewright.support.float_text import parse_decimal, print_decimal
from tilewright.support.floats import (
    F4E2M1FN,
    F8E4M3FN,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    FNV8E5M3FNU,
    FORMATS,
    FloatFormat,
    Kind,
    decode,
)

PRINTED = [
    tuple(line.split())
    for line in Path(__file__).with_name("printed_floats.txt").read_text().splitlines()
    if not line.startswith("#")
]


def f64_pattern(number: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", number))[0]


def test_the_examples_in_the_documentation() -> None:
    assert doctest.testmod(float_text).failed == 0


def test_the_samples_cover_every_format_and_every_form() -> None:
    assert {name for name, _, _ in PRINTED} == set(FORMATS)
    texts = [text for _, _, text in PRINTED]
    forms = ("e-", "E-", "0x", "e+", "E+")
    assert all(any(form in text for text in texts) for form in forms)
    assert any(form not in text for text in texts for form in forms)


def test_numbers_print_as_tileirdisasm_prints_them() -> None:
    ours = [print_decimal(int(hex_, 16), FORMATS[name]) for name, hex_, _ in PRINTED]
    assert ours == [text for _, _, text in PRINTED]


@each_case(
    ("pattern", "format", "text"),
    [
        (0x3C00, F16, "1.000000e+00"),
        (0x8000, F16, "-0.000000e+00"),
        (0x4248, F16, "3.140630e+00"),  # six significant digits, then a zero
        (0x4B800000, F32, "0x4B800000"),  # 16777216: eight digits, no decimal point
        (0x4B7FFFFF, F32, "0x4B7FFFFF"),
        (0x00000001, F32, "1.401300e-45"),
        (0xFF800000, F32, "0xFF800000"),
        (0x3FB999999999999A, F64, "1.000000e-01"),
        (0x3FD5555555555555, F64, "0.33333333333333331"),
        (0x7FEFFFFFFFFFFFFF, F64, "1.7976931348623157E+308"),
        (0x0000000000000001, F64, "4.940660e-324"),
        (0xFE, FNV8E5M3FNU, "1.146880e+05"),
    ],
)
def test_hand_picked_numbers(pattern: int, format: FloatFormat, text: str) -> None:
    assert print_decimal(pattern, format) == text


@pytest.mark.parametrize(
    ("format", "step"),
    # All patterns of eight bits; seven has no divisor in common with the fields of the others.
    keep(
        [
            (f, step)
            for f in FORMATS.values()
            if f.width <= 16
            for step in {1, 1 + 6 * (f.width > 8)}
        ],
        lambda case: case[1] > 1 or case[0].width <= 8,
    ),
    ids=repr,
)
def test_what_is_printed_parses_back(format: FloatFormat, step: int) -> None:
    for pattern in range(0, 1 << format.width, step):
        text = print_decimal(pattern, format)
        back = int(text, 16) if text.startswith("0x") else parse_decimal(text, format)
        assert back == pattern, text


@given(st.integers(0, 2**64 - 1), st.sampled_from([F32, F64]))
def test_what_is_printed_parses_back_in_wide_formats(pattern: int, format: FloatFormat) -> None:
    pattern >>= 64 - format.width
    text = print_decimal(pattern, format)
    if text.startswith("0x"):
        assert int(text, 16) == pattern
    else:
        assert parse_decimal(text, format) == pattern
        assert f64_pattern(float(text)) == pattern or format is F32


@given(st.integers(-(10**40), 10**40), st.integers(0, 10**30), st.integers(-380, 320))
def test_f64_parses_as_python_parses_it(whole: int, fraction: int, exponent: int) -> None:
    text = f"{whole}.{fraction}e{exponent:+d}"
    assert parse_decimal(text, F64) == f64_pattern(float(text))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=12), st.integers(-30, 30))
def test_f32_parses_to_the_nearest(decimal: object, exponent: int) -> None:
    text = f"{decimal:f}e{exponent}"
    pattern = parse_decimal(text, F32)
    assert pattern is not None
    target, magnitude = abs(Fraction(text)), pattern & ~F32.sign
    if magnitude == F32.infinity:
        assert target >= (2**24 - Fraction(1, 2)) * 2**104
        return
    neighbours = [decode(m, F32) for m in (max(magnitude - 1, 0), magnitude, magnitude + 1)]
    distances = [
        abs(n.significand * Fraction(2) ** n.exponent - target)
        for n in neighbours
        if n.kind is Kind.FINITE
    ]
    assert distances[1] == min(distances)


@each_case(
    ("text", "format", "pattern"),
    [
        ("2049", F16, 0x6800),  # ties, to the even one
        ("2051", F16, 0x6802),
        ("2049.0000000000000000000000000000000000000000000000000000000000001", F16, 0x6801),
        ("1" + "0" * 5000, F32, 0x7F800000),
        ("0." + "0" * 5000 + "1", F32, 0),
        ("1" + "0" * 1000 + "e-1000", F32, 0x3F800000),
        ("1e99999999999999999999999999", F64, 0x7FF0000000000000),
        ("-1e-99999999999999999999999999", F64, 0x8000000000000000),
        ("0e99999999999999999999999999", F64, 0),
        ("16777217." + "0" * 900, F32, 0x4B800000),
        ("16777217." + "0" * 900 + "1", F32, 0x4B800001),
        ("464", F8E4M3FN, 0x7E),
        ("464.001", F8E4M3FN, 0x7F),
        ("100", F4E2M1FN, 0x7),
        ("-0.25", F4E2M1FN, 0x8),
        ("0.0", F8E8M0FNU, 0x00),
        ("3.0", F8E8M0FNU, 0x81),
        ("-1.0", F8E8M0FNU, None),
        ("-0.0", FNV8E5M3FNU, None),
    ],
)
def test_parsing_at_the_edges(text: str, format: FloatFormat, pattern: int | None) -> None:
    assert parse_decimal(text, format) == pattern


@each_case("text", ["", ".", "1.0f", "0x10", "1e", "nan", "--1", "1 ", "1_0", ".5"])
def test_what_is_no_decimal_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a decimal number"):
        parse_decimal(text, F32)
