"""Read-modify-write on vectors, as if the lanes came one after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.ptxsim.scalar_types import Array

# The new value from the old one and one or two operands, elementwise.
Update = Callable[[Array, Array, Array], Array]


def apply(memory: Array, rows: Array, update: Update, first: Array, second: Array) -> Array:
    """Update `memory[rows]` and give what each lane found there.

    Lanes with the same row take turns: the k-th lane of every row runs in round k, so there are
    as many rounds as lanes meet at the busiest row.
    """
    count = len(rows)
    old = np.empty((count, *memory.shape[1:]), memory.dtype)
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    fresh = np.empty(count, np.bool_)
    fresh[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    if fresh.all():
        old[...] = memory[rows]
        memory[rows] = update(old, first, second)
        return old
    starts = np.flatnonzero(fresh)
    place = np.arange(count) - starts[np.cumsum(fresh) - 1]
    by_round = order[np.argsort(place, kind="stable")]
    sizes = np.bincount(place)
    begin = 0
    for size in sizes.tolist():
        lanes = by_round[begin : begin + size]
        begin += size
        found = memory[rows[lanes]]
        old[lanes] = found
        memory[rows[lanes]] = update(found, first[lanes], second[lanes])
    return old


def accumulate(memory: Array, row: int, function: np.ufunc, values: Array) -> Array:
    """All lanes meet at one row: the same as `apply`, by one running total."""
    running = function.accumulate(np.concatenate((memory[row : row + 1], values)))
    memory[row] = running[-1]
    return running[:-1]
