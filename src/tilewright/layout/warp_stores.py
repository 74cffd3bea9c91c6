"""Layouts in which each warp stores the elements that it holds already."""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2
from tilewright.target.arch import LANE_BITS
from tilewright.target.memories import LINE

SHORTEST: Final = 64
"""Bytes of a line that the lanes of a warp store together."""


def warp_stores(source: Layout, stored: Layout, vector: int, element: int) -> Layout | None:
    """The layout of a store such that no element leaves the warp that holds it in `source`.

    `stored` is a coalesced layout for the store, of `vector` elements of `element` bytes at a time.
    Consecutive lanes still store 64 bytes or more, all of two sectors; None if a warp does not hold
    such lines.

    >>> from tilewright.layout.spread import spread
    >>> from tilewright.layout.wgmma import wgmma_tile
    >>> accumulator, coalesced = wgmma_tile((64, 128), 4), spread((64, 128), 4, vector=8)
    >>> print(warp_stores(accumulator, coalesced, 8, 2).only("lane", "warp"))
    lane: (0, 8) (0, 16) (0, 32) (1, 0) (2, 0); warp: (16, 0) (32, 0) -> 64x128
    """
    warps = source.vectors(WARP)
    registers = stored.vectors(REGISTER)
    accessed, others = registers[: log2(vector)], registers[log2(vector) :]
    if source.replicas() or stored.replicas() or not all(_is_unit(each) for each in warps):
        return None
    whole = stored.vectors(LANE)[: log2(max(1, LINE // (vector * element)))]
    line = list(takewhile(lambda each: each not in warps, whole))
    if any(each in warps for each in accessed) or (vector * element << len(line)) < SHORTEST:
        return None
    coalesced = [*stored.vectors(LANE), *stored.vectors(WARP), *others]
    left = [each for each in coalesced if each not in warps and each not in line]
    # What a thread of the source holds in registers stays there: all threads take part in each
    # piece of the exchange.
    left.sort(key=lambda each: each in source.vectors(REGISTER))
    missing = LANE_BITS - len(line)
    if missing < 0 or len(left) < missing:
        return None
    lanes, rest = [*line, *left[:missing]], left[missing:]
    return Layout([(REGISTER, [*accessed, *rest]), (LANE, lanes), (WARP, warps)], stored.shape)


def _is_unit(vector: int) -> bool:
    return bool(vector) and not vector & (vector - 1)
