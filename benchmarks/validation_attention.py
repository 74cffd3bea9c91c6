"""Attention kernels in cuTile Python that the compiler was not tuned for: prefill and gradients.

A block computes `tm` queries of a head and loops over tiles of `tn` keys. `group` heads of Q share
a head of K and V. Where nothing else is said, arrays are batch, heads, tokens and elements.
"""

from typing import Any

import cuda.tile as ct
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
from attention_indexed import token_tile
from gemm_kernels import element, tiles_along
from variant_kernels import ZERO, Size

HIDDEN = -1e30
"""The score of a key that is not visible; finite, so that each row has a finite maximum."""


def softmax_step(scores: Any, maximum: Any, denominator: Any, scale: Any) -> Any:
    """The maximum and denominator after a tile of keys, its weights and the correction."""
    largest = ct.maximum(maximum, ct.max(scores, axis=1, keepdims=True) * scale)
    weights = ct.exp2(scores * scale - largest)
    correction = ct.exp2(maximum - largest)
    denominator = denominator * correction + ct.sum(weights, axis=1, keepdims=True)
    return largest, denominator, weights, correction


def packed_tile(
    qkv: ct.Array, batch: Any, row: Any, which: int, head: Any, rows: int, w: int
) -> Any:
    """Tokens of Q, K or V of a head as a matrix."""
    tile = ct.load(qkv, (batch, row, which, head, 0), (1, rows, 1, 1, w), padding_mode=ZERO)
    return tile.reshape((rows, w))


@ct.kernel
def packed(qkv: ct.Array, out: ct.Array, scale: float, tm: Size, tn: Size, width: Size) -> None:
    """Attention of one array with Q, K and V: batch, tokens, 3, heads, elements; always masked."""
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    tokens = qkv.shape[1]
    query = packed_tile(qkv, batch, row, 0, head, tm, width)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    for i in range(tiles_along(tokens, tn)):
        key = packed_tile(qkv, batch, i, 1, head, tn, width)
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        scores = ct.where(positions(i, tn)[None, :] < tokens, scores, MINUS_INFINITY)
        value = packed_tile(qkv, batch, i, 2, head, tn, width)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    result = (accumulator / denominator).astype(out.dtype).reshape((1, tm, 1, width))
    ct.store(out, (batch, row, head, 0), tile=result)


def head_parts(array: ct.Array, batch: Any, head: Any, row: Any, rows: int, low: int) -> Any:
    """Tokens of a head: its first `low` elements, and the `low // 2` elements after them."""
    first = head_tile(array, batch, head, row, rows, low)
    last = ct.load(array, (batch, head, row, 2), (1, 1, rows, low // 2), padding_mode=ZERO)
    return first, last.reshape((rows, low // 2))


@ct.kernel
def two_widths(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    out: ct.Array,
    scale: float,
    tm: Size,
    tn: Size,
    low: Size,
) -> None:
    """Causal attention of heads that are no power of two: 96 elements as 64 and 32."""
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    tokens = q.shape[2]
    query_low, query_high = head_parts(q, batch, head, row, tm, low)
    maximum, denominator = lowest(tm), zeros(tm, 1)
    result_low, result_high = zeros(tm, low), zeros(tm, low // 2)
    for i in range(tiles_along(min((row + 1) * tm, tokens), tn)):
        key_low, key_high = head_parts(k, batch, head, i, tn, low)
        scores = ct.mma(query_low, key_low.transpose(), zeros(tm, tn))
        scores = ct.mma(query_high, key_high.transpose(), scores)
        if (i + 1) * tn > row * tm:
            visible = positions(i, tn)[None, :] <= positions(row, tm)[:, None]
            scores = ct.where(visible, scores, MINUS_INFINITY)
        maximum, denominator, weights, correction = softmax_step(
            scores, maximum, denominator, scale * LOG2_E
        )
        value_low, value_high = head_parts(v, batch, head, i, tn, low)
        rounded = weights.astype(v.dtype)
        result_low = ct.mma(rounded, value_low, result_low * correction)
        result_high = ct.mma(rounded, value_high, result_high * correction)
    store_head_tile(out, batch, head, row, result_low / denominator)
    high = (result_high / denominator).astype(out.dtype).reshape((1, 1, tm, low // 2))
    ct.store(out, (batch, head, row, 2), tile=high)


@ct.kernel
def shared_rope(
    q: ct.Array,
    k: ct.Array,
    rope: ct.Array,
    v: ct.Array,
    out: ct.Array,
    scale: float,
    tm: Size,
    tn: Size,
    width: Size,
    rope_width: Size,
) -> None:
    """Causal attention whose keys end with elements that all heads share: batch, tokens, elements.

    Q has both parts. Values have `width` elements. One loop is before the diagonal, one on it.
    """
    row, head, batch = ct.num_blocks(0) - 1 - ct.bid(0), ct.bid(1), ct.bid(2)
    query = head_tile(q, batch, head, row, tm, width)
    turned = ct.load(
        q, (batch, head, row, width // rope_width), (1, 1, tm, rope_width), padding_mode=ZERO
    ).reshape((tm, rope_width))
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    diagonal, stop = row * tm // tn, tiles_along(min((row + 1) * tm, k.shape[2]), tn)
    for i in range(diagonal):
        key = head_tile(k, batch, head, i, tn, width)
        shared = ct.load(rope, (batch, i, 0), (1, tn, rope_width)).reshape((tn, rope_width))
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        scores = ct.mma(turned, shared.transpose(), scores)
        value = head_tile(v, batch, head, i, tn, width)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    for i in range(diagonal, stop):
        key = head_tile(k, batch, head, i, tn, width)
        shared = ct.load(rope, (batch, i, 0), (1, tn, rope_width), padding_mode=ZERO)
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        scores = ct.mma(turned, shared.reshape((tn, rope_width)).transpose(), scores)
        visible = positions(i, tn)[None, :] <= positions(row, tm)[:, None]
        scores = ct.where(visible, scores, MINUS_INFINITY)
        value = head_tile(v, batch, head, i, tn, width)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    store_head_tile(out, batch, head, row, accumulator / denominator)


@ct.kernel
def latent_prefill(
    q: ct.Array,
    cache: ct.Array,
    out: ct.Array,
    scale: float,
    heads: Size,
    tm: Size,
    tn: Size,
    latent: Size,
    rope: Size,
) -> None:
    """Causal latent attention; the heads of a token are consecutive rows of Q and of the result.

    The first `latent` elements of a row of the cache are a key and its value, the others a key.
    """
    row = ct.num_blocks(0) - 1 - ct.bid(0)
    query = ct.load(q, (row, 0), (tm, latent), padding_mode=ZERO)
    turned = ct.load(q, (row, latent // rope), (tm, rope), padding_mode=ZERO)
    token = positions(row, tm)[:, None] // heads
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, latent)
    last = min((row * tm + tm - 1) // heads, cache.shape[0] - 1)
    for i in range(last // tn + 1):
        value = ct.load(cache, (i, 0), (tn, latent), padding_mode=ZERO)
        key = ct.load(cache, (i, latent // rope), (tn, rope), padding_mode=ZERO)
        scores = ct.mma(query, value.transpose(), zeros(tm, tn))
        scores = ct.mma(turned, key.transpose(), scores)
        scores = ct.where(positions(i, tn)[None, :] <= token, scores, MINUS_INFINITY)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    ct.store(out, (row, 0), tile=(accumulator / denominator).astype(out.dtype))


def capped_weights(query: Any, key: Any, scale: Any, cap: Any) -> Any:
    """The exponentials of capped scores; without a maximum, as the cap bounds them."""
    scores = ct.mma(query, key.transpose(), zeros(query.shape[0], key.shape[0]))
    return ct.exp2((ct.tanh(scores * (scale / cap)) - 1.0) * (cap * LOG2_E))


@ct.kernel
def window_soft_cap(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    out: ct.Array,
    scale: float,
    cap: float,
    window: int,
    group: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Causal attention to the last `window` keys, with a soft cap.

    Three loops: where the window starts, where all keys are visible, on the diagonal.
    """
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    query = head_tile(q, batch, head, row, tm, width)
    denominator, accumulator = zeros(tm, 1), zeros(tm, width)
    own = positions(row, tm)[:, None]
    diagonal, stop = row * tm // tn, tiles_along(min((row + 1) * tm, k.shape[2]), tn)
    first = max(row * tm - window + 1, 0) // tn
    first_whole = min(max(tiles_along((row + 1) * tm - window, tn), first), diagonal)
    for i in range(first, first_whole):
        weights = capped_weights(
            query, head_tile(k, batch, head // group, i, tn, width), scale, cap
        )
        weights = ct.where(own - positions(i, tn)[None, :] < window, weights, 0.0)
        denominator += ct.sum(weights, axis=1, keepdims=True)
        value = head_tile(v, batch, head // group, i, tn, width)
        accumulator = ct.mma(weights.astype(v.dtype), value, accumulator)
    for i in range(first_whole, diagonal):
        weights = capped_weights(
            query, head_tile(k, batch, head // group, i, tn, width), scale, cap
        )
        denominator += ct.sum(weights, axis=1, keepdims=True)
        value = head_tile(v, batch, head // group, i, tn, width)
        accumulator = ct.mma(weights.astype(v.dtype), value, accumulator)
    for i in range(diagonal, stop):
        weights = capped_weights(
            query, head_tile(k, batch, head // group, i, tn, width), scale, cap
        )
        distance = own - positions(i, tn)[None, :]
        weights = ct.where((distance >= 0) & (distance < window), weights, 0.0)
        denominator += ct.sum(weights, axis=1, keepdims=True)
        value = head_tile(v, batch, head // group, i, tn, width)
        accumulator = ct.mma(weights.astype(v.dtype), value, accumulator)
    store_head_tile(out, batch, head, row, accumulator / denominator)


@ct.kernel
def block_mask(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    mask: ct.Array,
    out: ct.Array,
    scale: float,
    block: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Attention to blocks of `block` keys; `mask` has a flag for each block of queries and keys."""
    row, head = ct.bid(0), ct.bid(1)
    query = ct.load(q, (head, row, 0), (1, tm, width)).reshape((tm, width))
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    for i in range(tiles_along(k.shape[1], tn)):
        if element(mask, (head, row * tm // block, i * tn // block)) != 0:
            key = ct.load(k, (head, i, 0), (1, tn, width)).reshape((tn, width))
            scores = ct.mma(query, key.transpose(), zeros(tm, tn))
            value = ct.load(v, (head, i, 0), (1, tn, width)).reshape((tn, width))
            maximum, denominator, accumulator = accumulate(
                scores, value, maximum, denominator, accumulator, scale * LOG2_E
            )
    result = (accumulator / denominator).astype(out.dtype).reshape((1, tm, width))
    ct.store(out, (head, row, 0), tile=result)


@ct.kernel
def sinks(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    logits: ct.Array,
    out: ct.Array,
    scale: float,
    window: int,
    group: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Causal attention to a short window, and to a key without a value whose score is given."""
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    query = head_tile(q, batch, head, row, tm, width)
    maximum = ct.full((tm, 1), element(logits, head) * LOG2_E, dtype=ct.float32)
    denominator, accumulator = ct.ones((tm, 1), dtype=ct.float32), zeros(tm, width)
    first = max(row * tm - window + 1, 0) // tn
    for i in range(first, tiles_along(min((row + 1) * tm, k.shape[2]), tn)):
        key = head_tile(k, batch, head // group, i, tn, width)
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        distance = positions(row, tm)[:, None] - positions(i, tn)[None, :]
        scores = ct.where((distance >= 0) & (distance < window), scores, MINUS_INFINITY)
        value = head_tile(v, batch, head // group, i, tn, width)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    store_head_tile(out, batch, head, row, accumulator / denominator)


@ct.kernel
def documents(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    starts: ct.Array,
    out: ct.Array,
    scale: float,
    group: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Causal attention within documents; `starts` has the first token of each token's document.

    Arrays are tokens, heads and elements.
    """
    row, head = ct.bid(0), ct.bid(1)
    query = token_tile(q, row, head, tm, width)
    own, start = positions(row, tm)[:, None], ct.load(starts, (row,), (tm,), padding_mode=ZERO)
    maximum, denominator = ct.full((tm, 1), HIDDEN, dtype=ct.float32), zeros(tm, 1)
    accumulator = zeros(tm, width)
    first = element(starts, row * tm) // tn
    for i in range(first, tiles_along(min((row + 1) * tm, k.shape[0]), tn)):
        key = token_tile(k, i, head // group, tn, width)
        scores = ct.mma(query, key.transpose(), zeros(tm, tn)) * scale
        at = positions(i, tn)[None, :]
        scores = ct.where((at <= own) & (at >= start[:, None]), scores, HIDDEN)
        largest = ct.maximum(maximum, ct.max(scores, axis=1, keepdims=True))
        weights = ct.exp(scores - largest)
        correction = ct.exp(maximum - largest)
        denominator = denominator * correction + ct.sum(weights, axis=1, keepdims=True)
        value = token_tile(v, i, head // group, tn, width)
        accumulator = ct.mma(weights.astype(v.dtype), value, accumulator * correction)
        maximum = largest
    result = (accumulator / denominator).astype(out.dtype).reshape((tm, 1, width))
    ct.store(out, (row, head, 0), tile=result)


@ct.kernel
def short_keys(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    out: ct.Array,
    scale: float,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Attention to all keys in one tile, without a loop.

    Arrays are batch, tokens, heads and elements.
    """
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    query = ct.load(q, (batch, row, head, 0), (1, tm, 1, width), padding_mode=ZERO)
    key = ct.load(k, (batch, 0, head, 0), (1, tn, 1, width), padding_mode=ZERO)
    value = ct.load(v, (batch, 0, head, 0), (1, tn, 1, width), padding_mode=ZERO)
    transposed = key.reshape((tn, width)).transpose()
    scores = ct.mma(query.reshape((tm, width)), transposed, zeros(tm, tn)) * scale
    visible = ct.arange(tn, dtype=ct.int32)[None, :] < k.shape[1]
    scores = ct.where(visible, scores, MINUS_INFINITY)
    weights = ct.exp(scores - ct.max(scores, axis=1, keepdims=True))
    weights = (weights / ct.sum(weights, axis=1, keepdims=True)).astype(v.dtype)
    result = ct.mma(weights, value.reshape((tn, width)), zeros(tm, width))
    ct.store(out, (batch, row, head, 0), tile=result.astype(out.dtype).reshape((1, tm, 1, width)))


@ct.kernel
def grouped_gradients(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    gradient: ct.Array,
    lse: ct.Array,
    delta: ct.Array,
    of_k: ct.Array,
    of_v: ct.Array,
    scale: float,
    group: Size,
    tn: Size,
    tm: Size,
    width: Size,
) -> None:
    """The gradients of `tn` keys and values, added over the queries of all heads of a group.

    `lse` are the logarithms of denominators in base 2, `delta` the result times its gradient, added
    over a row.
    """
    column, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    key = head_tile(k, batch, head, column, tn, width)
    value = head_tile(v, batch, head, column, tn, width)
    k_accumulator, v_accumulator = zeros(tn, width), zeros(tn, width)
    for member in range(group):
        own = head * group + member
        for i in range(column * tn // tm, tiles_along(q.shape[2], tm)):
            query = head_tile(q, batch, own, i, tm, width)
            of_out = head_tile(gradient, batch, own, i, tm, width)
            logarithms = ct.load(lse, (batch, own, i), (1, 1, tm), padding_mode=ZERO)
            deltas = ct.load(delta, (batch, own, i), (1, 1, tm), padding_mode=ZERO)
            scores = ct.mma(query, key.transpose(), zeros(tm, tn)) * (scale * LOG2_E)
            visible = positions(i, tm)[:, None] >= positions(column, tn)[None, :]
            scores = ct.where(visible, scores, MINUS_INFINITY)
            weights = ct.exp2(scores - logarithms.reshape((tm, 1)))
            v_accumulator = ct.mma(weights.astype(v.dtype).transpose(), of_out, v_accumulator)
            of_weights = ct.mma(of_out, value.transpose(), zeros(tm, tn))
            of_scores = (weights * (of_weights - deltas.reshape((tm, 1)))).astype(q.dtype)
            k_accumulator = ct.mma(of_scores.transpose(), query, k_accumulator)
    store_head_tile(of_k, batch, head, column, k_accumulator * scale)
    store_head_tile(of_v, batch, head, column, v_accumulator)
