"""Fused multiply-add of f64 arrays against exact fractions, where its roundings are hard."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.dialects.cuda_tile.floating import IEEE
from tilewright.ir.types import F64
from tilewright.reference.numerics import floating
from tilewright.reference.tile import Array

Operands = tuple[Array, Array, Array]
COUNT = 1000


def numbers(rng: np.random.Generator, bits: int, low: int, high: int) -> Array:
    """Random numbers with significands of some bits, and exponents in a range."""
    significands = rng.integers(1 << bits - 1, 1 << bits, COUNT).astype(np.float64)
    signs = rng.choice([-1.0, 1.0], COUNT)
    return np.ldexp(significands * signs, rng.integers(low, high, COUNT) - bits + 1)


def any_exponents(rng: np.random.Generator) -> Operands:
    return (
        numbers(rng, 53, -1074, 1024),
        numbers(rng, 53, -1074, 1024),
        numbers(rng, 53, -1074, 1024),
    )


def near(rng: np.random.Generator, low: int, high: int) -> Operands:
    """The addend has about the size of the product, so that all bits meet."""
    a, b = numbers(rng, 53, low, high), numbers(rng, 53, low, high)
    return a, b, a * b * np.ldexp(rng.choice([-1.0, 1.0], COUNT), rng.integers(-120, 120, COUNT))


def cancelling(rng: np.random.Generator, low: int, high: int) -> Operands:
    """The addend is the product's nearest number or one of its neighbours, with the other sign."""
    a, b = numbers(rng, 53, low, high), numbers(rng, 53, low, high)
    bits = (-(a * b)).view(np.int64)
    return a, b, (bits + rng.integers(-2, 3, COUNT)).view(np.float64)


def tied(rng: np.random.Generator, low: int, high: int) -> Operands:
    """The product is half an ulp of the addend, and in half of the cases next to that."""
    c = numbers(rng, 53, low, high)
    a = np.ldexp(rng.choice([-1.0, 1.0], COUNT), np.frexp(c)[1] - 54 - 20)
    b = np.full(COUNT, 2.0**20)
    return a, np.where(rng.random(COUNT) < 0.5, np.nextafter(b, rng.choice([0, 1e9], COUNT)), b), c


def product_of_54_bits(rng: np.random.Generator, low: int, high: int) -> Operands:
    """The product is a tie, and the addend is zero or so small that only its sign matters."""
    a, b = numbers(rng, 27, low, high), numbers(rng, 27, low, high)
    small = np.ldexp(a * b, -rng.integers(110, 900, COUNT))
    return a, b, small * rng.choice([-1.0, 0.0, 1.0], COUNT)


def special(rng: np.random.Generator) -> Operands:
    values = [0.0, 1.0, 5e-324, 2.0**-1022, np.finfo(float).max, np.inf, np.nan, 2.0**-537, 1.5]
    signed = np.array([sign * value for value in values for sign in (1, -1)])
    a, b, c = (grid.reshape(-1) for grid in np.meshgrid(signed, signed, signed))
    return a, b, c


CASES: dict[str, Callable[[np.random.Generator], Operands]] = {
    "any exponents": any_exponents,
    "near": lambda rng: near(rng, -100, 100),
    "near, subnormal results": lambda rng: near(rng, -545, -500),
    "near, overflow": lambda rng: near(rng, 500, 515),
    "cancelling": lambda rng: cancelling(rng, -100, 100),
    "cancelling, subnormal results": lambda rng: cancelling(rng, -530, -485),
    "tied": lambda rng: tied(rng, -100, 100),
    "tied, at the smallest normal numbers": lambda rng: tied(rng, -1021, -940),
    "product of 54 bits": lambda rng: product_of_54_bits(rng, -100, 100),
    "product of 54 bits, subnormal": lambda rng: product_of_54_bits(rng, -540, -500),
    "special": special,
}


@pytest.mark.parametrize("mode", IEEE)
@pytest.mark.parametrize("case", CASES)
def test_fma_is_rounded_once(case: str, mode: Rounding) -> None:
    with np.errstate(all="ignore"):
        a, b, c = CASES[case](np.random.default_rng(len(case)))
        actual = floating.fma(a, b, c, F64, mode)
    for x, y, z, got in zip(a.tolist(), b.tolist(), c.tolist(), actual.tolist(), strict=True):
        expected = fused(x, y, z, mode)
        assert _same(got, expected), (x.hex(), y.hex(), z.hex(), got.hex(), expected.hex())


def _same(a: float, b: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1, a) == math.copysign(1, b)


def fused(a: float, b: float, c: float, mode: Rounding) -> float:
    """`a * b + c` of IEEE 754, from Python's fractions."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return float("nan") if a == 0 or b == 0 else a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact:
        return rounded(exact, mode)
    product_sign = math.copysign(1, a) * math.copysign(1, b)
    if product_sign == math.copysign(1, c) and (a == 0 or b == 0 or c != 0):
        return math.copysign(0.0, c)
    return -0.0 if mode is Rounding.NEGATIVE_INF else 0.0


def rounded(exact: Fraction, mode: Rounding) -> float:
    """A number other than zero as f64; Python divides integers to the nearest one."""
    try:
        nearest = exact.numerator / exact.denominator
        down, up = Fraction(nearest) > exact, Fraction(nearest) < exact
    except OverflowError:
        nearest = math.inf if exact > 0 else -math.inf
        down, up = exact > 0, exact < 0
    shrinks = down if exact > 0 else up
    if mode is Rounding.ZERO and shrinks:
        return math.nextafter(nearest, 0.0)
    if mode is Rounding.NEGATIVE_INF and down:
        return math.nextafter(nearest, -math.inf)
    if mode is Rounding.POSITIVE_INF and up:
        return math.nextafter(nearest, math.inf)
    return nearest or math.copysign(0.0, exact)
