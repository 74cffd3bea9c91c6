"""GEMM kernels in cuTile Python of quantized operands."""

from typing import Any

import cuda.tile as ct
from gemm_kernels import tile_of_block, tiles_along
from variant_kernels import ZERO, Size

SCALED = 128
"""Elements along K, and of B also along N, that share a scale."""


@ct.kernel
def block_scaled(
    a: ct.Array,
    b: ct.Array,
    scale_a: ct.Array,
    scale_b: ct.Array,
    c: ct.Array,
    tm: Size,
    tn: Size,
    tk: Size,
) -> None:
    """`c = a @ b.T` of fp8, with scales of A for 1 by 128 elements, and of B for 128 by 128.

    The scales are applied in the K loop. Tiles are at most 128 elements wide.
    """
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(b, index=(column, k), shape=(tn, tk), padding_mode=ZERO)
        part = ct.mma(left, right.transpose(), ct.zeros((tm, tn), dtype=ct.float32))
        block = k * tk // SCALED
        by_row = ct.load(scale_a, index=(row, block), shape=(tm, 1), padding_mode=ZERO)
        by_block = ct.gather(scale_b, (column * tn // SCALED, block))
        accumulator += part * (by_row * by_block)
    ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def scaled(
    a: ct.Array,
    b: ct.Array,
    scale_a: ct.Array,
    scale_b: ct.Array,
    c: ct.Array,
    tm: Size,
    tn: Size,
    tk: Size,
) -> None:
    """`c = a @ b.T` of int8 or fp8, with scales of the rows of A and B in the epilogue."""
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    kind = ct.int32 if a.dtype == ct.int8 else ct.float32
    accumulator = ct.zeros((tm, tn), dtype=kind)
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(b, (k, column), shape=(tk, tn), order=(1, 0), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
    by_row = ct.load(scale_a, index=(row,), shape=(tm,), padding_mode=ZERO)
    by_column = ct.load(scale_b, index=(column,), shape=(tn,), padding_mode=ZERO)
    x = accumulator.astype(ct.float32) * by_row[:, None] * by_column[None, :]
    ct.store(c, index=(row, column), tile=x.astype(c.dtype))


@ct.kernel
def converted(
    a: ct.Array, b: ct.Array, scale: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size
) -> None:
    """`c = (a @ b) * scale`, A or B converted to the type of C in the K loop; scales of columns."""
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left.astype(c.dtype), right.astype(c.dtype), accumulator)
    by_column = ct.load(scale, index=(column,), shape=(tn,), padding_mode=ZERO)
    ct.store(c, index=(row, column), tile=(accumulator * by_column[None, :]).astype(c.dtype))


@ct.kernel
def int8_groups(
    a: ct.Array, b: ct.Array, scale: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size
) -> None:
    """`c = a @ (b * scale).T` of int8 weights, N by K, a scale for `tk` elements of a row of B."""
    row, column = ct.bid(0), ct.bid(1)
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(b, index=(column, k), shape=(tn, tk), padding_mode=ZERO)
        by_group = ct.load(scale, index=(column, k), shape=(tn, 1), padding_mode=ZERO)
        weights = right.astype(a.dtype) * by_group
        accumulator = ct.mma(left, weights.transpose(), accumulator)
    ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))


def weights_of(nibbles: Any, dtype: Any) -> Any:
    """The 4-bit weights that nibbles encode, which are the weights plus 8."""
    return nibbles.astype(dtype) - 8


@ct.kernel
def int4_concatenated(
    a: ct.Array, packed: ct.Array, scale: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size
) -> None:
    """`c = (a @ b) * scale` of 4-bit weights, unpacked by shifts and concatenated along K.

    Within each `tk` rows of B, the low nibbles of the bytes are the first half.
    """
    row, column = ct.bid(0), ct.bid(1)
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        pairs = ct.load(packed, index=(k, column), shape=(tk // 2, tn), padding_mode=ZERO)
        nibbles = ct.cat((pairs & 15, pairs >> 4), axis=0)
        accumulator = ct.mma(left, weights_of(nibbles, a.dtype), accumulator)
    by_column = ct.load(scale, index=(column,), shape=(tn,), padding_mode=ZERO)
    ct.store(c, index=(row, column), tile=(accumulator * by_column[None, :]).astype(c.dtype))


@ct.kernel
def int4_two_dots(
    a: ct.Array, packed: ct.Array, scale: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size
) -> None:
    """As `int4_concatenated`, with a dot for the low nibbles and one for the high ones."""
    row, column = ct.bid(0), ct.bid(1)
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    half = tk // 2
    for k in range(tiles_along(a.shape[1], tk)):
        pairs = ct.load(packed, index=(k, column), shape=(half, tn), padding_mode=ZERO)
        left = ct.load(a, index=(row, 2 * k), shape=(tm, half), padding_mode=ZERO)
        accumulator = ct.mma(left, weights_of(pairs & 15, a.dtype), accumulator)
        left = ct.load(a, index=(row, 2 * k + 1), shape=(tm, half), padding_mode=ZERO)
        accumulator = ct.mma(left, weights_of(pairs >> 4, a.dtype), accumulator)
    by_column = ct.load(scale, index=(column,), shape=(tn,), padding_mode=ZERO)
    ct.store(c, index=(row, column), tile=(accumulator * by_column[None, :]).astype(c.dtype))
