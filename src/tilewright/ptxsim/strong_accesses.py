"""Order made by flags in shared memory: strong accesses and fences."""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.ptxsim.clocks import Clocks, joined
from tilewright.ptxsim.scalar_types import Array

_STRONG: Final = frozenset(
    {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "atom", "red"}
)


class Strength:
    """How strong an instruction is, as its name says, and the number of its site."""

    __slots__ = ("acquires", "number", "releases", "strong")

    def __init__(self, number: int, opcode: str) -> None:
        parts = frozenset(opcode.split("."))
        self.number = number
        self.strong = bool(parts & _STRONG)
        self.acquires = bool(parts & {"acquire", "acq_rel"})
        self.releases = bool(parts & {"release", "acq_rel"})


class StrongAccesses:
    """What those learn who see a flag.

    A releasing store tells all that its warp knows; a relaxed one tells what the warp knew at its
    last fence. A relaxed load learns at the next fence, an acquiring one at once.
    """

    def __init__(self, clocks: Clocks) -> None:
        self.clocks = clocks
        self._words: dict[int, Array] = {}
        self._fenced: dict[int, Array] = {}
        self._heard: dict[int, Array] = {}

    def fence(self, warps: Array) -> None:
        """`fence` and `membar`."""
        for warp in warps.tolist():
            heard = self._heard.pop(warp, None)
            if heard is not None:
                self.clocks.acquire(np.array([warp]), heard)
            self._fenced[warp] = self.clocks.table[warp].copy()

    def tell(self, warps: Array, index: Array, releases: bool) -> None:
        """Warps write flags, by their index in the arena."""
        if not releases and not self._fenced:
            return
        for warp, word in _pairs(warps, index):
            told = self.clocks.release(np.array([warp])) if releases else self._fenced.get(warp)
            if told is not None:
                self._words[word] = joined(self._words.get(word), told)

    def hear(self, warps: Array, index: Array, acquires: bool) -> None:
        """Warps see flags."""
        if not self._words:
            return
        for warp, word in _pairs(warps, index):
            told = self._words.get(word)
            if told is None:
                continue
            if acquires:
                self.clocks.acquire(np.array([warp]), told)
            else:
                self._heard[warp] = joined(self._heard.get(warp), told)


def _pairs(warps: Array, index: Array) -> list[tuple[int, int]]:
    """The different pairs of a warp and a word that accesses touch."""
    return sorted(set(zip(warps.tolist(), (index >> 2).tolist(), strict=True)))
