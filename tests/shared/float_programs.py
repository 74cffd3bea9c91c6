"""Programs on floats: f16, bf16, fp8, single and double precision."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from program_table import Array, Case, Close, program, small

F32, F64, I32, U32 = np.float32, np.float64, np.int32, np.uint32


def f16_values(rng: np.random.Generator, shape: Any) -> Array:
    """Numbers of many sizes, infinities among them."""
    x = (rng.normal(size=shape) * 2.0 ** rng.integers(-12, 12, shape)).astype(np.float16)
    x.reshape(-1)[:3] = np.inf, -np.inf, 0
    return x


@program("halves halves.sm_80", 2, 64)
def half_axpy(rng: np.random.Generator) -> Case:
    x, y = f16_values(rng, 200), rng.normal(size=200).astype(np.float16)
    wanted = (F64(0.75) * x.astype(F64) + y.astype(F64)).astype(np.float16)
    return [x, y, 0.75, 100], {1: wanted}


@program("halves halves.sm_80", 2, 64)
def half_ops(rng: np.random.Generator) -> Case:
    a, b = f16_values(rng, 100), rng.normal(size=100).astype(np.float16)
    with np.errstate(all="ignore"):
        rows = [a + b, a - b, a * b, (a.astype(F32) / b.astype(F32)).astype(np.float16)]
        rows += [np.maximum(a, b), -np.abs(a), np.sqrt(np.abs(a)), np.clip(a + b, 0, 1)]
    rows = [row.astype(np.float16) for row in rows]
    return [a, b, np.zeros((100, 8), np.float16), 100], {2: np.stack(rows, axis=1)}


@program("halves halves.sm_80", 2, 64)
def half_compare(rng: np.random.Generator) -> Case:
    a, b = (small(rng, (100, 2), np.float16, 3) for _ in range(2))
    a[5:9, 0] = np.nan
    less = np.where(a < b, 0xFFFF, 0).astype(np.uint16)
    ge = np.where(a >= b, np.float16(1), np.float16(0)).astype(np.float16)
    equal = (a == b).all(axis=1) * 2 + np.isnan(a[:, 0])
    rows = [less.view(U32)[:, 0], equal.astype(U32), ge.view(U32)[:, 0]]
    return [a, b, np.zeros((100, 3), U32), 100], {2: np.stack(rows, axis=1)}


@program("halves halves.sm_80", 2, 64)
def half_integers(rng: np.random.Generator) -> Case:
    x = (rng.integers(-4000, 4000, 100) / 4).astype(np.float16)
    wide = x.astype(F64)
    tripled = (np.ceil(wide) * 3).astype(np.float16).view(np.uint16)
    rows = [np.rint(wide), np.trunc(wide), np.floor(wide), tripled]
    return [x, np.zeros((100, 4), I32), 100], {1: np.stack(rows, axis=1).astype(I32)}


def to_bf16(x: Array) -> Array:
    """Bits of float64 numbers rounded to bf16, to nearest even, once."""
    scale = np.ldexp(1.0, np.frexp(x)[1] - 8)
    rounded = np.rint(x / scale) * scale
    return (rounded.astype(F32).view(U32) >> U32(16)).astype(np.uint16)


def from_bf16(bits: Array) -> Array:
    """Numbers of bf16 bits."""
    return (bits.astype(U32) << U32(16)).view(F32).astype(F64)


def relu(x: Array) -> Array:
    """Clamp negative numbers to zero."""
    return np.where(x > 0, x, 0.0)


@program("halves halves.sm_80", 2, 64)
def bf16_ops(rng: np.random.Generator) -> Case:
    a, b = (to_bf16(rng.normal(size=100)) for _ in range(2))
    x, y = from_bf16(a), from_bf16(b)
    single = (x.astype(F32) * F32(1.0078125)).astype(F64) + y  # exact: 16 bits
    rows = [x + y, x * y, x * y + x, np.minimum(x, y), single.astype(F32).astype(F64)]
    wanted = np.stack([to_bf16(row) for row in rows], axis=1)
    return [a, b, np.zeros((100, 5), np.uint16), 100], {2: wanted}


@program("halves halves.sm_80", 2, 64)
def bf16_pairs(rng: np.random.Generator) -> Case:
    a, b = (to_bf16(rng.normal(size=(100, 2))) for _ in range(2))
    x, y = from_bf16(a), from_bf16(b)
    third = (x[:, :1].astype(F32) / F32(3)).astype(F64)
    turned = np.concatenate((x[:, 1:] * 3, third), axis=1)
    wanted = np.stack([to_bf16(v) for v in (relu(x * y + x), np.maximum(x, y), turned)], axis=1)
    return [a, b, np.zeros((100, 3, 2), np.uint16), 100], {2: wanted}


@program("halves halves.sm_80", 4, 32)
def softmax_half(rng: np.random.Generator) -> Case:
    x = rng.normal(size=(4, 70)).astype(np.float16)
    e = np.exp(x.astype(F64) - x.astype(F64).max(axis=1, keepdims=True))
    return [x, np.zeros_like(x), 70], {1: Close(e / e.sum(axis=1, keepdims=True), 1e-3)}


@program("halves halves.sm_80", 3, 32)
def half_atomics(rng: np.random.Generator) -> Case:
    x = small(rng, (80, 2), np.float16, 4)
    reduced = x.astype(F64).reshape(20, 4, 2).sum(axis=0)
    args = [x, np.zeros((4, 2), np.float16), np.zeros((4, 2), np.uint16), 80]
    return args, {1: reduced.astype(np.float16), 2: to_bf16(reduced)}


def f8_table(mantissa: int) -> Array:
    """Return the values of the positive patterns of an fp8 format, up to the largest number."""
    bias = 7 if mantissa == 3 else 15
    codes = np.arange(0x7F if mantissa == 3 else 0x7C)
    exponent, fraction = codes >> mantissa, (codes & ((1 << mantissa) - 1)) / (1 << mantissa)
    return np.where(exponent == 0, 2.0 * fraction, 1 + fraction) * 2.0 ** (exponent - bias)


def to_f8(x: Array, mantissa: int) -> Array:
    """The nearest pattern, the even one of two; large numbers become the largest."""
    table = f8_table(mantissa)
    gaps = np.abs(np.abs(x)[..., None] - table)
    best = gaps.min(axis=-1, keepdims=True)
    first = (gaps == best).argmax(axis=-1)
    tie = (gaps == best).sum(axis=-1) > 1
    return (first + (tie & (first % 2 == 1)) + 128 * np.signbit(x)).astype(np.uint8)


@program("halves halves.sm_80", 2, 64)
def quantize_f8(rng: np.random.Generator) -> Case:
    x = (rng.normal(size=(100, 2)) * 2.0 ** rng.integers(-12, 18, (100, 2))).astype(F32)
    x[0], x[1] = (1.0625, 1.1875), (-0.0, 1e9)
    e4m3, e5m2 = to_f8(x.astype(F64), 3), to_f8(x.astype(F64), 2)
    table = f8_table(3)
    back = (np.where(e4m3 >> 7, -1, 1) * table[e4m3 & 127]).astype(F32)
    args = [x, np.zeros(100, np.uint16), np.zeros(100, np.uint16), np.zeros((100, 2), F32), 100]
    return args, {1: e4m3.view(np.uint16)[:, 0], 2: e5m2.view(np.uint16)[:, 0], 3: back}


def directed(exact: Fraction, dtype: Any, mode: str) -> Any:
    """A fraction rounded down (rd), up (ru) or to zero (rz)."""
    near = dtype(float(exact))
    value = Fraction(float(near))
    if mode == "rz":
        mode = "rd" if exact > 0 else "ru"
    if mode == "rd":
        return np.nextafter(near, dtype(-np.inf)) if value > exact else near
    return np.nextafter(near, dtype(np.inf)) if value < exact else near


def fractions(x: Array) -> list[Fraction]:
    """Numbers as fractions."""
    return [Fraction(float(v)) for v in x]


@program("numbers", 2, 64)
def rounding(rng: np.random.Generator) -> Case:
    a, b = (rng.normal(size=100).astype(F32) for _ in range(2))
    p, q = fractions(a), fractions(b)
    pairs = list(zip(p, q, strict=True))
    rows = [
        np.array([directed(x + y, F32, "rz") for x, y in pairs], F32),
        np.array([directed(x * y, F32, "ru") for x, y in pairs], F32),
        np.array([directed(x * y + x, F32, "rd") for x, y in pairs], F32),
        a / b, np.sqrt(np.abs(a)), np.rint(a) + np.floor(b), np.clip(a, 0, 1),
        np.copysign(np.minimum(a, b), b),
    ]  # fmt: skip
    return [a, b, np.zeros((100, 8), F32), 100], {2: np.stack(rows, axis=1)}


@program("numbers", 2, 64)
def rounding_double(rng: np.random.Generator) -> Case:
    a, b = (rng.normal(size=100) for _ in range(2))
    pairs = list(zip(fractions(a), fractions(b), strict=True))
    rows = [
        np.array([directed(x + y, F64, "rd") for x, y in pairs]),
        np.array([directed(x * y, F64, "rz") for x, y in pairs]),
        np.array([directed(x * y + y, F64, "ru") for x, y in pairs]),
        a / b, np.sqrt(np.abs(a)), np.rint(a) + np.trunc(b),
    ]  # fmt: skip
    return [a, b, np.zeros((100, 6)), 100], {2: np.stack(rows, axis=1)}


@program("numbers", 2, 64)
def fast_functions(rng: np.random.Generator) -> Case:
    x = rng.uniform(0.1, 6, 100).astype(F32)
    w = x.astype(F64)
    rows = [np.exp(w), np.log(w), np.sin(w), np.cos(w), 1 / w, 1 / np.sqrt(w)]
    wanted = Close(np.stack(rows, axis=1), 2e-6, 2.0**-20.5)
    return [x, np.zeros((100, 6), F32), 100], {1: wanted}


@program("numbers", 2, 64)
def more_functions(rng: np.random.Generator) -> Case:
    x = rng.normal(size=100) * 2
    erf = np.array([math.erf(v) for v in x])
    rows = [erf, np.cbrt(x), np.arctan2(x, 2), np.tanh(x), np.hypot(x, 3), np.log1p(np.abs(x))]
    return [x, np.zeros((100, 6)), 100], {1: Close(np.stack(rows, axis=1), 1e-15, 1e-16)}


@program("numbers", 2, 64)
def conversions(rng: np.random.Generator) -> Case:
    x = rng.normal(size=100) * 10.0 ** rng.integers(-3, 12, 100)
    limits = np.iinfo(I32)
    whole = np.rint(x).astype(np.int64)
    single = [directed(v, F32, "rd") for v in fractions(x)]
    scaled = [directed(Fraction(int(i) * 1000003), F64, "rz") for i in whole]
    rows = [
        whole, np.clip(np.ceil(x), 0, 2**32 - 1).astype(np.int64),
        np.clip(np.floor(x), limits.min, limits.max).astype(np.int64),
        np.clip(np.trunc(x.astype(F32).astype(F64)), limits.min, limits.max).astype(np.int64),
        np.array(single, F64).view(np.int64), np.array(scaled).view(np.int64),
    ]  # fmt: skip
    return [x, np.zeros((100, 6), np.int64), 100], {1: np.stack(rows, axis=1)}


@program("numbers", 8, 64)
def mandelbrot(rng: np.random.Generator) -> Case:
    i = np.arange(512)
    # Every point of this grid is exact, whatever the compiler fuses.
    cr = (-2 + 3 * (i % 16) / 16).astype(F32)
    ci = (-1.5 + 3 * (i // 16) / 32).astype(F32)
    zr, zi, n = np.zeros(512, F32), np.zeros(512, F32), np.zeros(512, I32)
    for _ in range(50):
        inside = zr * zr + zi * zi <= 4
        n += inside
        following = zr * zr - zi * zi + cr, F32(2) * zr * zi + ci
        zr, zi = (np.where(inside, new, old) for new, old in zip(following, (zr, zi), strict=True))
    return [np.zeros(512, I32), 16, 32, 50], {0: n}


@program("numbers", 2, 32, shared=32 * 16)
def bodies(rng: np.random.Generator) -> Case:
    x = rng.normal(size=(64, 4)).astype(F32)
    p, mass = x[:, :3].astype(F64), x[:, 3].astype(F64)
    d = p[None] - p[:, None]
    r = ((d**2).sum(axis=2) + 0.25) ** -1.5
    force = (mass[None, :, None] * r[:, :, None] * d).sum(axis=1)
    return [x, np.zeros((64, 3), F32), 64], {1: Close(force, 1e-4, 1e-4)}


@program("numbers", 2, 64)
def newton(rng: np.random.Generator) -> Case:
    a = rng.uniform(0.1, 50, 100)
    return [a, np.zeros(100), 100], {1: Close(a**0.2, 1e-15)}


@program("numbers", 2, 32)
def quantize(rng: np.random.Generator) -> Case:
    x = (rng.normal(size=256) * 9).astype(F32)
    wanted = np.clip(np.rint(x / F32(0.1)), -128, 127).astype(np.int8)
    return [x, np.zeros(256, np.int8), 0.1, 256], {1: wanted}
