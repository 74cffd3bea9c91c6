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


def tiles_along(extent: Any, size: int) -> Any:
    """The number of tiles of a size that cover an extent."""
    return ct.cdiv(extent, size)


def element(array: ct.Array, index: Any) -> Any:
    """An element of an array, as a scalar."""
    return ct.gather(array, index)


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
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    accumulator = ct.zeros((tm, tn), dtype=ct.int32)
    zero = ct.PaddingMode.ZERO
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=zero)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=zero)
        accumulator = ct.mma(left, right, accumulator)
    ct.store(c, index=(row, column), tile=accumulator)


@ct.kernel
def grouped_gemm(
    a: ct.Array,
    b: ct.Array,
    offsets: ct.Array,
    c: ct.Array,
    tm: ct.Constant[int],
    tn: ct.Constant[int],
    tk: ct.Constant[int],
) -> None:
    """`c[rows] = a[rows] @ b[g]` for each group `g` of rows, `offsets[g]` to `offsets[g + 1]`.

    Groups are neither padded nor aligned to tiles. Each is a slice of A and of C, as CUTLASS and
    torch give every group a tensor of its own: rows beyond its end load as zero and are not stored.
    The kernel is persistent: a block takes every `num_blocks`-th of the tiles of all groups. Its
    tiles of a group go down a column first, so that blocks at work at a time share B in L2.
    """
    columns, blocks = tiles_along(c.shape[1], tn), ct.num_blocks(0)
    zero = ct.PaddingMode.ZERO
    first = ct.bid(0)
    for group in range(b.shape[0]):
        start, stop = element(offsets, group), element(offsets, group + 1)
        rows = tiles_along(stop - start, tm)
        tiles = rows * columns
        for tile in range(first, tiles, blocks):
            row, column = tile % rows, tile // rows
            group_a = a.slice(axis=0, start=start, stop=stop)
            accumulator = ct.zeros((tm, tn), dtype=ct.float32)
            for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
                left = ct.load(group_a, index=(row, k), shape=(tm, tk), padding_mode=zero)
                right = ct.load(b, (group, k, column), shape=(1, tk, tn), padding_mode=zero)
                accumulator = ct.mma(left, right.reshape((tk, tn)), accumulator)
            group_c = c.slice(axis=0, start=start, stop=stop)
            ct.store(group_c, index=(row, column), tile=accumulator.astype(c.dtype))
        # The first of the tiles of the next group that are this block's.
        first = (first - tiles) % blocks


@ct.kernel
def gather_gemm(
    a: ct.Array,
    b: ct.Array,
    tokens: ct.Array,
    experts: ct.Array,
    weights: ct.Array,
    c: ct.Array,
    weighted: ct.Constant[bool],
    tm: ct.Constant[int],
    tn: ct.Constant[int],
    tk: ct.Constant[int],
) -> None:
    """`c[r] = a[tokens[r]] @ b[experts[r // tm]].T`, times `weights[r]` if `weighted`.

    The first GEMM of a fused mixture of experts. `tokens` are sorted by expert and padded for each
    to a multiple of `tm` by the number of rows of A, which loads as zero, so that a tile has one
    expert. B is K-contiguous, as checkpoints have it, and C is in sorted order.
    """
    row, column = tile_of_block(experts.shape[0], tiles_along(c.shape[1], tn))
    expert = element(experts, row)
    rows = ct.load(tokens, index=(row,), shape=(tm,)).reshape((tm, 1))
    within = ct.arange(tk, dtype=ct.int32).reshape((1, tk))
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    zero = ct.PaddingMode.ZERO
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.gather(a, (rows, k * tk + within))
        right = ct.load(
            b, (expert, k, column), shape=(1, tk, tn), order=(0, 2, 1), padding_mode=zero
        )
        accumulator = ct.mma(left, right.reshape((tk, tn)), accumulator)
    if weighted:
        by_row = ct.load(weights, index=(row,), shape=(tm,)).astype(ct.float32)
        accumulator = accumulator * by_row.reshape((tm, 1))
    ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def split_gemm(
    a: ct.Array,
    b: ct.Array,
    c: ct.Array,
    tm: ct.Constant[int],
    tn: ct.Constant[int],
    tk: ct.Constant[int],
    steps: ct.Constant[int],
) -> None:
    """`c += a @ b`, persistent; an addition to a tile of `c` is of `steps` tiles of K."""
    columns, view = ct.num_tiles(c, 1, (tm, tn)), c.tiled_view((tm, tn))
    parts = ct.num_tiles(a, 1, (tm, tk)) // steps
    tiles = ct.num_tiles(c, 0, (tm, tn)) * columns * parts
    zero = ct.PaddingMode.ZERO
    for tile in range(ct.bid(0), tiles, ct.num_blocks(0)):
        row, column, part = tile // parts // columns, tile // parts % columns, tile % parts
        accumulator = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(part * steps, part * steps + steps):
            left = ct.load(a, (row, k), shape=(tm, tk), padding_mode=zero)
            right = ct.load(b, (k, column), shape=(tk, tn), padding_mode=zero)
            accumulator = ct.mma(left, right, accumulator)
        view.atomic_store_add((row, column), accumulator)
