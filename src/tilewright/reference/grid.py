"""The blocks of a grid, and samples of them."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

import numpy as np

from tilewright.reference.tile import Array

NEIGHBOURS: Final = 32
"""The blocks of a sample that are neighbours: they are the most likely to conflict."""
RUNS: Final = 32
"""The number of runs of neighbours in a sample."""


class Blocks:
    """The blocks of a grid, x fastest; coordinates are computed as they are needed."""

    __slots__ = ("_extents", "count", "sample")

    def __init__(self, grid: tuple[int, int, int], ctas: int = 1) -> None:
        x, y, z = grid
        self._extents = (z, y, x, ctas)
        self.count = prod(self._extents)
        self.sample: Array | None = None
        """The numbers of the blocks that were chosen, of which `split` is rid."""

    def split(self, size: int) -> Iterator[Array]:
        """Yield the coordinates of consecutive blocks, at most `size` at a time.

        A row has the three coordinates of a block, and its rank in its cluster: the CTAs of a
        cluster have the same coordinates.
        """
        groups = -(-self.count // size)
        for group in range(groups):
            first, last = (self.count * edge // groups for edge in (group, group + 1))
            numbers = np.arange(first, last)
            if self.sample is not None:
                numbers = np.setdiff1d(numbers, self.sample, assume_unique=True)
            if numbers.size:
                yield self._at(numbers)

    def choose(self, random: np.random.Generator, size: int) -> Iterator[Array]:
        """Choose some blocks, the first and last ones among them; yield at most `size` at a time.

        All blocks are chosen if there are few.
        """
        starts = np.unique(random.integers(0, self.count, RUNS) // NEIGHBOURS * NEIGHBOURS)
        starts = np.union1d(starts, [0, (self.count - 1) // NEIGHBOURS * NEIGHBOURS])
        if self.count <= RUNS * NEIGHBOURS:
            starts = np.arange(0, self.count, NEIGHBOURS)
        numbers = (starts[:, np.newaxis] + np.arange(NEIGHBOURS)).reshape(-1)
        self.sample = numbers[numbers < self.count]
        parts = np.array_split(self.sample, -(-len(self.sample) // size))
        return map(self._at, parts)

    def _at(self, numbers: Array) -> Array:
        """The coordinates of blocks."""
        k, j, i, rank = np.unravel_index(numbers, self._extents)
        return np.stack([i, j, k, rank], axis=1).astype(np.int32)
