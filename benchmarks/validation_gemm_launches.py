"""Launches of the validation kernels of `validation_gemm.py`, with their results in f32."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import validation_gemm as kernels
from attention_launches import Launch
from variant_arrays import Arrays
from variant_launches import flops_of, grid_of
from variant_quantized import SCALED
from variant_sizes import Shape, Step, ceil_div

SHARPNESS = 4.0
"""The scale of the logits of doubly stochastic matrices."""


def gemv(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A matrix times a vector."""
    m, k = shape
    w, x = arrays.uniform(m, k, dtype=dtype), arrays.uniform(k, dtype=dtype)
    y = arrays.zeros(m, dtype="float32")
    steps = (Step(kernels.gemv, (ceil_div(m, tile[0]),), (w, x, y, *tile)),)
    expected = lambda: (arrays.f32(w) @ arrays.f32(x),)  # noqa: E731
    return Launch(steps, (y,), expected, flops_of(shape))


def gemv_batched(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Vectors times matrices; the shape is batch, K and N, the tile K and N."""
    batch, k, n = shape
    x, a = arrays.uniform(batch, k, dtype="float32"), arrays.uniform(batch, k, n, dtype=dtype)
    y = arrays.zeros(batch, n, dtype="float32")
    steps = (Step(kernels.gemv_batched, (ceil_div(n, tile[1]), batch), (x, a, y, *tile)),)
    expected = lambda: ((x[:, None, :] @ arrays.f32(a))[:, 0],)  # noqa: E731
    return Launch(steps, (y,), expected, flops_of(shape))


def gemv_int8(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A matrix of int8 times a vector of int8, with scales."""
    n, k = shape
    w, x = arrays.integers(-128, 128, (n, k), dtype), arrays.integers(-128, 128, (k,), dtype)
    scale = arrays.uniform(n, k // SCALED, dtype="float32")
    y, x_scale = arrays.zeros(n, dtype="float32"), 0.01

    def expected() -> tuple[Any]:
        weights = arrays.f32(w).reshape(n, k // SCALED, SCALED) * scale[:, :, None]
        return (weights.reshape(n, k) @ arrays.f32(x) * x_scale,)

    arguments = (w, scale, x, x_scale, y, *tile)
    steps = (Step(kernels.gemv_int8, (ceil_div(n, tile[0]),), arguments),)
    return Launch(steps, (y,), expected, flops_of(shape))


def skinny(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A GEMM of few rows."""
    m, n, k = shape
    x, w = arrays.uniform(m, k, dtype=dtype), arrays.uniform(n, k, dtype=dtype)
    c = arrays.zeros(m, n, dtype=dtype)
    steps = (Step(kernels.skinny, (ceil_div(n, tile[1]),), (x, w, c, *tile)),)
    expected = lambda: (arrays.f32(x) @ arrays.f32(w).T,)  # noqa: E731
    return Launch(steps, (c,), expected, flops_of(shape))


def grouped_fp8(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """GEMMs of groups of rows, with scales of blocks; the shape is groups, rows, N and K."""
    groups, rows, n, k = shape
    borders = np.sort(np.random.default_rng(6).integers(0, rows + 1, groups - 1))
    bounds = np.array([0, *borders, rows])
    a, b = arrays.uniform(rows, k, dtype=dtype), arrays.uniform(groups, n, k, dtype=dtype)
    scale_a = arrays.uniform(rows, k // SCALED, dtype="float32") + 1
    scale_b = arrays.uniform(groups, n // SCALED, k // SCALED, dtype="float32") + 1
    c = arrays.zeros(rows, n, dtype="bfloat16")

    def expected() -> tuple[Any]:
        left = (arrays.f32(a).reshape(rows, k // SCALED, SCALED) * scale_a[:, :, None]).reshape(
            rows, k
        )
        result = arrays.zeros(rows, n, dtype="float32")
        for group, (start, stop) in enumerate(pairwise(bounds.tolist())):
            blocks = arrays.f32(b[group]).reshape(n // SCALED, SCALED, k // SCALED, SCALED)
            right = (blocks * scale_b[group][:, None, :, None]).reshape(n, k)
            result[start:stop] = left[start:stop] @ right.T
        return (result,)

    longest = int(np.diff(bounds).max())
    grid = (ceil_div(n, tile[1]), ceil_div(longest, tile[0]), groups)
    offsets = arrays.upload(bounds.astype(np.int32))
    steps = (Step(kernels.grouped_fp8, grid, (a, scale_a, b, scale_b, offsets, c, *tile)),)
    return Launch(steps, (c,), expected, flops_of((rows, n, k)))


def gate_int8(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Two GEMMs of int8 weights, one of which gates the other."""
    m, n, k = shape
    x, c = arrays.uniform(m, k, dtype=dtype), arrays.zeros(m, n, dtype=dtype)
    gate, up = (arrays.integers(-128, 128, (k, n), "int8") for _ in range(2))
    gate_scale, up_scale = (arrays.uniform(n, dtype="float32") / 128 for _ in range(2))
    gate_bias, up_bias = (arrays.uniform(n, dtype="float32") for _ in range(2))

    def expected() -> tuple[Any]:
        gated = arrays.f32(x) @ arrays.f32(gate) * gate_scale[None, :] + gate_bias[None, :]
        gated = gated / (1 + arrays.namespace.exp(-1.702 * gated))
        return (gated * (arrays.f32(x) @ arrays.f32(up) * up_scale[None, :] + up_bias[None, :]),)

    arguments = (x, gate, gate_scale, gate_bias, up, up_scale, up_bias, c, *tile)
    steps = (Step(kernels.gate_int8, grid_of(shape, tile)[::-1], arguments),)
    return Launch(steps, (c,), expected, 2 * flops_of(shape), tolerance=0.02)


def k_means(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Nearest centroids; the shape is points, centroids and elements of a point."""
    count, centers, width = shape
    points = arrays.uniform(count, width, dtype=dtype)
    centroids = arrays.uniform(centers, width, dtype=dtype)
    labels = arrays.zeros(count, dtype="int32")
    distances = arrays.zeros(count, dtype="float32")

    def expected() -> tuple[Any, Any]:
        x, y = arrays.f32(points), arrays.f32(centroids)
        squares = (x**2).sum(1)[:, None] + (y**2).sum(1)[None, :] - 2 * x @ y.T
        nearest = arrays.namespace.amin(squares, 1)
        chosen = labels[:, None] == arrays.upload(np.arange(centers, dtype=np.int32))[None, :]
        # Of several centroids at about the same distance any is right.
        is_right = arrays.f32((squares * arrays.f32(chosen)).sum(1) <= nearest * (1 + 1e-5))
        return arrays.f32(labels) * is_right - (1 - is_right), nearest

    arguments = (points, centroids, labels, distances, *tile, width)
    steps = (Step(kernels.k_means, (ceil_div(count, tile[0]),), arguments),)
    return Launch(steps, (labels, distances), expected, flops_of(shape), tolerance=1e-3)


def sinkhorn(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Doubly stochastic matrices; the shape is matrices, their size and iterations."""
    matrices, size, iterations = shape
    logits = arrays.uniform(matrices, size, size, dtype=dtype)
    out = arrays.zeros(matrices, size, size, dtype=dtype)

    def expected() -> tuple[Any]:
        weights = arrays.namespace.exp(SHARPNESS * logits)
        for _ in range(iterations):
            weights = weights / weights.sum(2)[:, :, None]
            weights = weights / weights.sum(1)[:, None, :]
        return (weights,)

    arguments = (logits, out, SHARPNESS, iterations, *tile, size)
    steps = (Step(kernels.sinkhorn, (ceil_div(matrices, tile[0]),), arguments),)
    flops = 4.0 * iterations * matrices * size**2
    return Launch(steps, (out,), expected, flops, tolerance=1e-3)
