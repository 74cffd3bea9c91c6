"""Fragments of mma and wgmma: the layouts of A, B and the accumulator over lanes and registers.

The fragments are those of one instruction, as the PTX manual draws them.
"""

from __future__ import annotations

from typing import Final

from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2
from tilewright.target.tensor_cores import WARPGROUP

REGISTER_BITS: Final = 32
"""Operands travel in registers of this width; narrow elements share one."""


def mma_accumulator(rows: int = 16, columns: int = 8) -> Layout:
    """C and D of mma.sync: two neighbours a register pair, four lanes a row, eight rows, again.

    >>> mma_accumulator().at(register=3, lane=5)
    (9, 3)
    """
    register = [(0, 1)] + ([(8, 0)] if rows > 8 else [])
    lane = [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]
    return Layout.build({REGISTER: register, LANE: lane}, (rows, columns))


def mma_left(bits: int, rows: int = 16, k: int | None = None) -> Layout:
    """A of mma.sync, M by K, for elements of that many bits.

    A lane holds `32 / bits` neighbours along K; then the rows 8 below; then the other half of K.

    >>> mma_left(16).at(register=6, lane=1)
    (8, 10)
    """
    pack = REGISTER_BITS // bits if bits < REGISTER_BITS else 1
    k = 8 * pack if k is None else k
    register = [(0, 1 << bit) for bit in range(log2(pack))]
    register += [(8, 0)] if rows > 8 else []
    register += [(0, 4 * pack << bit) for bit in range(log2(k // (4 * pack)))]
    lane = [(0, pack), (0, 2 * pack), (1, 0), (2, 0), (4, 0)]
    return Layout.build({REGISTER: register, LANE: lane}, (rows, k))


def mma_right(bits: int, k: int | None = None, columns: int = 8) -> Layout:
    """B of mma.sync, K by N: as A, with N where A has its rows.

    >>> mma_right(16).at(register=2, lane=5)
    (10, 1)
    """
    pack = REGISTER_BITS // bits if bits < REGISTER_BITS else 1
    k = 8 * pack if k is None else k
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
