"""GEMM kernels in cuTile Python whose operands are selected by indices or by slices of arrays."""

import cuda.tile as ct
from gemm_kernels import element, tile_of_block, tiles_along
from variant_kernels import ZERO, Size

TAPS = 3
"""The width and height of the filter of convolutions."""


@ct.kernel
def gather_scatter(
    a: ct.Array,
    b: ct.Array,
    sources: ct.Array,
    targets: ct.Array,
    c: ct.Array,
    tm: Size,
    tn: Size,
    tk: Size,
) -> None:
    """`c[targets[i]] = a[sources[i]] @ b`."""
    row, column = tile_of_block(tiles_along(sources.shape[0], tm), tiles_along(c.shape[1], tn))
    listed = row * tm + ct.arange(tm, dtype=ct.int32)
    rows = ct.gather(sources, listed, padding_value=-1)[:, None]
    within = ct.arange(tk, dtype=ct.int32)[None, :]
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.gather(a, (rows, k * tk + within))
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
    into = ct.gather(targets, listed, padding_value=-1)[:, None]
    columns = (column * tn + ct.arange(tn, dtype=ct.int32))[None, :]
    ct.scatter(c, (into, columns), accumulator.astype(c.dtype))


@ct.kernel
def gather_slices(
    a: ct.Array, b: ct.Array, sources: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size
) -> None:
    """`c[i] = a[sources[i]] @ b`, with the rows of A by advanced indexing."""
    row, column = tile_of_block(tiles_along(sources.shape[0], tm), tiles_along(c.shape[1], tn))
    rows = ct.load(sources, index=(row,), shape=(tm,), padding_mode=ZERO)
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.load_advanced_indexing(a, (rows, ct.Slice(k * tk, tk)), padding_mode=ZERO)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
    ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def grouped_k(
    x: ct.Array, y: ct.Array, offsets: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size
) -> None:
    """`c[g] = x[rows].T @ y[rows]` for each group of rows: the gradients of expert weights.

    Groups are `offsets[g]` to `offsets[g + 1]`, so that each has another K.
    """
    row, column, group = ct.bid(0), ct.bid(1), ct.bid(2)
    start, stop = element(offsets, group), element(offsets, group + 1)
    group_x = x.slice(axis=0, start=start, stop=stop)
    group_y = y.slice(axis=0, start=start, stop=stop)
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(tiles_along(stop - start, tk)):
        left = ct.load(group_x, index=(k, row), shape=(tk, tm), padding_mode=ZERO)
        right = ct.load(group_y, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left.transpose(), right, accumulator)
    ct.store(c, (group, row, column), tile=accumulator.astype(c.dtype).reshape((1, tm, tn)))


@ct.kernel
def grouped_arrays(
    a: list[ct.Array], b: list[ct.Array], c: list[ct.Array], tm: Size, tn: Size, tk: Size
) -> None:
    """`c[g] = a[g] @ b[g]` for lists of matrices of any sizes; a block takes every n-th tile."""
    first, blocks = ct.bid(0), ct.num_blocks(0)
    for group in range(len(a)):
        left_matrix, right_matrix, result = a[group], b[group], c[group]
        rows = tiles_along(result.shape[0], tm)
        tiles = rows * tiles_along(result.shape[1], tn)
        for tile in range(first, tiles, blocks):
            row, column = tile % rows, tile // rows
            accumulator = ct.zeros((tm, tn), dtype=ct.float32)
            for k in range(tiles_along(left_matrix.shape[1], tk)):
                left = ct.load(left_matrix, (row, k), (tm, tk), padding_mode=ZERO)
                right = ct.load(right_matrix, (k, column), (tk, tn), padding_mode=ZERO)
                accumulator = ct.mma(left, right, accumulator)
            ct.store(result, (row, column), tile=accumulator.astype(result.dtype))
        first = (first - tiles) % blocks


@ct.kernel
def block_sparse(
    a: ct.Array,
    b: ct.Array,
    counts: ct.Array,
    blocks: ct.Array,
    c: ct.Array,
    tm: Size,
    tn: Size,
    tk: Size,
) -> None:
    """`c = a @ b` where only the tiles `blocks[row, : counts[row]]` along K of A are nonzero."""
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for i in range(element(counts, row)):
        k = element(blocks, (row, i))
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
    ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def triangular(a: ct.Array, b: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size) -> None:
    """`c = tril(a) @ b`: unmasked tiles left of the diagonal, then masked ones."""
    row, column = ct.bid(0), ct.bid(1)
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    diagonal = row * tm // tk
    for k in range(diagonal):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
    rows = (row * tm + ct.arange(tm, dtype=ct.int32))[:, None]
    within = ct.arange(tk, dtype=ct.int32)[None, :]
    for k in range(diagonal, min(tiles_along((row + 1) * tm, tk), tiles_along(a.shape[1], tk))):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        masked = ct.where(rows >= k * tk + within, left, ct.zeros((tm, tk), dtype=a.dtype))
        accumulator = ct.mma(masked, right, accumulator)
    ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def convolution_gather(x: ct.Array, w: ct.Array, y: ct.Array, tm: Size, tn: Size, tk: Size) -> None:
    """The 3 by 3 convolution of NHWC images as a GEMM whose A is gathered, padding included.

    The rows of `y` are the pixels of all images; those of `w` are filter row, column and channel.
    """
    height, width, channels = x.shape[1], x.shape[2], x.shape[3]
    row, column = tile_of_block(tiles_along(y.shape[0], tm), tiles_along(y.shape[1], tn))
    pixel = (row * tm + ct.arange(tm, dtype=ct.int32))[:, None]
    image, i, j = pixel // (height * width), pixel // width % height, pixel % width
    within = ct.arange(tk, dtype=ct.int32)[None, :]
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    along_channels = tiles_along(channels, tk)
    for k in range(TAPS * TAPS * along_channels):
        tap, first = k // along_channels, k % along_channels * tk
        shifted = (i + tap // TAPS - 1, j + tap % TAPS - 1)
        left = ct.gather(x, (image, *shifted, first + within))
        right = ct.load(w, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
    ct.store(y, index=(row, column), tile=accumulator.astype(y.dtype))


@ct.kernel
def convolution_slices(
    x: ct.Array, w: ct.Array, y: ct.Array, th: Size, tw: Size, tn: Size, tk: Size
) -> None:
    """The same of images that are padded in memory, by tiles of `th` by `tw` pixels of slices."""
    height, width = y.shape[1], y.shape[2]
    across, column, image = tiles_along(width, tw), ct.bid(1), ct.bid(2)
    i, j = ct.bid(0) // across, ct.bid(0) % across
    accumulator = ct.zeros((th * tw, tn), dtype=ct.float32)
    along_channels = tiles_along(x.shape[3], tk)
    for tap in range(TAPS * TAPS):
        top, side = tap // TAPS, tap % TAPS
        rows = x.slice(axis=1, start=top, stop=top + height)
        shifted = rows.slice(axis=2, start=side, stop=side + width)
        for k in range(along_channels):
            left = ct.load(shifted, (image, i, j, k), (1, th, tw, tk), padding_mode=ZERO)
            right = ct.load(w, (tap * along_channels + k, column), (tk, tn), padding_mode=ZERO)
            accumulator = ct.mma(left.reshape((th * tw, tk)), right, accumulator)
    result = accumulator.astype(y.dtype).reshape((1, th, tw, tn))
    ct.store(y, index=(image, i, j, column), tile=result)
