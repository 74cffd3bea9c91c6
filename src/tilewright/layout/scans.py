"""Layouts for scans along a dimension: neighbours in a thread, then in lanes, then in warps.

The bits of a position along the axis lie, from the lowest on, in the lowest register bits (a
thread's chunk), the lowest lane bits, the lowest warp bits and the highest register bits (the
segments that follow each other).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2
from tilewright.target.arch import LANE_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

CHUNK: Final = 2
"""How many bits of a position a thread scans by itself, if there are more than lanes."""


class Scan(NamedTuple):
    """A layout, and how many bits of a position lie where."""

    layout: Layout
    chunk: int
    lanes: int
    warps: int
    segments: int


def scan_layout(shape: Sequence[int], axis: int, warps: int) -> Scan:
    """The layout in which a tile is scanned along a dimension by `warps` warps.

    >>> scan = scan_layout((64, 4), axis=0, warps=2)
    >>> print(scan.layout)
    register: (1, 0) (2, 0); lane: (4, 0) (8, 0) (16, 0) (32, 0) (0, 1); warp: (0, 2) -> 64x4
    >>> scan[1:]
    (2, 4, 0, 0)
    """
    stride = 1
    for extent in shape[axis + 1 :]:
        stride *= extent
    along = [stride << bit for bit in range(log2(shape[axis]))]
    size = Layout([], shape).size
    others = [1 << bit for bit in range(log2(size)) if 1 << bit not in along]
    chunk = min(CHUNK, len(along)) if len(along) > LANE_BITS else 0
    lanes = along[chunk : chunk + LANE_BITS]
    across = along[chunk + len(lanes) :][: log2(warps)]
    segments = along[chunk + len(lanes) + len(across) :]
    lane = _filled(lanes, others, LANE_BITS)
    warp = _filled(across, others, log2(warps))
    registers = [*along[:chunk], *others, *segments]
    layout = Layout([(REGISTER, registers), (LANE, lane), (WARP, warp)], shape)
    return Scan(layout, chunk, len(lanes), len(across), len(segments))


def _filled(bits: list[int], others: list[int], count: int) -> list[int]:
    """`count` bits: the first ones, then others, then zeros (replicas)."""
    taken = others[: count - len(bits)]
    del others[: len(taken)]
    return [*bits, *taken, *(0 for _ in range(count - len(bits) - len(taken)))]
