"""Atomic read-modify-write of vectors, serialized in lane order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.ptxsim.scalar_types import Array

# The new value from the old one and one or two operands, elementwise.
Update = Callable[[Array, Array, Array], Array]


def apply(memory: Array, rows: Array, update: Update, first: Array, second: Array) -> Array:
    """Update `memory[rows]` and return the old value that each lane read.

    Lanes with the same row are serialized: iteration k updates the k-th lane of every row, so the
    number of iterations is the largest number of lanes at one row.
    """
    count = len(rows)
    old = np.empty((count, *memory.shape[1:]), memory.dtype)
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    is_first = np.empty(count, np.bool_)
    is_first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    if is_first.all():
        old[...] = memory[rows]
        memory[rows] = update(old, first, second)
        return old
    starts = np.flatnonzero(is_first)
    iteration = np.arange(count) - starts[np.cumsum(is_first) - 1]
    by_iteration = order[np.argsort(iteration, kind="stable")]
    sizes = np.bincount(iteration)
    begin = 0
    for size in sizes.tolist():
        lanes = by_iteration[begin : begin + size]
        begin += size
        before = memory[rows[lanes]]
        old[lanes] = before
        memory[rows[lanes]] = update(before, first[lanes], second[lanes])
    return old


def accumulate(memory: Array, row: int, function: np.ufunc, values: Array) -> Array:
    """Same as `apply` for lanes that all update one row, as one inclusive scan."""
    running = function.accumulate(np.concatenate((memory[row : row + 1], values)))
    memory[row] = running[-1]
    return running[:-1]
