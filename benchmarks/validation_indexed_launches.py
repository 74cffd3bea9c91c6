"""Launches of the validation kernels of `validation_indexed.py`, with their results in f32."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import validation_indexed as kernels
from attention_launches import Launch
from variant_arrays import Arrays
from variant_sizes import Shape, Step, ceil_div

CAUSAL_TAPS = 4


def embedding_bag(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Means of rows; the shape is rows of the table, bags, their longest and row elements."""
    rows, bags, longest, width = shape
    random = np.random.default_rng(10)
    # A bag may be empty.
    bounds = np.cumsum([0, *random.integers(0, longest + 1, bags)])
    chosen = random.integers(0, rows, bounds[-1])
    table = arrays.uniform(rows, width, dtype=dtype)
    out = arrays.zeros(bags, width, dtype=dtype)

    def expected() -> tuple[Any]:
        # Each bag has all its rows, then zeros.
        every = bounds[:-1, None] + np.arange(longest)[None, :]
        exists = every < bounds[1:, None]
        safe = np.minimum(every, len(chosen) - 1)
        result = arrays.zeros(bags, width, dtype="float32")
        for i in range(longest):
            mask = arrays.upload(exists[:, i].astype(np.float32))
            result += arrays.f32(table[arrays.upload(chosen[safe[:, i]])]) * mask[:, None]
        counts = arrays.upload(np.maximum(np.diff(bounds), 1).astype(np.float32))
        return (result / counts[:, None],)

    indices, offsets = (arrays.upload(each.astype(np.int32)) for each in (chosen, bounds))
    arguments = (table, indices, offsets, out, *tile, width)
    steps = (Step(kernels.embedding_bag, (bags,), arguments),)
    return Launch(steps, (out,), expected, 1.0 * len(chosen) * width)


def scatter_add(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Rows added to others; the shape is rows of X for each of the result, these, and elements."""
    times, rows, width = shape
    order = np.random.default_rng(11).permutation(times * rows)
    x = arrays.uniform(times * rows, width, dtype=dtype)
    out = arrays.zeros(rows, width, dtype=dtype)

    def expected() -> tuple[Any]:
        sorted_rows = x[arrays.upload(np.argsort(order))]
        return (sorted_rows.reshape(rows, times, width).sum(1),)

    grid = (ceil_div(times * rows, tile[0]), ceil_div(width, tile[1]))
    targets = arrays.upload((order // times).astype(np.int32))
    steps = (Step(kernels.scatter_add, grid, (x, targets, out, *tile)),)
    return Launch(steps, (out,), expected, 1.0 * math.prod(shape), tolerance=1e-4)


def histogram(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Counts of values; the shape is values and bins."""
    count, bins = shape
    values = arrays.integers(0, bins, (count,), dtype)
    counts = arrays.zeros(bins, dtype="int32")
    expected = lambda: (  # noqa: E731
        arrays.f32(arrays.namespace.bincount(values, minlength=bins)),
    )
    steps = (Step(kernels.histogram, (ceil_div(count, tile[0]),), (values, counts, *tile)),)
    return Launch(steps, (counts,), expected, 1.0 * count, tolerance=1e-6)


def row_histograms(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Counts of the bytes of rows; the shape is rows, bytes and bins."""
    rows, columns, bins = shape
    values = arrays.integers(0, 256, (rows, columns), dtype)
    counts = arrays.zeros(rows, bins, dtype="int32")

    def expected() -> tuple[Any]:
        own = [(values // (256 // bins) == each).sum(1) for each in range(bins)]
        return (arrays.f32(arrays.namespace.stack(own, 1)),)

    steps = (Step(kernels.row_histograms, (rows,), (values, counts, *tile, bins)),)
    return Launch(steps, (counts,), expected, 1.0 * math.prod(shape), tolerance=1e-6)


def causal_convolution(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """The convolution of tokens; the shape is batch, tokens and channels."""
    batch, tokens, channels = shape
    x, y = arrays.uniform(*shape, dtype=dtype), arrays.zeros(*shape, dtype=dtype)
    w = arrays.uniform(CAUSAL_TAPS, channels, dtype=dtype)
    bias = arrays.uniform(channels, dtype=dtype)

    def expected() -> tuple[Any]:
        result = arrays.zeros(*shape, dtype="float32") + arrays.f32(bias)[None, None, :]
        for tap in range(CAUSAL_TAPS):
            ago = CAUSAL_TAPS - 1 - tap
            result[:, ago:] += arrays.f32(x[:, : tokens - ago]) * arrays.f32(w[tap])[None, None, :]
        return (result / (1 + arrays.namespace.exp(-result)),)

    grid = (ceil_div(tokens, tile[0]), ceil_div(channels, tile[1]), batch)
    steps = (Step(kernels.causal_convolution, grid, (x, w, bias, y, CAUSAL_TAPS, *tile)),)
    return Launch(steps, (y,), expected, 2.0 * CAUSAL_TAPS * math.prod(shape))


def padded_images(arrays: Arrays, shape: Shape, margin: int, dtype: str) -> Any:
    """Images with zeros around them."""
    images, height, width, channels = shape
    x = arrays.zeros(images, height + 2 * margin, width + 2 * margin, channels, dtype=dtype)
    if arrays.is_filled:
        x[:, margin:-margin, margin:-margin] = arrays.uniform(*shape, dtype=dtype)
    return x


def stem_convolution(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """The first convolution of images; the shape is images, size, channels and filters."""
    images, size, channels, filters = shape
    taps, half = kernels.STEM_TAPS, size // 2
    x = arrays.uniform(images, size, size, channels, dtype=dtype)
    w = arrays.uniform(taps * taps * channels, filters, dtype=dtype)
    y = arrays.zeros(images * half * half, filters, dtype=dtype)

    def expected() -> tuple[Any]:
        margin = taps // 2
        wide = arrays.zeros(images, size + 2 * margin, size + 2 * margin, channels, dtype="float32")
        wide[:, margin:-margin, margin:-margin] = arrays.f32(x)
        by_tap = arrays.f32(w).reshape(taps, taps, channels, filters)
        result = arrays.zeros(images, half, half, filters, dtype="float32")
        for i, j in product(range(taps), repeat=2):
            result += wide[:, i : i + size : 2, j : j + size : 2] @ by_tap[i, j]
        return (result.reshape(images * half * half, filters),)

    grid = (ceil_div(y.shape[0], tile[0]), ceil_div(filters, tile[1]))
    steps = (Step(kernels.stem_convolution, grid, (x, w, y, *tile)),)
    flops = 2.0 * y.shape[0] * filters * w.shape[0]
    return Launch(steps, (y,), expected, flops)


def depthwise_convolution(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """The convolution of each channel; the shape is images, height, width and channels."""
    images, height, width, channels = shape
    taps = kernels.DEPTHWISE_TAPS
    x = padded_images(arrays, shape, taps // 2, dtype)
    w = arrays.uniform(taps * taps, channels, dtype="float32")
    y = arrays.zeros(*shape, dtype=dtype)

    def expected() -> tuple[Any]:
        wide, result = arrays.f32(x), arrays.zeros(*shape, dtype="float32")
        for tap, (i, j) in enumerate(product(range(taps), repeat=2)):
            result += wide[:, i : i + height, j : j + width] * w[tap][None, None, None, :]
        return (result,)

    tiles = ceil_div(height, tile[0]) * ceil_div(width, tile[1])
    grid = (tiles, ceil_div(channels, tile[2]), images)
    steps = (Step(kernels.depthwise_convolution, grid, (x, w, y, *tile)),)
    return Launch(steps, (y,), expected, 2.0 * taps * taps * math.prod(shape))
