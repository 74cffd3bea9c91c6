"""Flat byte arrays with a shadow state per byte: unallocated, allocated, written."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

import numpy as np

from tilewright.ptxsim.scalar_types import UNSIGNED, Array
from tilewright.ptxsim.vectors import all_set

ALLOCATED: Final = 1
WRITTEN: Final = 2
_READABLE: Final = ALLOCATED | WRITTEN
_GRAIN: Final = 1024


class Arena:
    """Bytes by index; accesses are vectors of indices, aligned to their size.

    The shadow has one state per byte: 0 if unallocated, `ALLOCATED`, or
    `ALLOCATED | WRITTEN`.
    """

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.bytes: Array = np.zeros(0, np.uint8)
        self.shadow: Array = np.zeros(0, np.uint8)
        self._views: dict[tuple[int, int], tuple[Array, Array]] = {}
        self.resize(size)

    @property
    def size(self) -> int:
        """The size in bytes."""
        return len(self.bytes)

    def resize(self, size: int) -> None:
        """Grow to at least `size` bytes, keeping the contents."""
        size = -(-max(size, 1) // _GRAIN) * _GRAIN
        old, shadow = self.bytes, self.shadow
        self.bytes, self.shadow = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
        self.bytes[: len(old)] = old
        self.shadow[: len(shadow)] = shadow
        self._views.clear()

    def rows(self, width: int, count: int) -> tuple[Array, Array]:
        """Memory and shadow as rows of `count` words of `width` bytes."""
        views = self._views.get((width, count))
        if views is None:
            word = UNSIGNED[8 * width]
            views = (
                self.bytes.view(word).reshape(-1, count),
                self.shadow.view(word).reshape(-1, count),
            )
            self._views[width, count] = views
        return views

    def readable(self, rows: Array, width: int, count: int) -> bool:
        """Whether every byte of these rows exists and has been written."""
        shadow = self.rows(width, count)[1].take(rows, axis=0)
        return all_set(shadow == _pattern(_READABLE, width))

    def writable(self, rows: Array, width: int, count: int) -> bool:
        """Whether every byte of these rows exists."""
        shadow = self.rows(width, count)[1].take(rows, axis=0)
        pattern = _pattern(ALLOCATED, width)
        return all_set((shadow & pattern) == pattern)

    def mark(self, rows: Array, width: int, count: int) -> None:
        """Mark these rows as written."""
        self.rows(width, count)[1][rows] = _pattern(_READABLE, width)

    def allocate(self, start: int, size: int, *, written: bool = False) -> None:
        """Mark bytes as allocated."""
        self.shadow[start : start + size] = _READABLE if written else ALLOCATED

    def release(self, start: int, size: int) -> None:
        """Mark bytes as unallocated."""
        self.shadow[start : start + size] = 0


def _pattern(state: int, width: int) -> np.generic:
    return _PATTERNS[state, width]


_PATTERNS: Final = {
    (state, width): UNSIGNED[8 * width].type(int.from_bytes(bytes([state] * width), "little"))
    for state in (ALLOCATED, _READABLE)
    for width in (1, 2, 4, 8)
}


class Allocations:
    """The allocations of an arena, each followed by a guard gap."""

    _GAP: Final = 256

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self._starts: list[int] = []
        self._pieces: dict[int, tuple[int, str]] = {}
        self._end = 256

    def allocate(self, size: int, alignment: int, name: str) -> int:
        """Allocate `size` bytes and return their index in the arena."""
        alignment = max(alignment, 256)
        start = -(-self._end // alignment) * alignment
        self._end = start + size + self._GAP
        if self._end > self.arena.size:
            self.arena.resize(max(self._end, 2 * self.arena.size))
        self.arena.allocate(start, size)
        self._starts.append(start)
        self._pieces[start] = size, name
        return start

    def release(self, start: int) -> None:
        """Free an allocation; space at the end of the arena is reused."""
        size, _ = self._pieces.pop(start)
        self.arena.release(start, size)
        self._starts.remove(start)
        last = self._starts[-1] if self._starts else None
        self._end = 256 if last is None else last + self._pieces[last][0] + self._GAP

    def near(self, index: int) -> tuple[str, int, int] | None:
        """The name, start and size of the last allocation that starts at or before an index."""
        at = bisect_right(self._starts, index) - 1
        if at < 0:
            return None
        size, name = self._pieces[self._starts[at]]
        return name, self._starts[at], size
