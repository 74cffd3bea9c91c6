"""Rounding against exact rational numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from each_case import each_case

from tilewright.ptxsim import rounding
from tilewright.ptxsim.float_formats import FORMATS
from tilewright.ptxsim.instructions import floating

# Precision, least exponent of a subnormal's last bit, largest exponent.
SHAPES = {
    "f16": (11, -24, 15),
    "bf16": (8, -133, 127),
    "f32": (24, -149, 127),
    "f64": (53, -1074, 1023),
}
MODES = ("rn", "rz", "rm", "rp")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def round_exactly(value: Fraction, name: str, mode: str) -> float:
    """Round a nonzero number once, by integer arithmetic."""
    precision, least, most = SHAPES[name]
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    unit = max(exponent - precision + 1, least)
    scaled = magnitude / Fraction(2) ** unit
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    twice = 2 * rest
    away = {
        "rn": twice > scaled.denominator or (twice == scaled.denominator and whole & 1),
        "rz": False,
        "rm": value < 0 and rest > 0,
        "rp": value > 0 and rest > 0,
    }[mode]
    result = (whole + bool(away)) * Fraction(2) ** unit
    largest = (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** most
    if result > largest:
        outward = mode == "rn" or mode == ("rp" if value > 0 else "rm")
        result = math.inf if outward else largest
    return float(result) if value > 0 else -float(result)


def interesting(name: str, count: int, seed: int) -> np.ndarray:
    """Sample finite numbers of a format: random bits, close, tiny and huge numbers."""
    rng = np.random.default_rng(seed)
    width = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}[name]
    dtype = np.dtype(f"u{width // 8}")
    bits = (
        rng.integers(0, 1 << width, count, np.uint64, endpoint=False)
        if width < 64
        else (rng.integers(0, 2**64, count, np.uint64))
    )
    bits = bits.astype(dtype)
    # A third has few mantissa bits, so that exact results are often halfway between two numbers.
    few = rng.integers(0, 3, count) == 0
    keep = ~dtype.type((1 << (SHAPES[name][0] // 2)) - 1)
    bits = np.where(few, bits & keep, bits)
    values = FORMATS[name].decode(bits if name == "bf16" else bits.view(FORMATS[name].type.dtype))
    values = np.where(np.isfinite(values), values, values.dtype.type(1.5))
    near = rng.integers(0, 2, count) == 0
    close = rng.integers(-(2**10), 2**10, count) / 2.0 ** rng.integers(0, 12, count)
    return np.where(near, close.astype(values.dtype), values)


def closed(name: str, mode: str, numbers: np.ndarray) -> np.ndarray:
    """Round results to the format of the registers, and return them as float64."""
    format = FORMATS[name]
    if name == "f64" or (name == "f32" and numbers.dtype == np.float32):
        return numbers.astype(np.float64)
    held = format.encode(numbers, mode)
    return format.decode(held).astype(np.float64)


def check(
    name: str,
    mode: str,
    function: Callable[..., np.ndarray],
    exact: Callable[..., Fraction],
    operands: int,
) -> None:
    columns = [interesting(name, 400, 10 * at + len(name)) for at in range(operands)]
    results = closed(name, mode, function(mode, FORMATS[name], *columns))
    for row, result in zip(zip(*columns, strict=True), results, strict=True):
        value = exact(*(Fraction(float(x)) for x in row))
        if value:
            assert float(result) == round_exactly(value, name, mode), (name, mode, row)
        else:
            assert result == 0


@each_case("mode", MODES)
@each_case("name", SHAPES)
def test_add(name: str, mode: str) -> None:
    check(name, mode, floating.add, lambda a, b: a + b, 2)


@each_case("mode", MODES)
@each_case("name", SHAPES)
def test_mul(name: str, mode: str) -> None:
    check(name, mode, floating.multiply, lambda a, b: a * b, 2)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SHAPES)
def test_fma(name: str, mode: str) -> None:
    check(name, mode, floating.fused, lambda a, b, c: a * b + c, 3)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["f32", "f64"])
def test_div(name: str, mode: str) -> None:
    divide = rounding.divide_f32 if name == "f32" else rounding.divide_f64

    def quotient(mode: str, format: object, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return divide(a, np.where(b == 0, b.dtype.type(3), b), mode)

    check(name, mode, quotient, lambda a, b: a / (b or 3), 2)


@each_case("mode", MODES)
@each_case("name", ["f32", "f64"])
def test_sqrt(name: str, mode: str) -> None:
    values = np.abs(interesting(name, 300, 3))
    roots = (rounding.sqrt_f32 if name == "f32" else rounding.sqrt_f64)(values, mode)
    for x, root in zip(values, roots, strict=True):
        r = Fraction(float(root))
        down = Fraction(float(np.nextafter(root, root.dtype.type(0))))
        up = Fraction(float(np.nextafter(root, root.dtype.type(np.inf))))
        square = Fraction(float(x))
        if mode == "rn":
            assert ((r + down) / 2) ** 2 <= square <= ((r + up) / 2) ** 2
        elif mode == "rp":
            assert down**2 < square <= r**2 or square == 0
        else:
            assert r**2 <= square < up**2


def test_fma_halfway_between_two_numbers() -> None:
    """a * b lies halfway between two f32 numbers, and c, however small, decides."""
    a, b = np.float32(1 + 2**-12), np.float32(1 + 2**-12)
    tiny = np.float32(2.0**-140)
    for c, expected in ((tiny, 1 + 2**-11 + 2**-23), (-tiny, 1 + 2**-11)):
        result = rounding.fma_f32(*(np.array([x]) for x in (a, b, c)))
        assert float(result[0]) == expected


def test_fma_near_the_limits_of_f64() -> None:
    cases = [
        (2.0**-1000, 2.0**-74, 2.0**-1074),
        (1.0 + 2.0**-52, 2.0**-1060, -(2.0**-1060)),
        (2.0**1000, 2.0**23, -(2.0**1023)),
        (1.5 * 2.0**1000, 2.0**24, -(2.0**1023)),
        (5e-324, 0.5, 5e-324),
    ]
    for a, b, c in cases:
        result = float(rounding.fma_f64(np.array([a]), np.array([b]), np.array([c]))[0])
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        assert result == (round_exactly(exact, "f64", "rn") if exact else 0.0)


@each_case(
    ("mode", "a", "b", "sign"),
    [
        ("rn", 1.0, -1.0, 1), ("rz", 1.0, -1.0, 1), ("rp", 1.0, -1.0, 1), ("rm", 1.0, -1.0, -1),
        ("rm", 0.0, 0.0, 1), ("rm", 0.0, -0.0, -1), ("rn", -0.0, -0.0, -1), ("rn", 0.0, -0.0, 1),
    ],
)  # fmt: skip
@each_case("name", ["f16", "f32", "f64"])
def test_signs_of_zero_results(name: str, mode: str, a: float, b: float, sign: int) -> None:
    dtype = np.float32 if name == "f32" else np.float64
    one, other = np.array([a], dtype), np.array([b], dtype)
    result = closed(name, mode, floating.add(mode, FORMATS[name], one, other))
    assert math.copysign(1, float(result[0])) == sign
    scaled = floating.fused(mode, FORMATS[name], one, np.ones(1, dtype), other)
    assert math.copysign(1, float(closed(name, mode, scaled)[0])) == sign


def test_infinities_and_nan() -> None:
    inf = np.array([np.inf], np.float32)
    assert np.isnan(rounding.fma_f32(inf, np.zeros(1, np.float32), inf))[0]
    wide = inf.astype(np.float64)
    assert rounding.fma_f64(wide, wide, wide)[0] == np.inf
    assert np.isnan(rounding.fma_f64(wide, wide, -wide))[0]
    assert rounding.fma_f64(np.array([1e308]), np.array([1e308]), -wide)[0] == -np.inf
    assert rounding.canonical(np.array([np.nan, 1], np.float32)).view(np.uint32).tolist() == [
        0x7FFFFFFF,
        0x3F800000,
    ]


def test_bf16_keeps_every_value() -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    wide = rounding.widen_bf16(bits)
    number = ~np.isnan(wide)
    for mode in MODES:
        np.testing.assert_array_equal(rounding.narrow_bf16(wide, mode)[number], bits[number])
    assert (rounding.narrow_bf16(wide, "rn")[~number] == 0x7FFF).all()
