"""The operands of matrix instructions: who holds which element of A, B and the accumulator.

One instruction's fragment comes first, as the PTX manual draws it; a tile of a CTA is a product
of it with how warps and further registers repeat it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2

if TYPE_CHECKING:
    from collections.abc import Sequence

REGISTER_BITS: Final = 32
"""Operands travel in registers of this width; narrow elements share one."""

WARPGROUP: Final = 4
"""How many warps execute a wgmma."""


def mma_accumulator(rows: int = 16, columns: int = 8) -> Layout:
    """C and D of mma.sync: two neighbours a register pair, four lanes a row, eight rows, again.

    >>> mma_accumulator().at(register=3, lane=5)
    (9, 3)
    """
    register = [(0, 1)] + ([(8, 0)] if rows > 8 else [])
    lane = [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]
    return Layout.build({REGISTER: register, LANE: lane}, (rows, columns))


def mma_left(bits: int, rows: int = 16, depth: int | None = None) -> Layout:
    """A of mma.sync, M by K, for elements of that many bits.

    A lane holds `32 / bits` neighbours along K; then the rows 8 below; then the other half of K.

    >>> mma_left(16).at(register=6, lane=1)
    (8, 10)
    """
    pack = REGISTER_BITS // bits if bits < REGISTER_BITS else 1
    k = depth if depth is not None else 8 * pack
    register = [(0, 1 << bit) for bit in range(log2(pack))]
    register += [(8, 0)] if rows > 8 else []
    register += [(0, 4 * pack << bit) for bit in range(log2(k // (4 * pack)))]
    lane = [(0, pack), (0, 2 * pack), (1, 0), (2, 0), (4, 0)]
    return Layout.build({REGISTER: register, LANE: lane}, (rows, k))


def mma_right(bits: int, depth: int | None = None, columns: int = 8) -> Layout:
    """B of mma.sync, K by N: as A, with N where A has its rows.

    >>> mma_right(16).at(register=2, lane=5)
    (10, 1)
    """
    pack = REGISTER_BITS // bits if bits < REGISTER_BITS else 1
    k = depth if depth is not None else 8 * pack
    register = [(1 << bit, 0) for bit in range(log2(pack))]
    register += [(4 * pack << bit, 0) for bit in range(log2(k // (4 * pack)))]
    lane = [(pack, 0), (2 * pack, 0), (0, 1), (0, 2), (0, 4)]
    return Layout.build({REGISTER: register, LANE: lane}, (k, columns))


def wgmma_accumulator(columns: int) -> Layout:
    """The accumulator of wgmma, 64 by N: a warp has 16 rows, eight columns after the other.

    N is a power of two from 8 on, as every extent of a tile is.

    >>> wgmma_accumulator(16).at(register=5, lane=4, warp=1)
    (17, 9)
    """
    across = Layout.build(
        {REGISTER: [(0, 1 << bit) for bit in range(log2(columns // 8))], WARP: [(1, 0), (2, 0)]},
        (WARPGROUP, columns // 8),
    )
    return mma_accumulator().product(across)


def wgmma_left(bits: int) -> Layout:
    """A of wgmma in registers, 64 by K: each warp holds the A of an mma.sync for its 16 rows."""
    return mma_left(bits).product(Layout.build({WARP: [(1, 0), (2, 0)]}, (WARPGROUP, 1)))


def tile_fragment(
    fragment: Layout, shape: Sequence[int], warps: Sequence[int], *, order: Sequence[int] = (1, 0)
) -> Layout:
    """A fragment repeated to a tile of a CTA: first by warps over a grid, then by registers.

    `warps` says how many warps lie along each dimension; 1 along a dimension that other operands
    are spread over means that those warps hold replicas, which `share` adds.

    >>> tile_fragment(mma_accumulator(), (32, 16), (2, 1)).at(register=4, warp=1)
    (16, 8)
    """
    inner = fragment.shape
    grid = [max(1, min(w, e // i)) for w, e, i in zip(warps, shape, inner, strict=True)]
    repeat = [max(1, e // (i * g)) for e, i, g in zip(shape, inner, grid, strict=True)]
    by_warp = _grid(WARP, grid, order)
    by_register = _grid(REGISTER, repeat, order)
    return fragment.product(by_warp).product(by_register).resize(shape)


def share(layout: Layout, warps: int, *, first: bool) -> Layout:
    """The layout on more warps, which repeat it: as the low or as the high bits of the warp."""
    own = layout.vectors(WARP)
    extra = (0,) * (log2(warps) - len(own))
    return layout.with_input(WARP, extra + own if first else own + extra)


def _grid(name: str, extents: Sequence[int], order: Sequence[int]) -> Layout:
    vectors: list[list[int]] = []
    for dimension in order:
        for bit in range(log2(extents[dimension])):
            place = [0] * len(extents)
            place[dimension] = 1 << bit
            vectors.append(place)
    return Layout.build({name: vectors}, extents)
