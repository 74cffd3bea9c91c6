"""Well-known kernels as formulas of estimates, with the steps of their usual implementations."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tilewright.ir.attributes import Type
from tilewright.ir.types import F32, F64
from tilewright.reference.tile import Array
from tilewright.testing.bounds import truncation_error
from tilewright.testing.estimate import Estimate, apply, maximum


def softmax(x: Estimate) -> Estimate:
    """Softmax of rows, without overflow."""
    powers = apply("exp", x - x.max())
    return powers / powers.sum()


def attention(
    q: Estimate, k: Estimate, v: Estimate, scale: Estimate, seen: Array,
    *, tile: int, base: str = "exp", weights: Type, ulps: float = 0,
) -> Estimate:  # fmt: skip
    """Flash attention over tiles of keys, with a running maximum and a running denominator.

    `seen` masks the keys of each query, `weights` is the type of P in the matmul with V; `base` is
    the exponential function, the division is within `ulps`.
    """
    top = norm = accumulator = None
    for start in range(0, seen.shape[-1], tile):
        part = slice(start, start + tile)
        scores = (q @ k[..., part, :].swapaxes(-1, -2)) * scale
        scores = scores.masked(seen[..., part], -np.inf)
        larger = scores.max() if top is None else maximum(top, scores.max())
        powers = apply(base, scores - larger).flushed()
        denominator, output = powers.sum(), powers.rounded(weights) @ v[..., part, :]
        if top is not None and norm is not None and accumulator is not None:
            shrink = apply(base, top - larger).flushed()
            denominator, output = norm * shrink + denominator, accumulator * shrink + output
        top, norm, accumulator = larger, denominator, output
    assert accumulator is not None
    return accumulator.over(norm, ulps).flushed()


def wgmma_dot(
    a: Estimate, b: Estimate, c: Estimate | None = None, *, fast: bool = False
) -> Estimate:
    """`a @ b + c` of fp8 by wgmma, which needs tiles of at least 64 rows."""
    acc = np.zeros(1) if c is None else c.value
    error = truncation_error(a.value, b.value, acc, a.element, fast=fast)
    return Estimate(a.value @ b.value + acc, error, F32)


class Normalised(NamedTuple):
    """Rows normalised to a mean of zero and a variance of one."""

    mean: Estimate
    scale: Estimate
    rows: Estimate


def normalise(x: Estimate, eps: float) -> Normalised:
    """Layer norm, before weight and bias."""
    mean = x.mean()
    centred = x - mean
    variance = (centred * centred).mean()
    scale = apply("rsqrt", variance + eps)
    return Normalised(mean, scale, centred * scale)


def layer_norm(x: Estimate, w: Estimate, b: Estimate, eps: float) -> Estimate:
    """Layer norm with weight `w` and bias `b`."""
    return normalise(x, eps).rows * w + b


def root_mean_square(x: Estimate, eps: float) -> Estimate:
    """The reciprocal root mean square of rows."""
    return apply("rsqrt", (x * x).mean() + eps)


class Complex(NamedTuple):
    """Complex numbers as real and imaginary part."""

    real: Estimate
    imaginary: Estimate

    def reshape(self, *shape: int) -> Complex:
        """Reshape."""
        return Complex(self.real.reshape(*shape), self.imaginary.reshape(*shape))

    def swapaxes(self, first: int, second: int) -> Complex:
        """Swap two axes."""
        return Complex(self.real.swapaxes(first, second), self.imaginary.swapaxes(first, second))

    def __matmul__(self, other: Complex) -> Complex:
        """Complex matmul by four real ones."""
        real = self.real @ other.real - self.imaginary @ other.imaginary
        return Complex(real, self.real @ other.imaginary + self.imaginary @ other.real)

    def times(self, other: Complex) -> Complex:
        """Multiply elementwise."""
        real = self.real * other.real - self.imaginary * other.imaginary
        return Complex(real, self.real * other.imaginary + self.imaginary * other.real)


def fourier(x: Complex, radices: tuple[int, ...]) -> Complex:
    """FFT of rows with one stage per radix: DFT, twiddle, recursion."""
    first, *rest = radices
    count, inner = x.real.value.size, math.prod(rest)
    grid = x.reshape(count // (first * inner), first, inner)
    rotated = roots_of_unity(first, first, first) @ grid
    if not rest:
        return rotated.reshape(-1, first)
    twiddled = rotated.times(roots_of_unity(first, inner, first * inner))
    parts = fourier(twiddled, tuple(rest)).reshape(-1, first, inner)
    return parts.swapaxes(1, 2).reshape(-1, first * inner)


def roots_of_unity(rows: int, columns: int, period: int) -> Complex:
    """DFT or twiddle matrix, rounded to f32."""
    angles = -2 * np.pi * np.outer(np.arange(rows), np.arange(columns)) / period
    parts = (Estimate(part, 0.0, F64).rounded(F32) for part in (np.cos(angles), np.sin(angles)))
    return Complex(*parts)
