"""Elements to try: all patterns of small types, and of larger ones the edges and a sample."""

from __future__ import annotations

from functools import cache

import numpy as np

from tilewright.ir.types import FloatType, IntegerType
from tilewright.reference.tile import Array
from tilewright.support.floats import FORMATS, FloatFormat

Number = IntegerType | FloatType


def storage(width: int) -> type[np.unsignedinteger]:
    """The unsigned integers that hold patterns of a width."""
    sizes = ((8, np.uint8), (16, np.uint16), (32, np.uint32), (64, np.uint64))
    return next(kind for bits, kind in sizes if width <= bits)


def every(element: Number) -> Array:
    """All patterns of a type."""
    return np.arange(1 << element.width, dtype=storage(element.width))


@cache
def edges(element: Number) -> Array:
    """Return the corner cases: ends of ranges, powers of two, and their neighbours."""
    if isinstance(element, FloatType):
        marks = _float_marks(FORMATS[element.format])
    else:
        marks = {0, *(1 << bit for bit in range(element.width))}
    near = {mark + step for mark in marks for step in (-1, 0, 1)}
    last = (1 << element.width) - 1
    patterns = sorted({pattern & last for pattern in near | {last ^ pattern for pattern in near}})
    return np.array(patterns, storage(element.width))


def _float_marks(format: FloatFormat) -> set[int]:
    one = format.bias << format.mantissa_bits
    magnitudes = {0, 1 << format.mantissa_bits, format.max_finite, one}
    magnitudes |= {one + (step << format.mantissa_bits) for step in (-2, -1, 1, 2, 3)}
    magnitudes |= {value for value in (format.infinity, format.nan) if value is not None}
    return {pattern for magnitude in magnitudes for pattern in (magnitude, magnitude | format.sign)}


def sample(element: Number, count: int, rng: np.random.Generator) -> Array:
    """Edges and random patterns, half of them near one or small, so that pairs of them matter."""
    if element.width <= 8:
        return np.resize(rng.permutation(every(element)), count)
    kind = storage(element.width)
    patterns = rng.integers(0, 1 << element.width, count, dtype=kind)
    half = patterns[: count // 2]
    if isinstance(element, FloatType):
        half[:] = _moderate(half, FORMATS[element.format], rng)
    else:
        half >>= rng.integers(0, element.width, len(half), dtype=kind)
    some = edges(element)
    patterns[rng.integers(0, count, count // 4)] = rng.choice(some, count // 4)
    return patterns


def _moderate(patterns: Array, format: FloatFormat, rng: np.random.Generator) -> Array:
    """The same fractions and signs, with exponents near zero, and few bits in every other one."""
    kind = patterns.dtype.type
    exponents = rng.integers(-4, 6, len(patterns)) + format.bias
    fractions = patterns & kind((1 << format.mantissa_bits) - 1)
    fractions[::2] &= kind((7 << format.mantissa_bits) >> 3)
    return (
        (patterns & kind(format.sign))
        | fractions
        | exponents.astype(kind) << kind(format.mantissa_bits)
    )


def pairs(element: Number, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """All pairs of patterns of a type of up to 8 bits; of a larger one, edges and a sample.

    Every pattern of a type of 16 bits is on both sides.
    """
    first = every(element) if element.width <= 8 else _few(edges(element), rng)
    a, b = (grid.reshape(-1) for grid in np.meshgrid(first, first))
    if element.width <= 8:
        return a, b
    x, y = sample(element, count, rng), sample(element, count, rng)
    # Some pairs are neighbours: they cancel, tie and compare as few random ones do.
    close = rng.random(count) < 0.2
    y[close] = x[close] ^ rng.integers(0, 4, int(close.sum())).astype(y.dtype)
    if element.width <= 16:
        x, y = (np.concatenate([some, rng.permutation(every(element))]) for some in (x, y))
    return np.concatenate([a, x]), np.concatenate([b, y])


def _few(patterns: Array, rng: np.random.Generator) -> Array:
    return patterns if len(patterns) <= 40 else rng.choice(patterns, 40, replace=False)
