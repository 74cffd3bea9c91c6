"""Layouts in which each warp loads the elements that it has in another layout."""

from __future__ import annotations

from itertools import takewhile

from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2
from tilewright.layout.matrices import ROW, matrix_memory
from tilewright.target.arch import LANE_BITS


def warp_loads(wanted: Layout, loaded: Layout, element: int) -> Layout | None:
    """A layout for rows of 16 bytes, such that no element leaves the warp that it is wanted in.

    `loaded` has such rows, of elements of `element` bytes, but in other warps. From the rows,
    ldmatrix reads the fragments that are wanted; None if it cannot.

    >>> from tilewright.layout.fragments import mma_right
    >>> from tilewright.layout.mma_tiling import Grid, fragment_tile
    >>> from tilewright.layout.spread import spread
    >>> grid = Grid(1, 4, 1, 4)
    >>> wanted = fragment_tile(mma_right(16), (32, 128), grid, rows=False, columns=True)
    >>> layout = warp_loads(wanted, spread((32, 128), 4, vector=16), element=2)
    >>> print(layout.only("register"))
    register: (0, 1) (0, 2) (0, 4) (8, 0) (16, 0) -> 32x128
    >>> print(layout.only("lane", "warp"))
    lane: (0, 32) (0, 64) (1, 0) (2, 0) (4, 0); warp: (0, 8) (0, 16) -> 32x128
    """
    warps, registers = wanted.vectors(WARP), loaded.vectors(REGISTER)
    row = list(takewhile(lambda each: each not in warps, registers))[: log2(ROW // element)]
    if len(row) < log2(ROW // element) or wanted.replicas() or loaded.replicas():
        return None
    others = [*loaded.vectors(LANE), *loaded.vectors(WARP), *registers]
    left = [each for each in others if each not in warps and each not in row]
    if any(each & (each - 1) for each in warps) or len(left) < LANE_BITS:
        return None
    lanes, rest = left[:LANE_BITS], left[LANE_BITS:]
    layout = Layout([(REGISTER, [*row, *rest]), (LANE, lanes), (WARP, warps)], loaded.shape)
    return layout if matrix_memory(layout, wanted, element) is not None else None
