"""Decode kernels in cuTile Python: one query of a sequence, with heads as the rows of a tile.

Parts of the keys may be computed by several blocks: each stores its result and the logarithm of its
denominator, in base 2, and `combine` adds them.
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
    zeros,
)
from gemm_kernels import tiles_along
from variant_kernels import ZERO, Size


def group_state(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    head: Any,
    batch: Any,
    first: Any,
    stop: Any,
    scale: Any,
    tm: int,
    tn: int,
    width: int,
) -> Any:
    """The maximum, denominator and accumulator of a group of heads after tiles of keys."""
    query = head_tile(q, batch, head, 0, tm, width)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    for i in range(first, stop):
        key = head_tile(k, batch, head, i, tn, width)
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        scores = ct.where(positions(i, tn)[None, :] < k.shape[2], scores, MINUS_INFINITY)
        value = head_tile(v, batch, head, i, tn, width)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    return maximum, denominator, accumulator


def latent_state(
    q: ct.Array,
    cache: ct.Array,
    row: Any,
    batch: Any,
    first: Any,
    stop: Any,
    scale: Any,
    tm: int,
    tn: int,
    latent: int,
    rope: int,
) -> Any:
    """The same of latent attention: the first `latent` elements of a key are its value as well."""
    query = ct.load(q, (batch, row, 0), (1, tm, latent), padding_mode=ZERO).reshape((tm, latent))
    turned = ct.load(q, (batch, row, latent // rope), (1, tm, rope), padding_mode=ZERO)
    turned = turned.reshape((tm, rope))
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, latent)
    for i in range(first, stop):
        value = ct.load(cache, (batch, i, 0), (1, tn, latent), padding_mode=ZERO)
        value = value.reshape((tn, latent))
        key = ct.load(cache, (batch, i, latent // rope), (1, tn, rope), padding_mode=ZERO)
        scores = ct.mma(query, value.transpose(), zeros(tm, tn))
        scores = ct.mma(turned, key.reshape((tn, rope)).transpose(), scores)
        scores = ct.where(positions(i, tn)[None, :] < cache.shape[1], scores, MINUS_INFINITY)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    return maximum, denominator, accumulator


def part_range(part: Any, parts: int, keys: Any, tn: int) -> Any:
    """The tiles of keys of one part."""
    tiles = tiles_along(keys, tn)
    each = tiles_along(tiles, parts)
    return min(part * each, tiles), min((part + 1) * each, tiles)


def store_part(
    results: ct.Array,
    logarithms: ct.Array,
    batch: Any,
    head: Any,
    part: Any,
    row: Any,
    state: Any,
    tm: int,
    width: int,
) -> None:
    """Store the result of one part; one without keys has a weight of zero."""
    maximum, denominator, accumulator = state
    result = ct.where(denominator > 0.0, accumulator / denominator, 0.0)
    ct.store(results, (batch, head, part, row, 0), tile=result.reshape((1, 1, 1, tm, width)))
    tile = (maximum + ct.log2(denominator)).reshape((1, 1, 1, tm))
    ct.store(logarithms, (batch, head, part, row), tile=tile)


@ct.kernel
def grouped(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    out: ct.Array,
    scale: float,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Decode of batch, heads of K and V, heads of a group; all keys in one block."""
    head, batch = ct.bid(0), ct.bid(1)
    stop = tiles_along(k.shape[2], tn)
    _, denominator, accumulator = group_state(q, k, v, head, batch, 0, stop, scale, tm, tn, width)
    result = (accumulator / denominator).astype(out.dtype)
    ct.store(out, (batch, head, 0, 0), tile=result.reshape((1, 1, tm, width)))


@ct.kernel
def grouped_parts(
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
    """As `grouped`, of one part of the keys."""
    part, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    first, stop = part_range(part, parts, k.shape[2], tn)
    state = group_state(q, k, v, head, batch, first, stop, scale, tm, tn, width)
    store_part(results, logarithms, batch, head, part, 0, state, tm, width)


@ct.kernel
def latent(
    q: ct.Array,
    cache: ct.Array,
    out: ct.Array,
    scale: float,
    tm: Size,
    tn: Size,
    width: Size,
    rope: Size,
) -> None:
    """Decode of latent attention: heads share a cache of `width` elements and `rope` ones."""
    row, batch = ct.bid(0), ct.bid(1)
    stop = tiles_along(cache.shape[1], tn)
    _, denominator, accumulator = latent_state(
        q, cache, row, batch, 0, stop, scale, tm, tn, width, rope
    )
    result = (accumulator / denominator).astype(out.dtype)
    ct.store(out, (batch, row, 0), tile=result.reshape((1, tm, width)))


@ct.kernel
def latent_parts(
    q: ct.Array,
    cache: ct.Array,
    results: ct.Array,
    logarithms: ct.Array,
    scale: float,
    parts: Size,
    tm: Size,
    tn: Size,
    width: Size,
    rope: Size,
) -> None:
    """As `latent`, of one part of the keys."""
    row, part, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    first, stop = part_range(part, parts, cache.shape[1], tn)
    state = latent_state(q, cache, row, batch, first, stop, scale, tm, tn, width, rope)
    store_part(results, logarithms, batch, 0, part, row, state, tm, width)


@ct.kernel
def combine(
    results: ct.Array, logarithms: ct.Array, out: ct.Array, parts: Size, width: Size
) -> None:
    """Add the parts of a row; results are batch, heads, parts, rows and elements."""
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    weights = ct.load(logarithms, (batch, head, 0, row), (1, 1, parts, 1)).reshape((parts, 1))
    weights = ct.exp2(weights - ct.max(weights, axis=0, keepdims=True))
    tile = ct.load(results, (batch, head, 0, row, 0), (1, 1, parts, 1, width))
    mixed = ct.sum(tile.reshape((parts, width)) * weights, axis=0) / ct.sum(weights, axis=0)
    ct.store(out, (batch, head, row, 0), tile=mixed.astype(out.dtype).reshape((1, 1, 1, width)))
