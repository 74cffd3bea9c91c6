"""Decode kernels in cuTile Python that the compiler was not tuned for.

The rows of a tile are the queries that share a head of K and V; `tn` keys are in a tile.
"""

from typing import Any

import cuda.tile as ct
from attention_decode import part_range, store_part
from attention_forward import (
    LOG2_E,
    MINUS_INFINITY,
    accumulate,
    head_tile,
    lowest,
    positions,
    store_head_tile,
    zeros,
)
from gemm_kernels import element, tiles_along
from validation_attention import softmax_step
from variant_kernels import ZERO, Size


def cached_tile(cache: ct.Array, batch: Any, row: Any, head: Any, rows: int, width: int) -> Any:
    """Tokens of a head as a matrix, of an array of batch, tokens, heads and elements."""
    tile = ct.load(cache, (batch, row, head, 0), (1, rows, 1, width), padding_mode=ZERO)
    return tile.reshape((rows, width))


@ct.kernel
def window(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    lengths: ct.Array,
    out: ct.Array,
    scale: float,
    window: int,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Attention to the last `window` of `lengths[batch]` keys, which start within a tile.

    K and V are batch, tokens, heads and elements; Q is batch, heads of K and V, queries, elements.
    """
    head, batch = ct.bid(0), ct.bid(1)
    stop = element(lengths, batch)
    start = max(stop - window, 0)
    query = head_tile(q, batch, head, 0, tm, width)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    for i in range(start // tn, tiles_along(stop, tn)):
        scores = ct.mma(query, cached_tile(k, batch, i, head, tn, width).transpose(), zeros(tm, tn))
        token = positions(i, tn)[None, :]
        scores = ct.where((token >= start) & (token < stop), scores, MINUS_INFINITY)
        value = cached_tile(v, batch, i, head, tn, width)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    store_head_tile(out, batch, head, 0, accumulator / denominator)


@ct.kernel
def transposed_parts(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    results: ct.Array,
    logarithms: ct.Array,
    scale: float,
    parts: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """One part of the keys of a cache that has tokens last: batch, heads, elements and tokens.

    V is batch, heads, tokens and elements. `combine` adds the parts.
    """
    part, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    keys = v.shape[2]
    first, stop = part_range(part, parts, keys, tn)
    query = head_tile(q, batch, head, 0, tm, width)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    for i in range(first, stop):
        key = ct.load(k, (batch, head, 0, i), (1, 1, width, tn), padding_mode=ZERO)
        scores = ct.mma(query, key.reshape((width, tn)), zeros(tm, tn))
        if (i + 1) * tn > keys:
            scores = ct.where(positions(i, tn)[None, :] < keys, scores, MINUS_INFINITY)
        value = head_tile(v, batch, head, i, tn, width)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    state = (maximum, denominator, accumulator)
    store_part(results, logarithms, batch, head, part, 0, state, tm, width)


@ct.kernel
def latent_fp8_parts(
    q: ct.Array,
    turned: ct.Array,
    latents: ct.Array,
    scales: ct.Array,
    rope: ct.Array,
    results: ct.Array,
    logarithms: ct.Array,
    scale: float,
    parts: Size,
    tm: Size,
    tn: Size,
    latent: Size,
    rope_width: Size,
) -> None:
    """One part of latent attention; latents are fp8 with a scale for each token, rope is not.

    A latent is a key and its value; its scale multiplies scores, and weights before the second dot.
    """
    row, part, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    keys = latents.shape[1]
    query = ct.load(q, (batch, row, 0), (1, tm, latent), padding_mode=ZERO).reshape((tm, latent))
    other = ct.load(turned, (batch, row, 0), (1, tm, rope_width), padding_mode=ZERO)
    other = other.reshape((tm, rope_width))
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, latent)
    first, stop = part_range(part, parts, keys, tn)
    for i in range(first, stop):
        loaded = ct.load(latents, (batch, i, 0), (1, tn, latent), padding_mode=ZERO)
        value = loaded.reshape((tn, latent)).astype(q.dtype)
        by_token = ct.load(scales, (batch, i), (1, tn), padding_mode=ZERO)
        key = ct.load(rope, (batch, i, 0), (1, tn, rope_width), padding_mode=ZERO)
        scores = ct.mma(query, value.transpose(), zeros(tm, tn)) * by_token
        scores = ct.mma(other, key.reshape((tn, rope_width)).transpose(), scores)
        scores = ct.where(positions(i, tn)[None, :] < keys, scores, MINUS_INFINITY)
        maximum, denominator, weights, correction = softmax_step(
            scores, maximum, denominator, scale * LOG2_E
        )
        scaled = (weights * by_token).astype(q.dtype)
        accumulator = ct.mma(scaled, value, accumulator * correction)
    state = (maximum, denominator, accumulator)
    store_part(results, logarithms, batch, 0, part, row, state, tm, latent)


@ct.kernel
def drafts(
    q: ct.Array,
    cache: ct.Array,
    lengths: ct.Array,
    out: ct.Array,
    scale: float,
    group: Size,
    tokens: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Causal attention of the last `tokens` tokens; rows are the heads of a group, token by token.

    The cache is batch, K or V, heads, tokens and elements. Only tiles that not all rows see get a
    mask, in a second loop.
    """
    head, batch = ct.bid(0), ct.bid(1)
    keys = element(lengths, batch)
    own_cache = cache.slice(axis=0, start=batch, stop=batch + 1)
    query = head_tile(q, batch, head, 0, tm, width)
    last = (keys - tokens + ct.arange(tm, dtype=ct.int32) // group)[:, None]
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    first_masked = (keys - tokens + 1) // tn
    for i in range(first_masked):
        key = ct.load(own_cache, (0, 0, head, i, 0), (1, 1, 1, tn, width)).reshape((tn, width))
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        value = ct.load(own_cache, (0, 1, head, i, 0), (1, 1, 1, tn, width)).reshape((tn, width))
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    for i in range(first_masked, tiles_along(keys, tn)):
        shape = (1, 1, 1, tn, width)
        key = ct.load(own_cache, (0, 0, head, i, 0), shape, padding_mode=ZERO)
        scores = ct.mma(query, key.reshape((tn, width)).transpose(), zeros(tm, tn))
        scores = ct.where(positions(i, tn)[None, :] <= last, scores, MINUS_INFINITY)
        value = ct.load(own_cache, (0, 1, head, i, 0), shape, padding_mode=ZERO)
        maximum, denominator, accumulator = accumulate(
            scores, value.reshape((tn, width)), maximum, denominator, accumulator, scale * LOG2_E
        )
    store_head_tile(out, batch, head, 0, accumulator / denominator)
