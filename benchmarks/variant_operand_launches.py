"""Launches of GEMM variants of quantized or indexed operands, with their results in f32."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import variant_indexed as indexed
import variant_quantized as quantized
from variant_arrays import Arrays
from variant_launches import Build, Launch, flops_of, grid_of, one_axis, simple
from variant_sizes import Shape, ceil_div

SPARSITY = 4
"""The number of tiles along K for each nonzero one."""


def low_precision(arrays: Arrays, rows: int, columns: int, dtype: str) -> Any:
    """A matrix of int8 or of a floating-point type."""
    if dtype == "int8":
        return arrays.integers(-128, 128, (rows, columns), dtype)
    return arrays.uniform(rows, columns, dtype=dtype)


def block_scaled(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A GEMM with scales of blocks of A and B."""
    m, n, k = shape
    size = quantized.SCALED
    a, b = arrays.uniform(m, k, dtype=dtype), arrays.uniform(n, k, dtype=dtype)
    scale_a = arrays.uniform(m, ceil_div(k, size), dtype="float32")
    scale_b = arrays.uniform(ceil_div(n, size), ceil_div(k, size), dtype="float32")
    c = arrays.zeros(m, n, dtype="bfloat16")

    def expected() -> Any:
        blocks_a = arrays.f32(a).reshape(m, k // size, size) * scale_a[:, :, None]
        blocks_b = arrays.f32(b).reshape(n // size, size, k // size, size)
        scaled_b = blocks_b * scale_b[:, None, :, None]
        return blocks_a.reshape(m, k) @ scaled_b.reshape(n, k).T

    arguments = (a, b, scale_a, scale_b, c, *tile)
    grid = one_axis(shape, tile)
    return Launch(quantized.block_scaled, grid, arguments, c, expected, flops_of(shape))


def scaled(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A GEMM of int8 or fp8 with scales of rows and columns."""
    m, n, k = shape
    a, b = low_precision(arrays, m, k, dtype), low_precision(arrays, n, k, dtype)
    scale_a, scale_b = (arrays.uniform(each, dtype="float32") for each in (m, n))
    c = arrays.zeros(m, n, dtype="bfloat16")

    def expected() -> Any:
        return arrays.f32(a) @ arrays.f32(b).T * scale_a[:, None] * scale_b[None, :]

    arguments = (a, b, scale_a, scale_b, c, *tile)
    grid = one_axis(shape, tile)
    return Launch(quantized.scaled, grid, arguments, c, expected, flops_of(shape))


def converted(type_a: str, type_b: str) -> Build:
    """A GEMM of operands that are converted to the type of the result."""

    def build(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
        m, n, k = shape
        a, b = low_precision(arrays, m, k, type_a), low_precision(arrays, k, n, type_b)
        # Weights of 8 bits become fractions, so that the result fits into f16.
        scale = arrays.uniform(n, dtype="float32") / 128
        c = arrays.zeros(m, n, dtype=dtype)
        expected = lambda: arrays.f32(a) @ arrays.f32(b) * scale[None, :]  # noqa: E731
        arguments = (a, b, scale, c, *tile)
        grid = one_axis(shape, tile)
        return Launch(quantized.converted, grid, arguments, c, expected, flops_of(shape))

    return build


def int8_groups(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A GEMM of int8 weights with a scale for each group along K."""
    m, n, k = shape
    group = tile[2]
    a, b = arrays.uniform(m, k, dtype=dtype), low_precision(arrays, n, k, "int8")
    # A multiple of a power of two, so that the scaled weights are exact in f16.
    scale = arrays.upload(np.full((n, ceil_div(k, group)), 1 / 64, np.float16))
    c = arrays.zeros(m, n, dtype=dtype)
    expected = lambda: arrays.f32(a) @ (arrays.f32(b) / 64).T  # noqa: E731
    arguments, grid = (a, b, scale, c, *tile), grid_of(shape, tile)
    return Launch(quantized.int8_groups, grid, arguments, c, expected, flops_of(shape))


def int4(kernel: Any) -> Build:
    """A GEMM of 4-bit weights, two in a byte."""

    def build(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
        m, n, k = shape
        a = arrays.uniform(m, k, dtype=dtype)
        packed = arrays.integers(0, 256, (k // 2, n), "uint8")
        scale = arrays.uniform(n, dtype="float32")
        c = arrays.zeros(m, n, dtype=dtype)

        def expected() -> Any:
            # Tiles along K, low and high nibbles, rows within.
            pairs = packed.reshape(k // tile[2], tile[2] // 2, n)
            nibbles = arrays.namespace.stack((pairs & 15, pairs >> 4), 1)
            weights = arrays.f32(nibbles).reshape(k, n) - 8
            return arrays.f32(a) @ weights * scale[None, :]

        arguments, grid = (a, packed, scale, c, *tile), grid_of(shape, tile)
        return Launch(kernel, grid, arguments, c, expected, flops_of(shape))

    return build


def permutation(count: int) -> Any:
    """The first integers in random order."""
    return np.random.default_rng(1).permutation(count)


def i32(arrays: Arrays, indices: Any) -> Any:
    """Indices as a kernel reads them; torch itself indexes by 64 bits."""
    return arrays.upload(indices.astype(np.int32))


def gather_scatter(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A GEMM of rows of A in any order, to other rows of C."""
    plain = simple(indexed.gather_scatter)(arrays, shape, tile, dtype)
    a, b, c = plain.arguments[:3]
    sources, targets = permutation(shape[0]), np.roll(np.arange(shape[0]), 7)

    def expected() -> Any:
        x = plain.expected()
        result = arrays.namespace.zeros_like(x)
        result[arrays.upload(targets)] = x[arrays.upload(sources)]
        return result

    lists = (i32(arrays, sources), i32(arrays, targets))
    return plain._replace(arguments=(a, b, *lists, c, *tile), expected=expected)


def gather_slices(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A GEMM of rows of A in any order."""
    plain = simple(indexed.gather_slices)(arrays, shape, tile, dtype)
    a, b, c = plain.arguments[:3]
    sources = permutation(shape[0])
    expected = lambda: plain.expected()[arrays.upload(sources)]  # noqa: E731
    return plain._replace(arguments=(a, b, i32(arrays, sources), c, *tile), expected=expected)


def unequal(parts: int, extent: int) -> list[int]:
    """Sizes of parts of an extent that differ, multiples of 64 if it is one, else of 8."""
    weights, multiple = np.arange(1, parts + 1), 8 if extent % 64 else 64
    bounds = np.cumsum(weights) * extent // weights.sum() // multiple * multiple
    bounds[-1] = extent
    return np.diff(bounds, prepend=0).tolist()


def grouped_k(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Gradients of expert weights; the shape is experts, M, N and the tokens of all."""
    groups, m, n, tokens = shape
    x, y = arrays.uniform(tokens, m, dtype=dtype), arrays.uniform(tokens, n, dtype=dtype)
    bounds = np.cumsum([0, *unequal(groups, tokens)])
    offsets = i32(arrays, bounds)
    c = arrays.zeros(groups, m, n, dtype=dtype)

    def expected() -> Any:
        parts = [slice(*each) for each in pairwise(bounds)]
        return arrays.namespace.stack([arrays.f32(x[p]).T @ arrays.f32(y[p]) for p in parts])

    grid = (*grid_of((m, n), tile), groups)
    arguments = (x, y, offsets, c, *tile)
    return Launch(indexed.grouped_k, grid, arguments, c, expected, 2.0 * m * n * tokens)


def grouped_arrays(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """GEMMs of any M and K; the shape is their number, all M, N and all K."""
    groups, m, n, k = shape
    heights = unequal(groups, m)
    sizes = list(zip(heights, unequal(groups, k)[::-1], strict=True))
    a = [arrays.uniform(rows, inner, dtype=dtype) for rows, inner in sizes]
    b = [arrays.uniform(inner, n, dtype=dtype) for _, inner in sizes]
    c = arrays.zeros(m, n, dtype=dtype)
    ends = np.cumsum(heights)
    parts = [c[end - rows : end] for end, rows in zip(ends, heights, strict=True)]

    def expected() -> Any:
        result = arrays.f32(c) * 0
        for left, right, end in zip(a, b, ends, strict=True):
            result[end - len(left) : end] = arrays.f32(left) @ arrays.f32(right)
        return result

    flops = sum(2.0 * rows * n * inner for rows, inner in sizes)
    arguments, grid = (a, b, parts, *tile), (arrays.multiprocessors,)
    return Launch(indexed.grouped_arrays, grid, arguments, c, expected, flops)


def block_sparse(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A GEMM of which a part of the tiles of A is nonzero, a different number in each row."""
    plain = simple(indexed.block_sparse)(arrays, shape, tile, dtype)
    a, b, c = plain.arguments[:3]
    rows, along_k = ceil_div(shape[0], tile[0]), ceil_div(shape[2], tile[2])
    random = np.random.default_rng(2)
    blocks = np.sort(random.random((rows, along_k)).argsort(axis=1)[:, : along_k // SPARSITY])
    counts = random.integers(blocks.shape[1] // 2, blocks.shape[1] + 1, rows)
    mask = np.zeros((rows, along_k), np.float32)
    for row, count in enumerate(counts):
        mask[row, blocks[row, :count]] = 1

    def expected() -> Any:
        tiles = (arrays.f32(a)).reshape(rows, tile[0], along_k, tile[2])
        masked = tiles * arrays.upload(mask)[:, None, :, None]
        return masked.reshape(shape[0], shape[2]) @ arrays.f32(b)

    lists = [i32(arrays, each) for each in (counts, blocks)]
    flops = 2.0 * float(counts.sum()) * tile[0] * tile[2] * shape[1]
    return plain._replace(arguments=(a, b, *lists, c, *tile), expected=expected, flops=flops)


def triangular(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """The lower triangle of A times B; A is square."""
    plain = simple(indexed.triangular, planar=True)(arrays, shape, tile, dtype)
    a, b = plain.arguments[:2]
    expected = lambda: arrays.namespace.tril(arrays.f32(a)) @ arrays.f32(b)  # noqa: E731
    return plain._replace(expected=expected, flops=plain.flops / 2)


def convolution(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A 3 by 3 convolution; the shape is images, height, width, filters and channels.

    A tile of four sizes is height, width, filters and channels, of images padded in memory.
    """
    images, height, width, filters, channels = shape
    taps = indexed.TAPS
    x = arrays.uniform(images, height + 2, width + 2, channels, dtype=dtype)
    # Zero borders are the padding; the other kernel gets the interior only.
    x[:, 0], x[:, -1], x[:, :, 0], x[:, :, -1] = 0, 0, 0, 0
    w = arrays.uniform(taps * taps * channels, filters, dtype=dtype)
    y = arrays.zeros(images, height, width, filters, dtype=dtype)

    def expected() -> Any:
        result = arrays.f32(y) * 0
        for i in range(taps):
            for j in range(taps):
                part = arrays.f32(w)[(i * taps + j) * channels :][:channels]
                result += arrays.f32(x[:, i : i + height, j : j + width]) @ part
        return result

    flops = 2.0 * math.prod(shape) * taps * taps
    if len(tile) == 3:
        rows = y.reshape(-1, filters)
        inner = x[:, 1:-1, 1:-1] + 0
        grid = one_axis(rows.shape, tile)
        return Launch(indexed.convolution_gather, grid, (inner, w, rows, *tile), y, expected, flops)
    across = ceil_div(height, tile[0]) * ceil_div(width, tile[1])
    grid = (across, ceil_div(filters, tile[2]), images)
    return Launch(indexed.convolution_slices, grid, (x, w, y, *tile), y, expected, flops)
