"""GEMM kernels in cuTile Python that differ in operand order, K loop and distribution of work."""

import cuda.tile as ct
from gemm_kernels import tile_of_block, tiles_along

Size = ct.Constant[int]
Flag = ct.Constant[bool]
ZERO = ct.PaddingMode.ZERO


@ct.kernel
def plain(a: ct.Array, b: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size) -> None:
    """`c = a @ b`, in a grid of the rows and columns of tiles."""
    row, column = ct.bid(0), ct.bid(1)
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
    ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def raster(a: ct.Array, b: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size) -> None:
    """`c = a @ b`, with blocks in an order that keeps their operands in L2."""
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
    ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def half_accumulator(a: ct.Array, b: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size) -> None:
    """`c = a @ b` of f16, accumulated in f16."""
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    accumulator = ct.zeros((tm, tn), dtype=ct.float16)
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
    ct.store(c, index=(row, column), tile=accumulator)


@ct.kernel
def matmul_and_add(a: ct.Array, b: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size) -> None:
    """`c = a @ b`, accumulated by an addition to the result of each matmul."""
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator += ct.mma(left, right, ct.zeros((tm, tn), dtype=ct.float32))
    ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def unrolled(a: ct.Array, b: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size) -> None:
    """`c = a @ b`, two tiles along K in each iteration."""
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for pair in range(tiles_along(a.shape[1], 2 * tk)):
        for half in ct.static_iter(range(2)):
            k = 2 * pair + half
            left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
            right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
            accumulator = ct.mma(left, right, accumulator)
    ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def transposed_tiles(
    a: ct.Array, b: ct.Array, c: ct.Array, of_a: Flag, of_b: Flag, tm: Size, tn: Size, tk: Size
) -> None:
    """`c = a @ b`, A given as K by M if `of_a`, B as N by K if `of_b`; their tiles are transposed.

    f32 is rounded to tf32.
    """
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    kind = ct.tfloat32 if a.dtype == ct.float32 else a.dtype
    for k in range(tiles_along(a.shape[0 if of_a else 1], tk)):
        if of_a:
            left = ct.transpose(ct.load(a, index=(k, row), shape=(tk, tm), padding_mode=ZERO))
        else:
            left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        if of_b:
            right = ct.transpose(ct.load(b, index=(column, k), shape=(tn, tk), padding_mode=ZERO))
        else:
            right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left.astype(kind), right.astype(kind), accumulator)
    ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def transposed_loads(
    a: ct.Array, b: ct.Array, c: ct.Array, of_a: Flag, of_b: Flag, tm: Size, tn: Size, tk: Size
) -> None:
    """As `transposed_tiles`, by the order of the loads."""
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    order_a, order_b = (1, 0) if of_a else (0, 1), (1, 0) if of_b else (0, 1)
    for k in range(tiles_along(a.shape[0 if of_a else 1], tk)):
        left = ct.load(a, index=(row, k), shape=(tm, tk), order=order_a, padding_mode=ZERO)
        right = ct.load(b, index=(k, column), shape=(tk, tn), order=order_b, padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
    ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def gram(a: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size) -> None:
    """`c = a @ a.T`."""
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(a, index=(column, k), shape=(tn, tk), padding_mode=ZERO)
        accumulator = ct.mma(left, right.transpose(), accumulator)
    ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def batched(a: ct.Array, b: ct.Array, c: ct.Array, tb: Size, tm: Size, tn: Size, tk: Size) -> None:
    """`c[i] = a[i] @ b[i]` by tiles of `tb` matrices."""
    batch, row, column = ct.bid(2), ct.bid(0), ct.bid(1)
    accumulator = ct.zeros((tb, tm, tn), dtype=ct.float32)
    for k in range(tiles_along(a.shape[2], tk)):
        left = ct.load(a, index=(batch, row, k), shape=(tb, tm, tk), padding_mode=ZERO)
        right = ct.load(b, index=(batch, k, column), shape=(tb, tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
    ct.store(c, index=(batch, row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def persistent_for(a: ct.Array, b: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size) -> None:
    """`c = a @ b`; a block takes every `num_blocks`-th tile in a `for` loop. B is N by K."""
    rows, columns = tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn)
    for tile in range(ct.bid(0), rows * columns, ct.num_blocks(0)):
        row, column = tile % rows, tile // rows
        accumulator = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(tiles_along(a.shape[1], tk)):
            left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
            right = ct.load(b, index=(column, k), shape=(tn, tk), padding_mode=ZERO)
            accumulator = ct.mma(left, right.transpose(), accumulator)
        ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))


@ct.kernel
def persistent_while(a: ct.Array, b: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size) -> None:
    """`c = a @ b`; a block takes every `num_blocks`-th tile in a `while` loop."""
    rows, columns = tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn)
    tile = ct.bid(0)
    while tile < rows * columns:
        row, column = tile % rows, tile // rows
        accumulator = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(tiles_along(a.shape[1], tk)):
            left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
            right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
            accumulator = ct.mma(left, right, accumulator)
        ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))
        tile += ct.num_blocks(0)


@ct.kernel
def split_k(
    a: ct.Array, b: ct.Array, c: ct.Array, parts: Size, tm: Size, tn: Size, tk: Size
) -> None:
    """`c += a @ b`, K divided among `parts` blocks."""
    row, column = ct.bid(0), ct.bid(1)
    each = tiles_along(tiles_along(a.shape[1], tk), parts)
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for i in range(each):
        k = ct.bid(2) * each + i
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
    rows = row * tm + ct.arange(tm, dtype=ct.int32)
    columns = column * tn + ct.arange(tn, dtype=ct.int32)
    ct.atomic_add(c, (rows[:, None], columns[None, :]), accumulator)


@ct.kernel
def stream_k(a: ct.Array, b: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size) -> None:
    """`c += a @ b`; all blocks have the same number of iterations, over parts of several tiles."""
    rows, along_k = tiles_along(c.shape[0], tm), tiles_along(a.shape[1], tk)
    iterations = rows * tiles_along(c.shape[1], tn) * along_k
    each = tiles_along(iterations, ct.num_blocks(0))
    first = ct.bid(0) * each
    last = min(first + each, iterations)
    view = c.tiled_view((tm, tn))
    while first < last:
        tile, start = first // along_k, first % along_k
        stop = min(along_k, start + last - first)
        row, column = tile % rows, tile // rows
        accumulator = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(start, stop):
            left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
            right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
            accumulator = ct.mma(left, right, accumulator)
        view.atomic_store_add((row, column), accumulator)
        first += stop - start
