"""Tiling of a dot over the warps of a block: layouts of accumulators and operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2, unpack
from tilewright.layout.spread import taken
from tilewright.target.arch import LANE_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

Coordinate: TypeAlias = tuple[int, int, int]
"""The matrix of a batch, its row, its column."""


class Grid(NamedTuple):
    """How the warps of a block tile a dot; the lowest bits of the warp index go along M."""

    down: int
    across: int
    batch: int
    warps: int


def warp_grid(
    accumulator: Sequence[int], piece: tuple[int, int], warps: int, *, rows: bool = False
) -> Grid:
    """Warps along M, along N and along the batch, so that the tile of each is about square.

    With `rows` warps go along M first, as long as there are rows.
    """
    *batch, m, n = accumulator
    most_down, most_across = max(1, m // piece[0]), max(1, n // piece[1])
    down, across = 1, 1
    while down * across < warps:
        is_tall = rows or m * across >= n * down
        if down < most_down and (is_tall or across == most_across):
            down *= 2
        elif across < most_across:
            across *= 2
        else:
            break
    matrices = min(warps // (down * across), batch[0] if batch else 1)
    return Grid(down, across, matrices, warps)


def fragment_tile(
    fragment: Layout, shape: Sequence[int], grid: Grid, *, rows: bool, columns: bool
) -> Layout:
    """A fragment repeated to a tile: first by warps, then by registers.

    Warps lie along the rows of the tile, its columns or both; along what it does not have they
    hold replicas. What of the fragment lies outside of the tile is a replica too. A fragment of
    several warps is repeated by groups of as many: those are what the grid counts.

    >>> from tilewright.layout.fragments import mma_accumulator
    >>> grid = Grid(down=2, across=1, batch=1, warps=4)
    >>> print(fragment_tile(mma_accumulator(8), (16, 8), grid, rows=True, columns=True))
    register: (0, 1); lane: (0, 2) (0, 4) (1, 0) (2, 0) (4, 0); warp: (8, 0) (0, 0) -> 16x8
    """
    *batch, height, width = shape
    whole = (batch[0] if batch else 1, height, width)
    row, column = fragment.shape
    rest = (1, row * grid.down if rows else row, column * grid.across if columns else column)
    warp = [
        *_along(1, row, row * grid.down, here=rows),
        *_along(2, column, column * grid.across, here=columns),
        *_along(0, 1, grid.batch),
    ]
    register = [
        *_inner(fragment, REGISTER),
        *_along(2, rest[2], width),
        *_along(1, rest[1], height),
        *_along(0, grid.batch, whole[0]),
    ]
    warp += [(0, 0, 0)] * (log2(grid.warps) - len(warp))
    warp = [*_inner(fragment, WARP), *warp]
    inputs = {REGISTER: register, LANE: _inner(fragment, LANE), WARP: warp}
    return _within(inputs, whole).reshape(shape)


def _inner(fragment: Layout, name: str) -> list[Coordinate]:
    """The coordinates in a fragment that the bits of an input stand for."""
    coordinates = [unpack(vector, fragment.shape) for vector in fragment.vectors(name)]
    return [(0, row, column) for row, column in coordinates]


def _along(dimension: int, start: int, end: int, *, here: bool = True) -> list[Coordinate]:
    """The bits of a dimension from one extent to another; zeros (replicas) if not `here`."""
    coordinates: list[Coordinate] = []
    while start < end:
        bit = [0, 0, 0]
        bit[dimension] = start if here else 0
        coordinates.append((bit[0], bit[1], bit[2]))
        start *= 2
    return coordinates


def _within(inputs: dict[str, list[Coordinate]], shape: tuple[int, int, int]) -> Layout:
    """The layout of a batch of matrices; what points outside of it repeats what is inside."""
    cut = {
        name: [[c % e for c, e in zip(each, shape, strict=True)] for each in coordinates]
        for name, coordinates in inputs.items()
    }
    return Layout.build(cut, shape).distinct_registers()


def consists_of(tile: Layout, fragment: Layout) -> bool:
    """Whether every warp holds fragments of an instruction; what they lack repeats what they have.

    Of an instruction of several warps each has its part.

    >>> from tilewright.layout.fragments import mma_accumulator
    >>> grid = Grid(down=2, across=1, batch=1, warps=4)
    >>> tile = fragment_tile(mma_accumulator(8), (16, 8), grid, rows=True, columns=True)
    >>> consists_of(tile, mma_accumulator(8)), consists_of(tile, mma_accumulator(16))
    (True, False)
    """
    *_, height, width = tile.shape

    def expected(name: str) -> list[int]:
        inner = [(r % height, c % width) for _, r, c in _inner(fragment, name)]
        return [r * width + c for r, c in inner]

    registers = [v for v in expected(REGISTER) if v]
    warps = expected(WARP)
    return (
        list(tile.vectors(LANE)) == expected(LANE)
        and list(tile.vectors(WARP)[: len(warps)]) == warps
        and list(tile.vectors(REGISTER)[: len(registers)]) == registers
    )


def fma_accumulator(shape: Sequence[int], warps: int) -> Layout:
    """The accumulator of an FMA dot in 4x4 register blocks, for few operand loads per FMA.

    >>> print(fma_accumulator((32, 64), warps=1).only("register"))
    register: (0, 1) (0, 2) (1, 0) (2, 0) (0, 32) (16, 0) -> 32x64
    """
    *batch, height, width = shape
    whole = (batch[0] if batch else 1, height, width)
    columns, rows = _along(2, 1, width), _along(1, 1, height)
    count = log2(height * width * whole[0]) - LANE_BITS - log2(warps)
    register = taken(columns, min(2, count))
    register += taken(rows, min(2, count - len(register)))
    lane = [*taken(columns, 3), *taken(rows, 2)]
    others = [*columns, *rows, *_along(0, 1, whole[0])]
    lane += taken(others, LANE_BITS - len(lane), pad=(0, 0, 0))
    warp = taken(others, log2(warps), pad=(0, 0, 0))
    inputs = {REGISTER: [*register, *others], LANE: lane, WARP: warp}
    return Layout.build(inputs, whole).reshape(shape)
