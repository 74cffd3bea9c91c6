"""Launches of decode variants, whole or in parts that a second kernel combines."""

from __future__ import annotations

import math
from typing import Any

import attention_decode as kernels
from attention_launches import SPREAD, Launch, Operands, attention, operands
from variant_arrays import Arrays
from variant_sizes import Shape, Step, ceil_div


def grouped(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Decode with the heads of a group as rows; the tile ends with the number of parts.

    The shape is batch, heads, heads of K and V, keys and size of a head.
    """
    batch, heads, kv_heads, keys, width = shape
    *sizes, parts = tile
    given = operands(arrays, (batch, kv_heads, kv_heads, heads // kv_heads, keys, width), dtype)
    expected = lambda: attention(arrays, given)[:1]  # noqa: E731
    flops = 4.0 * batch * heads * keys * width
    if parts == 1:
        steps = (Step(kernels.grouped, (kv_heads, batch), (*given, *sizes, width)),)
        return Launch(steps, (given.out,), expected, flops)
    results, logarithms = partial_results(arrays, given.q.shape, parts, width)
    arguments = (*given[:3], results, logarithms, given.scale, parts, *sizes, width)
    steps = (
        Step(kernels.grouped_parts, (parts, kv_heads, batch), arguments),
        combination(results, logarithms, given.out),
    )
    return Launch(steps, (given.out,), expected, flops)


def partial_results(arrays: Arrays, rows: Shape, parts: int, width: int) -> tuple[Any, Any]:
    """Arrays for the results of parts and the logarithms of their denominators."""
    batch, heads, queries = rows[:3]
    results = arrays.zeros(batch, heads, parts, queries, width, dtype="float32")
    return results, arrays.zeros(batch, heads, parts, queries, dtype="float32")


def combination(results: Any, logarithms: Any, out: Any) -> Step:
    """The kernel that adds parts."""
    batch, heads, parts, rows, width = results.shape
    arguments = (results, logarithms, out, parts, width)
    return Step(kernels.combine, (rows, heads, batch), arguments)


def latent(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Decode of latent attention; the shape is batch, heads, keys, latent and rope elements."""
    batch, heads, keys, width, rope = shape
    *sizes, parts = tile
    q = arrays.uniform(batch, heads, width + rope, dtype=dtype)
    cache = arrays.uniform(batch, keys, width + rope, dtype=dtype)
    out = arrays.zeros(batch, heads, width, dtype=dtype)
    scale = SPREAD / math.sqrt(width + rope)

    def expected() -> tuple[Any]:
        values = cache[:, None, :, :width]
        given = Operands(q[:, None], cache[:, None], values, out[:, None], scale)
        return (attention(arrays, given)[0][:, 0],)

    flops = 2.0 * batch * heads * keys * (2 * width + rope)
    rows = ceil_div(heads, sizes[0])
    if parts == 1:
        arguments = (q, cache, out, scale, *sizes, width, rope)
        return Launch((Step(kernels.latent, (rows, batch), arguments),), (out,), expected, flops)
    results, logarithms = partial_results(arrays, (batch, 1, heads), parts, width)
    arguments = (q, cache, results, logarithms, scale, parts, *sizes, width, rope)
    steps = (
        Step(kernels.latent_parts, (rows, parts, batch), arguments),
        combination(results, logarithms, out[:, None]),
    )
    return Launch(steps, (out,), expected, flops)
