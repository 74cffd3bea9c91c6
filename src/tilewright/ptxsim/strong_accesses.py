"""Synchronization by flags in shared memory: strong accesses and fences."""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.ptxsim.clocks import Clocks, joined
from tilewright.ptxsim.scalar_types import Array

_STRONG: Final = frozenset(
    {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "atom", "red"}
)


class Strength:
    """The memory-order strength of an instruction, from its opcode, and its number."""

    __slots__ = ("acquires", "number", "releases", "strong")

    def __init__(self, number: int, opcode: str) -> None:
        parts = frozenset(opcode.split("."))
        self.number = number
        self.strong = bool(parts & _STRONG)
        self.acquires = bool(parts & {"acquire", "acq_rel"})
        self.releases = bool(parts & {"release", "acq_rel"})


class StrongAccesses:
    """Vector clocks released and acquired through flags.

    A releasing store releases its warp's clock; a relaxed one the clock of the warp's last fence
    that releases. A relaxed load acquires at the next fence that does, an acquiring one
    immediately.
    """

    def __init__(self, clocks: Clocks) -> None:
        self.clocks = clocks
        self._words: dict[int, Array] = {}
        self._fenced: dict[int, Array] = {}
        self._pending: dict[int, Array] = {}

    def fence(self, warps: Array, *, acquires: bool, releases: bool) -> None:
        """`fence` and `membar`."""
        for warp in warps.tolist():
            pending = self._pending.pop(warp, None) if acquires else None
            if pending is not None:
                self.clocks.acquire(np.array([warp]), pending)
            if releases:
                self._fenced[warp] = self.clocks.table[warp].copy()

    def release(self, warps: Array, index: Array, releases: bool) -> None:
        """Record stores of warps to flags, by their index in the arena."""
        if not releases and not self._fenced:
            return
        for warp, word in _pairs(warps, index):
            clock = self.clocks.release(np.array([warp])) if releases else self._fenced.get(warp)
            if clock is not None:
                self._words[word] = joined(self._words.get(word), clock)

    def acquire(self, warps: Array, index: Array, acquires: bool) -> None:
        """Record loads of flags by warps."""
        if not self._words:
            return
        for warp, word in _pairs(warps, index):
            clock = self._words.get(word)
            if clock is None:
                continue
            if acquires:
                self.clocks.acquire(np.array([warp]), clock)
            else:
                self._pending[warp] = joined(self._pending.get(warp), clock)


def _pairs(warps: Array, index: Array) -> list[tuple[int, int]]:
    """The distinct pairs of warp and word among accesses."""
    return sorted(set(zip(warps.tolist(), (index >> 2).tolist(), strict=True)))
