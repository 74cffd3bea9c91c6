"""Programs with functions, objects, jumps, memory on heap and stack, and texts."""

from __future__ import annotations

import numpy as np
from program_table import Case, Close, Sorted, program, small

F32, I32 = np.float32, np.int32


@program("programs", 1, 32)
def recurse(rng: np.random.Generator) -> Case:
    row = [0, 1]
    while len(row) < 12:
        row.append(row[-1] + row[-2])
    return [np.zeros(32, I32)], {0: np.array([row[t % 12] for t in range(32)], I32)}


@program("programs", 1, 32)
def shapes(rng: np.random.Generator) -> Case:
    x = small(rng, 32)
    return [x, np.zeros(32, F32)], {1: np.where(np.arange(32) % 3, x * x, 3 * x * x)}


@program("programs", 1, 64)
def by_table(rng: np.random.Generator) -> Case:
    which = rng.integers(0, 3, 64).astype(I32)
    a, b = small(rng, 64, I32, 999), small(rng, 64, I32, 999)
    return [which, a, b, np.zeros(64, I32)], {3: np.choose(which, [a + b, a - b, a * b])}


@program("programs", 1, 32)
def structures(rng: np.random.Generator) -> Case:
    x = small(rng, (32, 8))
    tag = ord("a")
    for count in range(1, 9):
        tag ^= count
    exact = np.stack((x.mean(axis=1, dtype=np.float64), np.full(32, 8000.0 + tag)), axis=1)
    return [x, np.zeros((32, 2)), 8], {1: Close(exact, 1e-14, 1e-14)}


@program("programs", 2, 32)
def remember(rng: np.random.Generator) -> Case:
    """Sixteen visits to each of four counters that start at 10, 20, 30 and 40."""
    olds = np.concatenate([np.arange(first, first + 16) for first in (10, 20, 30, 40)])
    return [np.zeros(64, I32)], {0: Sorted(np.sort(olds // 10).astype(I32))}


@program("programs", 3, 64)
def jump_table(rng: np.random.Generator) -> Case:
    x = rng.integers(0, 10000, 150).astype(I32)
    ones = np.array([int(v).bit_count() for v in x], I32)
    cases = [x * 3, x ^ 0x55, x - 9, x - 9, ones, x * x, ~x, x // 5, x & 0xFF, -x, np.ones_like(x)]
    return [x, np.zeros(150, I32), 150], {1: np.choose(x % 11, cases).astype(I32)}


@program("programs", 1, 32)
def linked_list(rng: np.random.Generator) -> Case:
    totals = [
        sum((at + 1) * value**2 for at, value in enumerate(reversed(range(t % 7 + 1))))
        for t in range(32)
    ]
    return [np.zeros(32, I32)], {0: np.array(totals, I32)}


@program("programs", 1, 32)
def on_the_stack(rng: np.random.Generator) -> Case:
    row = [1]
    while len(row) < 9:
        row.append(row[-1] * 2 + len(row))
    sizes = [t % 9 + 1 for t in range(32)]
    return [np.zeros(32, I32)], {0: np.array([row[n - 1] + row[n // 2] for n in sizes], I32)}


@program("programs", 1, 32)
def quick_sort(rng: np.random.Generator) -> Case:
    x = small(rng, (32, 12), I32, 30)
    return [x, 12], {0: np.sort(x, axis=1)}


REPORT = (
    " 0|0.50  |+0|00000|even|1099511627776|a|%\n",
    " 1|1.25  |-1|0004d|odd|2199023255552|b|%\n",
    " 3|100.00|-3|000e7|odd|8796093022208|d|%\n",
)


@program("programs", 1, 4, output=REPORT)
def report(rng: np.random.Generator) -> Case:
    return [np.array([0.5, 1.25, -1, 100], F32)], {}


@program("programs", 1, 50, shared=50 * 6)
def two_arrays(rng: np.random.Generator) -> Case:
    x = small(rng, 50, I32, 1000)
    return [x, np.zeros(50, I32), 50], {1: x[::-1] * 4}


@program("programs", 2, 64)
def early_exit(rng: np.random.Generator) -> Case:
    x = rng.integers(0, 10000, 90).astype(I32)
    x[:60] = 0
    hits = np.flatnonzero(x % 17 == 3)
    steps = np.array([min((h - i) % 90 for h in hits) for i in range(128)], I32)
    gone = (steps > 41) & (np.arange(128) % 2 == 1)
    return [x, np.full(128, -7, I32), 90], {1: np.where(gone, -7, steps).astype(I32)}


@program("programs", (3, 5), (8, 4))
def life(rng: np.random.Generator) -> Case:
    x = (rng.random((20, 20)) < 0.4).astype(np.uint8)
    shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    around = sum(np.roll(x, shift, axis=(0, 1)).astype(int) for shift in shifts)
    alive = (around == 3) | ((around == 2) & (x == 1))
    return [x, np.zeros_like(x), 20], {1: alive.astype(np.uint8)}


@program("programs", 1, 32)
def integrals(rng: np.random.Generator) -> Case:
    c = small(rng, 4)
    points = (np.arange(64) + 0.5) / 32
    p = np.polynomial.Polynomial(c.astype(np.float64))
    values = [p(points - t / 4).sum() / 32 for t in range(32)]
    return [c, np.zeros(32, F32)], {1: Close(np.array(values), 1e-4, 1e-3)}
