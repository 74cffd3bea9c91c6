"""Divisions of f32 whose quotient is very close to the midpoint of two floats.

They are the only ones that a division with an accurate but inexact last step can round to the wrong
float. With mantissas x, y of 24 bits, a quotient near the midpoint m / 2**24 satisfies
x * 2**k = y * m + c, where k is 24 or, if x < y, 25, and its distance is |c| / (2 * y) of its last
bit: at most 2**-21 for |c| up to 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BITS = 24
LEAST, LIMIT = 1 << (BITS - 1), 1 << BITS
DISTANCES = [sign * size for size in range(1, 9) for sign in (1, -1)]
Integers = NDArray[np.int64]


class Hard(NamedTuple):
    """Mantissas of dividends and divisors, and those of each correctly rounded quotient."""

    x: Integers
    y: Integers
    quotient: Integers
    is_below_one: bool
    """Whether each quotient is between 1/2 and 1; otherwise between 1 and 2."""


def hard_divisions(midpoints: Integers) -> Iterator[Hard]:
    """Those next to midpoints, odd numbers of 25 bits."""
    odd = midpoints.astype(np.uint64)
    inverse = odd.copy()
    for _ in range(5):
        # Modulo 2**64; each step doubles the bits that are right, at first 3.
        inverse *= np.uint64(2) - odd * inverse
    for k in (BITS, BITS + 1):
        for distance in DISTANCES:
            y = (np.uint64(-distance % 2**64) * inverse & np.uint64((1 << k) - 1)).astype(np.int64)
            is_mantissa = (y >= LEAST) & (y < LIMIT)
            y, m = y[is_mantissa], midpoints[is_mantissa]
            x = (y * m + distance) >> k
            is_mantissa = (x >= LEAST) & (x < LIMIT)
            x, y, m = x[is_mantissa], y[is_mantissa], m[is_mantissa]
            yield Hard(x, y, (m + np.sign(distance)) // 2, k > BITS)


def odd_midpoints(start: int, count: int) -> Integers:
    return np.arange(LIMIT + 2 * start + 1, LIMIT + 2 * (start + count), 2, dtype=np.int64)
