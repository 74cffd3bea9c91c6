"""Well-known kernels as formulas of estimates, step by step as they are written everywhere."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tilewright.ir.attributes import Type
from tilewright.ir.types import F32, F64
from tilewright.reference.tile import Array
from tilewright.testing.bounds import cut_error
from tilewright.testing.estimate import Estimate, apply, maximum


def softmax(x: Estimate) -> Estimate:
    """Of rows, without overflow."""
    powers = apply("exp", x - x.max())
    return powers / powers.sum()


def attention(
    q: Estimate, k: Estimate, v: Estimate, scale: Estimate, seen: Array,
    *, tile: int, base: str = "exp", weights: Type, ulps: float = 0,
) -> Estimate:  # fmt: skip
    """Flash attention: tiles of keys go by, with a running maximum and a running sum.

    `seen` says which query looks at which key, `weights` is the type in which they are multiplied
    with the values; `base` is the power that is taken, the quotient is within `ulps`.
    """
    top = norm = total = None
    for start in range(0, seen.shape[-1], tile):
        part = slice(start, start + tile)
        scores = (q @ k[..., part, :].swapaxes(-1, -2)) * scale
        scores = scores.where(seen[..., part], -np.inf)
        larger = scores.max() if top is None else maximum(top, scores.max())
        powers = apply(base, scores - larger).flushed()
        here, products = powers.sum(), powers.rounded(weights) @ v[..., part, :]
        if top is not None and norm is not None and total is not None:
            shrink = apply(base, top - larger).flushed()
            here, products = norm * shrink + here, total * shrink + products
        top, norm, total = larger, here, products
    assert total is not None
    return total.over(norm, ulps).flushed()


def warpgroup_product(
    a: Estimate, b: Estimate, c: Estimate | None = None, *, fast: bool = False
) -> Estimate:
    """`a @ b + c` of 8-bit floats in tiles of 64 rows or more: what whole warpgroups multiply."""
    acc = np.zeros(1) if c is None else c.value
    error = cut_error(a.value, b.value, acc, a.element, fast=fast)
    return Estimate(a.value @ b.value + acc, error, F32)


class Normalised(NamedTuple):
    """Rows that were moved to a mean of zero and scaled to a variance of one."""

    mean: Estimate
    scale: Estimate
    rows: Estimate


def normalise(x: Estimate, eps: float) -> Normalised:
    """Layer norm, before weights and shifts."""
    mean = x.mean()
    centred = x - mean
    variance = (centred * centred).mean()
    scale = apply("rsqrt", variance + eps)
    return Normalised(mean, scale, centred * scale)


def layer_norm(x: Estimate, w: Estimate, b: Estimate, eps: float) -> Estimate:
    """Rows with the mean `b` and the deviation `w`."""
    return normalise(x, eps).rows * w + b


def root_mean_square(x: Estimate, eps: float) -> Estimate:
    """One over the root of the mean square of rows."""
    return apply("rsqrt", (x * x).mean() + eps)


class Complex(NamedTuple):
    """Numbers in two parts."""

    real: Estimate
    imaginary: Estimate

    def reshape(self, *shape: int) -> Complex:
        """The same numbers in another shape."""
        return Complex(self.real.reshape(*shape), self.imaginary.reshape(*shape))

    def swapaxes(self, first: int, second: int) -> Complex:
        """The same numbers with two axes swapped."""
        return Complex(self.real.swapaxes(first, second), self.imaginary.swapaxes(first, second))

    def __matmul__(self, other: Complex) -> Complex:
        """Four real products."""
        real = self.real @ other.real - self.imaginary @ other.imaginary
        return Complex(real, self.real @ other.imaginary + self.imaginary @ other.real)

    def times(self, other: Complex) -> Complex:
        """Each number with another."""
        real = self.real * other.real - self.imaginary * other.imaginary
        return Complex(real, self.real * other.imaginary + self.imaginary * other.real)


def fourier(x: Complex, factors: tuple[int, ...]) -> Complex:
    """The transforms of rows in stages, one for each factor: rotate, twiddle, and go on inside."""
    first, *rest = factors
    count, inner = x.real.value.size, math.prod(rest)
    grid = x.reshape(count // (first * inner), first, inner)
    rotated = roots_of_unity(first, first, first) @ grid
    if not rest:
        return rotated.reshape(-1, first)
    twiddled = rotated.times(roots_of_unity(first, inner, first * inner))
    parts = fourier(twiddled, tuple(rest)).reshape(-1, first, inner)
    return parts.swapaxes(1, 2).reshape(-1, first * inner)


def roots_of_unity(rows: int, columns: int, period: int) -> Complex:
    """The factors of a transform, rounded to single precision."""
    angles = -2 * np.pi * np.outer(np.arange(rows), np.arange(columns)) / period
    parts = (Estimate(part, 0.0, F64).rounded(F32) for part in (np.cos(angles), np.sin(angles)))
    return Complex(*parts)
