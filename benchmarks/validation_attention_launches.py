"""Launches of the validation kernels of `validation_attention.py`, with their results in f32."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import validation_attention as kernels
from attention_launches import (
    SOFT_CAP,
    SPREAD,
    Launch,
    Operands,
    attention,
    causal_mask,
    flops_of,
    operands,
    padded_width,
    scores_of,
)
from variant_arrays import Arrays
from variant_sizes import Shape, Step, ceil_div

HIDDEN = -1e4
"""What is added to the scores of keys that are not visible."""


def packed(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Attention of Q, K and V in one array; the shape is batch, heads, tokens and elements."""
    batch, heads, tokens, width = shape
    scale = SPREAD / math.sqrt(width)
    qkv = arrays.uniform(batch, tokens, 3, heads, width, dtype=dtype)
    out = arrays.zeros(batch, tokens, heads, width, dtype=dtype)

    def expected() -> tuple[Any]:
        q, k, v = (qkv[:, :, each].swapaxes(1, 2) for each in range(3))
        given = Operands(q, k, v, out.swapaxes(1, 2), scale)
        return (attention(arrays, given)[0].swapaxes(1, 2),)

    grid = (ceil_div(tokens, tile[0]), heads, batch)
    steps = (Step(kernels.packed, grid, (qkv, out, scale, *tile, width)),)
    return Launch(steps, (out,), expected, flops_of((batch, heads, heads, tokens, tokens, width)))


def two_widths(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Causal attention of heads of 3/2 of a power of two."""
    batch, heads, tokens, width = shape
    sizes = (batch, heads, heads, tokens, tokens, width)
    given = operands(arrays, sizes, dtype)
    expected = lambda: attention(arrays, given, causal_mask(tokens, tokens))[:1]  # noqa: E731
    steps = (Step(kernels.two_widths, given.grid(tile[0]), (*given, *tile, width // 3 * 2)),)
    return Launch(steps, (given.out,), expected, flops_of(sizes, 0.5))


def shared_rope(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Causal attention; the shape ends with the elements of a value and the shared ones of keys."""
    batch, heads, tokens, width, rope = shape
    scale = SPREAD / math.sqrt(width + rope)
    q = arrays.uniform(batch, heads, tokens, width + rope, dtype=dtype)
    k, v = (arrays.uniform(batch, heads, tokens, width, dtype=dtype) for _ in range(2))
    shared = arrays.uniform(batch, tokens, rope, dtype=dtype)
    out = arrays.zeros(batch, heads, tokens, width, dtype=dtype)

    def expected() -> tuple[Any, ...]:
        whole = arrays.zeros(batch, heads, tokens, width + rope, dtype="float32")
        whole[:, :, :, :width] = arrays.f32(k)
        whole[:, :, :, width:] = arrays.f32(shared)[:, None]
        given = Operands(q, whole, v, out, scale)
        return attention(arrays, given, causal_mask(tokens, tokens))[:1]

    grid = (ceil_div(tokens, tile[0]), heads, batch)
    steps = (Step(kernels.shared_rope, grid, (q, k, shared, v, out, scale, *tile, width, rope)),)
    flops = 1.0 * batch * heads * tokens**2 * (2 * width + rope)
    return Launch(steps, (out,), expected, flops)


def latent_prefill(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Causal latent attention; the shape is heads, tokens, latent and rope elements."""
    heads, tokens, width, rope = shape
    scale = SPREAD / math.sqrt(width + rope)
    q = arrays.uniform(tokens * heads, width + rope, dtype=dtype)
    cache = arrays.uniform(tokens, width + rope, dtype=dtype)
    out = arrays.zeros(tokens * heads, width, dtype=dtype)

    def expected() -> tuple[Any]:
        query, result = (
            each.reshape(tokens, heads, each.shape[1]).swapaxes(0, 1)[None] for each in (q, out)
        )
        given = Operands(query, cache[None, None], cache[None, None, :, :width], result, scale)
        by_head = attention(arrays, given, causal_mask(tokens, tokens))[0]
        return (by_head[0].swapaxes(0, 1).reshape(tokens * heads, width),)

    arguments = (q, cache, out, scale, heads, *tile, width, rope)
    steps = (Step(kernels.latent_prefill, (ceil_div(tokens * heads, tile[0]),), arguments),)
    return Launch(steps, (out,), expected, 1.0 * heads * tokens**2 * (2 * width + rope))


def window_soft_cap(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Attention to a window with a soft cap.

    The shape is batch, heads, heads of K and V, tokens, size of a head and window.
    """
    batch, heads, kv_heads, tokens, width, window = shape
    sizes = (batch, heads, kv_heads, tokens, tokens, width)
    given = operands(arrays, sizes, dtype)
    tanh = arrays.namespace.tanh

    def expected() -> tuple[Any, ...]:
        mask = causal_mask(tokens, tokens, window)
        return attention(
            arrays, given, mask, lambda scores, *_: SOFT_CAP * tanh(scores / SOFT_CAP)
        )[:1]

    arguments = (*given, SOFT_CAP, window, given.group, *tile, width)
    steps = (Step(kernels.window_soft_cap, given.grid(tile[0]), arguments),)
    return Launch(steps, (given.out,), expected, flops_of(sizes, window / tokens))


def block_mask(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Attention to a quarter of the blocks; the shape is heads, tokens, head and block."""
    heads, tokens, width, block = shape
    blocks = tokens // block
    flags = np.random.default_rng(4).integers(0, 4, (heads, blocks, blocks)) == 0
    # The diagonal, so that each query has keys.
    flags |= np.eye(blocks, dtype=bool)
    given = operands(arrays, (1, heads, heads, tokens, tokens, width), dtype)

    def expected() -> tuple[Any]:
        def adjust(scores: Any, _: int, head: int) -> Any:
            hidden = ~np.repeat(np.repeat(flags[head], block, 0), block, 1)
            return scores + arrays.upload(hidden.astype(np.float32)) * HIDDEN

        return (attention(arrays, given, adjust=adjust)[0][0],)

    q, k, v, out = (each[0] for each in given[:4])
    mask = arrays.upload(flags.astype(np.int32))
    arguments = (q, k, v, mask, out, given.scale, block, *tile, width)
    steps = (Step(kernels.block_mask, (tokens // tile[0], heads), arguments),)
    flops = flops_of((1, heads, heads, tokens, tokens, width), float(flags.mean()))
    return Launch(steps, (out,), expected, flops)


def sinks(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Attention to a window and a given score; the shape is that of `window_soft_cap`."""
    batch, heads, kv_heads, tokens, width, window = shape
    sizes = (batch, heads, kv_heads, tokens, tokens, width)
    given = operands(arrays, sizes, dtype)
    logits = arrays.uniform(heads, dtype="float32")

    def expected() -> tuple[Any]:
        out, lse = attention(arrays, given, causal_mask(tokens, tokens, window))
        others = arrays.namespace.exp(logits[None, :, None] - lse)
        return (out / (1 + others)[:, :, :, None],)

    arguments = (*given[:3], logits, *given[3:], window, given.group, *tile, width)
    steps = (Step(kernels.sinks, given.grid(tile[0]), arguments),)
    return Launch(steps, (given.out,), expected, flops_of(sizes, window / tokens))


def documents(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Causal attention within documents.

    The shape is heads, heads of K and V, tokens, size of a head and number of documents.
    """
    heads, kv_heads, tokens, width, count = shape
    borders = np.random.default_rng(5).choice(np.arange(1, tokens), count - 1, replace=False)
    firsts = np.sort(np.array([0, *borders]))
    starts = firsts[np.searchsorted(firsts, np.arange(tokens), "right") - 1].astype(np.int32)
    scale = SPREAD / math.sqrt(width)
    q = arrays.uniform(tokens, heads, width, dtype=dtype)
    k, v = (arrays.uniform(tokens, kv_heads, width, dtype=dtype) for _ in range(2))
    out = arrays.zeros(tokens, heads, width, dtype=dtype)

    def expected() -> tuple[Any]:
        visible = np.arange(tokens)[None, :] >= starts[:, None]
        mask = causal_mask(tokens, tokens) * visible
        parts = (each.swapaxes(0, 1)[None] for each in (q, k, v, out))
        given = Operands._make((*parts, scale))
        return (attention(arrays, given, mask)[0][0].swapaxes(0, 1),)

    arguments = (q, k, v, arrays.upload(starts), out, scale, heads // kv_heads, *tile, width)
    steps = (Step(kernels.documents, (ceil_div(tokens, tile[0]), heads), arguments),)
    visible = float((np.arange(tokens) - starts + 1).sum())
    return Launch(steps, (out,), expected, 4.0 * heads * width * visible)


def short_keys(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Attention to few keys; the shape is batch, heads, queries, keys and size of a head."""
    batch, heads, queries, keys, width = shape
    scale = SPREAD / math.sqrt(width)
    q = arrays.uniform(batch, queries, heads, width, dtype=dtype)
    k, v = (arrays.uniform(batch, keys, heads, width, dtype=dtype) for _ in range(2))
    out = arrays.zeros(batch, queries, heads, width, dtype=dtype)

    def expected() -> tuple[Any]:
        parts = (each.swapaxes(1, 2) for each in (q, k, v, out))
        return (attention(arrays, Operands._make((*parts, scale)))[0].swapaxes(1, 2),)

    grid = (ceil_div(queries, tile[0]), heads, batch)
    arguments = (q, k, v, out, scale, *tile, padded_width(width))
    steps = (Step(kernels.short_keys, grid, arguments),)
    return Launch(steps, (out,), expected, flops_of((batch, heads, heads, queries, keys, width)))


def grouped_gradients(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """The gradients of K and V of causal attention.

    The shape is batch, heads, heads of K and V, tokens and size of a head; tiles are keys and
    queries.
    """
    batch, heads, kv_heads, tokens, width = shape
    given = operands(arrays, (batch, heads, kv_heads, tokens, tokens, width), dtype)
    mask, exp = causal_mask(tokens, tokens), arrays.namespace.exp
    gradient = arrays.uniform(*given.q.shape, dtype=dtype)
    of_k, of_v = (arrays.zeros(*given.k.shape, dtype=dtype) for _ in range(2))
    lse, delta = (arrays.zeros(batch, heads, tokens, dtype="float32") for _ in range(2))
    if arrays.is_filled:
        out, lse = attention(arrays, given, mask)
        delta = (out * arrays.f32(gradient)).sum(-1)

    def expected() -> tuple[Any, Any]:
        k_result, v_result = (arrays.zeros(*given.k.shape, dtype="float32") for _ in range(2))
        visible = arrays.upload(mask)
        for i in range(batch):
            for j in range(heads):
                own, of_out = j // given.group, arrays.f32(gradient[i, j])
                weights = exp(scores_of(arrays, given, i, j) - lse[i, j][:, None]) * visible
                v_result[i, own] += weights.T @ of_out
                of_weights = of_out @ arrays.f32(given.v[i, own]).T
                of_scores = weights * (of_weights - delta[i, j][:, None]) * given.scale
                k_result[i, own] += of_scores.T @ arrays.f32(given.q[i, j])
        return k_result, v_result

    grid = (ceil_div(tokens, tile[0]), kv_heads, batch)
    base_2 = lse / np.log(np.float32(2)).item()
    arguments = (*given[:3], gradient, base_2, delta, of_k, of_v, given.scale, given.group, *tile)
    steps = (Step(kernels.grouped_gradients, grid, (*arguments, width)),)
    flops = 4.0 * batch * heads * tokens**2 * width
    return Launch(steps, (of_k, of_v), expected, flops, tolerance=0.02)
