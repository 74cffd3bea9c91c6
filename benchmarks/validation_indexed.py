"""Kernels of indices and pixels in cuTile Python that the compiler was not tuned for."""

import cuda.tile as ct
from attention_forward import zeros
from gemm_kernels import element, tiles_along
from variant_kernels import ZERO, Size

STEM_TAPS = 7
DEPTHWISE_TAPS = 5


@ct.kernel
def embedding_bag(
    table: ct.Array, indices: ct.Array, offsets: ct.Array, out: ct.Array, tn: Size, width: Size
) -> None:
    """The mean of the rows of a table at `indices[offsets[bag] : offsets[bag + 1]]`."""
    bag = ct.bid(0)
    start, stop = element(offsets, bag), element(offsets, bag + 1)
    columns = ct.arange(width, dtype=ct.int32)[None, :]
    accumulator = zeros(tn, width)
    for i in range(tiles_along(stop - start, tn)):
        at = start + i * tn + ct.arange(tn, dtype=ct.int32)
        # A row that does not exist loads as zero.
        rows = ct.gather(indices, at, mask=at < stop, padding_value=-1)
        accumulator += ct.gather(table, (rows[:, None], columns)).astype(ct.float32)
    mean = ct.sum(accumulator, axis=0) / max(stop - start, 1)
    ct.store(out, (bag, 0), tile=mean.astype(out.dtype).reshape((1, width)))


@ct.kernel
def scatter_add(x: ct.Array, targets: ct.Array, out: ct.Array, tm: Size, tn: Size) -> None:
    """`out[targets[i]] += x[i]`, by atomics."""
    row, column = ct.bid(0), ct.bid(1)
    rows = row * tm + ct.arange(tm, dtype=ct.int32)
    # A row that does not exist is not added to.
    into = ct.gather(targets, rows, padding_value=-1)
    tile = ct.load(x, (row, column), (tm, tn), padding_mode=ZERO)
    columns = column * tn + ct.arange(tn, dtype=ct.int32)
    ct.atomic_add(out, (into[:, None], columns[None, :]), tile)


@ct.kernel
def histogram(values: ct.Array, counts: ct.Array, tn: Size) -> None:
    """Count values by an atomic for each."""
    at = ct.bid(0) * tn + ct.arange(tn, dtype=ct.int32)
    ct.atomic_add(counts, ct.gather(values, at, padding_value=-1), 1)


@ct.kernel
def row_histograms(values: ct.Array, counts: ct.Array, ts: Size, bins: Size) -> None:
    """Count the bytes of each row in equal bins, by comparing each with all of them."""
    row = ct.bid(0)
    every = ct.arange(bins, dtype=ct.int32)[None, :]
    accumulator = ct.zeros((bins,), dtype=ct.int32)
    for i in range(tiles_along(values.shape[1], ts)):
        tile = ct.load(values, (row, i), (1, ts), padding_mode=ZERO).reshape((ts, 1))
        bin = tile.astype(ct.int32) // (256 // bins)
        exists = i * ts + ct.arange(ts, dtype=ct.int32)[:, None] < values.shape[1]
        accumulator += ct.sum(((bin == every) & exists).astype(ct.int32), axis=0)
    ct.store(counts, (row, 0), tile=accumulator.reshape((1, bins)))


@ct.kernel
def causal_convolution(
    x: ct.Array, w: ct.Array, bias: ct.Array, y: ct.Array, taps: Size, tt: Size, tc: Size
) -> None:
    """The convolution of each channel with its last `taps` tokens, then SiLU.

    Arrays are batch, tokens and channels; W is taps by channels. Tokens before the first are zero.
    """
    row, column, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    token = row * tt + ct.arange(tt, dtype=ct.int32)[:, None]
    channel = column * tc + ct.arange(tc, dtype=ct.int32)[None, :]
    accumulator = ct.load(bias, (column,), (tc,), padding_mode=ZERO).astype(ct.float32)[None, :]
    for tap in ct.static_iter(range(taps)):
        tile = ct.gather(x, (batch, token - (taps - 1 - tap), channel))
        weight = ct.load(w, (tap, column), (1, tc), padding_mode=ZERO)
        accumulator = accumulator + tile.astype(ct.float32) * weight.astype(ct.float32)
    result = (accumulator / (1.0 + ct.exp(-accumulator))).astype(y.dtype)
    ct.store(y, (batch, row, column), tile=result.reshape((1, tt, tc)))


@ct.kernel
def stem_convolution(x: ct.Array, w: ct.Array, y: ct.Array, tm: Size, tn: Size, tk: Size) -> None:
    """The 7 by 7 convolution of images of few channels, every second pixel, as a GEMM.

    X is NHWC. The rows of `y` are pixels, those of `w` filter row, column and channel; K is
    divided by neither, so that each element of A has an index of its own.
    """
    row, column, channels = ct.bid(0), ct.bid(1), x.shape[3]
    height, width = x.shape[1] // 2, x.shape[2] // 2
    pixel = (row * tm + ct.arange(tm, dtype=ct.int32))[:, None]
    image, i, j = pixel // (height * width), pixel // width % height, pixel % width
    accumulator = zeros(tm, tn)
    for k in range(tiles_along(w.shape[0], tk)):
        along = (k * tk + ct.arange(tk, dtype=ct.int32))[None, :]
        tap, channel = along // channels, along % channels
        top = 2 * i + tap // STEM_TAPS - STEM_TAPS // 2
        side = 2 * j + tap % STEM_TAPS - STEM_TAPS // 2
        left = ct.gather(x, (image, top, side, channel))
        right = ct.load(w, (k, column), (tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
    ct.store(y, (row, column), tile=accumulator.astype(y.dtype))


@ct.kernel
def depthwise_convolution(
    x: ct.Array, w: ct.Array, y: ct.Array, th: Size, tw: Size, tc: Size
) -> None:
    """The 5 by 5 convolution of each channel of NHWC images that are padded in memory."""
    height, width = y.shape[1], y.shape[2]
    across, column, image = tiles_along(width, tw), ct.bid(1), ct.bid(2)
    i, j = ct.bid(0) // across, ct.bid(0) % across
    accumulator = ct.zeros((th, tw, tc), dtype=ct.float32)
    for tap in range(DEPTHWISE_TAPS * DEPTHWISE_TAPS):
        top, side = tap // DEPTHWISE_TAPS, tap % DEPTHWISE_TAPS
        rows = x.slice(axis=1, start=top, stop=top + height)
        shifted = rows.slice(axis=2, start=side, stop=side + width)
        tile = ct.load(shifted, (image, i, j, column), (1, th, tw, tc), padding_mode=ZERO)
        weight = ct.load(w, (tap, column), (1, tc), padding_mode=ZERO).reshape((1, 1, tc))
        accumulator += tile.reshape((th, tw, tc)).astype(ct.float32) * weight
    result = accumulator.astype(y.dtype).reshape((1, th, tw, tc))
    ct.store(y, (image, i, j, column), tile=result)
