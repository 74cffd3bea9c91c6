"""GEMM kernels in cuTile Python that cuTile's own benchmarks lack."""

from typing import Any, Final

import cuda.tile as ct

GROUPED_ROWS: Final = 8
"""Tiles of C in a column that consecutive blocks compute, so that they share operands in L2."""


def tile_of_block(rows: Any, columns: Any) -> tuple[Any, Any]:
    """The row and column of this block's tile among `rows` by `columns` of them."""
    in_group = GROUPED_ROWS * columns
    first = ct.bid(0) // in_group * GROUPED_ROWS
    height = min(rows - first, GROUPED_ROWS)
    within = ct.bid(0) % in_group
    return first + within % height, within // height


@ct.kernel
def integer_gemm(
    a: ct.Array,
    b: ct.Array,
    c: ct.Array,
    tm: ct.Constant[int],
    tn: ct.Constant[int],
    tk: ct.Constant[int],
) -> None:
    """`c = a @ b` of 8-bit integers, accumulated in 32 bits; one tile of `c` a block."""
    row, column = tile_of_block(ct.cdiv(c.shape[0], tm), ct.cdiv(c.shape[1], tn))
    accumulator = ct.zeros((tm, tn), dtype=ct.int32)
    zero = ct.PaddingMode.ZERO
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=zero)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=zero)
        accumulator = ct.mma(left, right, accumulator)
    ct.store(c, index=(row, column), tile=accumulator)
