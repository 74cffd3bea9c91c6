"""Attention kernels in cuTile Python whose keys depend on the block, on lengths or on page tables.

Arrays and parameters are those of `attention_forward.py` where nothing else is said.
"""

from typing import Any

import cuda.tile as ct
from attention_forward import (
    LOG2_E,
    MINUS_INFINITY,
    accumulate,
    head_tile,
    key_range,
    lowest,
    masked,
    positions,
    store_head_tile,
    zeros,
)
from gemm_kernels import element, tiles_along
from variant_kernels import ZERO, Flag, Size


def token_tile(array: ct.Array, row: Any, head: Any, rows: int, width: int) -> Any:
    """Tokens of a head as a matrix, of an array of tokens, heads and elements of a head."""
    tile = ct.load(array, (row, head, 0), (rows, 1, width), padding_mode=ZERO)
    return tile.reshape((rows, width))


@ct.kernel
def sliding_window(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    out: ct.Array,
    scale: float,
    window: int,
    branch: Flag,
    group: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Causal attention to the last `window` keys; queries are as many as keys.

    Both ends of the loop depend on the block. With `branch`, only tiles at the ends are masked.
    """
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    query = head_tile(q, batch, head, row, tm, width)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    first = max(row * tm - window + 1, 0) // tn
    stop = tiles_along(min((row + 1) * tm, k.shape[2]), tn)
    # Tiles that all queries of the block see.
    first_whole, first_diagonal = tiles_along((row + 1) * tm - window, tn), row * tm // tn
    for i in range(first, stop):
        key = head_tile(k, batch, head // group, i, tn, width)
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        if not branch or (i < first_whole) | (i >= first_diagonal):
            distance = positions(row, tm)[:, None] - positions(i, tn)[None, :]
            visible = (distance >= 0) & (distance < window)
            scores = ct.where(visible, scores, MINUS_INFINITY)
        value = head_tile(v, batch, head // group, i, tn, width)
        # A tile before the window of a row leaves its maximum at minus infinity.
        largest = max(maximum, ct.max(scores, axis=1, keepdims=True) * (scale * LOG2_E))
        shift = ct.where(largest == MINUS_INFINITY, 0.0, largest)
        probabilities = ct.exp2(scores * (scale * LOG2_E) - shift)
        correction = ct.exp2(maximum - shift)
        denominator = denominator * correction + ct.sum(probabilities, axis=1, keepdims=True)
        accumulator = ct.mma(ct.astype(probabilities, v.dtype), value, accumulator * correction)
        maximum = largest
    store_head_tile(out, batch, head, row, accumulator / denominator)


@ct.kernel
def padded(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    lengths: ct.Array,
    out: ct.Array,
    scale: float,
    group: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Attention to the first `lengths[batch]` keys of a padded batch."""
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    keys = element(lengths, batch)
    query = head_tile(q, batch, head, row, tm, width)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    for i in range(tiles_along(keys, tn)):
        key = head_tile(k, batch, head // group, i, tn, width)
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        scores = ct.where(positions(i, tn)[None, :] < keys, scores, MINUS_INFINITY)
        value = head_tile(v, batch, head // group, i, tn, width)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    store_head_tile(out, batch, head, row, accumulator / denominator)


@ct.kernel
def varlen(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    offsets: ct.Array,
    out: ct.Array,
    scale: float,
    group: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Causal attention within sequences that follow each other, `offsets[i]` to `offsets[i + 1]`.

    Arrays are tokens, heads and elements of a head.
    """
    row, head, sequence = ct.bid(0), ct.bid(1), ct.bid(2)
    start, end = element(offsets, sequence), element(offsets, sequence + 1)
    length = end - start
    if row * tm < length:
        own_q = q.slice(axis=0, start=start, stop=end)
        own_k = k.slice(axis=0, start=start, stop=end)
        own_v = v.slice(axis=0, start=start, stop=end)
        query = token_tile(own_q, row, head, tm, width)
        maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
        first_masked, stop = key_range(row, length, length, True, tm, tn)
        for i in range(stop):
            key = token_tile(own_k, i, head // group, tn, width)
            scores = ct.mma(query, key.transpose(), zeros(tm, tn))
            if i >= first_masked:
                scores = masked(scores, row, i, length, length, True, tm, tn)
            value = token_tile(own_v, i, head // group, tn, width)
            maximum, denominator, accumulator = accumulate(
                scores, value, maximum, denominator, accumulator, scale * LOG2_E
            )
        own_out = out.slice(axis=0, start=start, stop=end)
        result = (accumulator / denominator).astype(out.dtype).reshape((tm, 1, width))
        ct.store(own_out, (row, head, 0), tile=result)


@ct.kernel
def paged(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    table: ct.Array,
    lengths: ct.Array,
    out: ct.Array,
    scale: float,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Decode from pages of `tn` tokens, `table[sequence]`; the heads of a group are rows.

    Q is sequences, heads of K and V, heads of a group and elements; K and V are pages, tokens,
    heads and elements.
    """
    head, sequence = ct.bid(0), ct.bid(1)
    keys = element(lengths, sequence)
    query = head_tile(q, sequence, head, 0, tm, width)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    for i in range(tiles_along(keys, tn)):
        page = element(table, (sequence, i))
        key = ct.load(k, (page, 0, head, 0), (1, tn, 1, width)).reshape((tn, width))
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        scores = ct.where(positions(i, tn)[None, :] < keys, scores, MINUS_INFINITY)
        value = ct.load(v, (page, 0, head, 0), (1, tn, 1, width)).reshape((tn, width))
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    store_head_tile(out, sequence, head, 0, accumulator / denominator)


@ct.kernel
def paged_gather(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    table: ct.Array,
    lengths: ct.Array,
    out: ct.Array,
    scale: float,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """As `paged`, with tiles of several pages, which are gathered token by token."""
    head, sequence, page_size = ct.bid(0), ct.bid(1), k.shape[1]
    keys = element(lengths, sequence)
    query = head_tile(q, sequence, head, 0, tm, width)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    within = ct.arange(width, dtype=ct.int32)[None, :]
    for i in range(tiles_along(keys, tn)):
        token = positions(i, tn)
        # Pages beyond the table have no elements.
        page = ct.gather(table, (sequence, token // page_size), padding_value=-1)[:, None]
        at = (page, (token % page_size)[:, None], head, within)
        scores = ct.mma(query, ct.gather(k, at).transpose(), zeros(tm, tn))
        scores = ct.where(token[None, :] < keys, scores, MINUS_INFINITY)
        maximum, denominator, accumulator = accumulate(
            scores, ct.gather(v, at), maximum, denominator, accumulator, scale * LOG2_E
        )
    store_head_tile(out, sequence, head, 0, accumulator / denominator)


@ct.kernel
def paged_prefill(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    table: ct.Array,
    out: ct.Array,
    scale: float,
    group: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Causal attention to pages of `tn` tokens; K and V are as for `paged`."""
    row, head, batch = ct.num_blocks(0) - 1 - ct.bid(0), ct.bid(1), ct.bid(2)
    queries = q.shape[2]
    query = head_tile(q, batch, head, row, tm, width)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    first_masked, stop = key_range(row, queries, queries, True, tm, tn)
    for i in range(stop):
        page = element(table, (batch, i))
        key = ct.load(k, (page, 0, head // group, 0), (1, tn, 1, width)).reshape((tn, width))
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        if i >= first_masked:
            scores = masked(scores, row, i, queries, queries, True, tm, tn)
        value = ct.load(v, (page, 0, head // group, 0), (1, tn, 1, width)).reshape((tn, width))
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    store_head_tile(out, batch, head, row, accumulator / denominator)


@ct.kernel
def persistent(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    out: ct.Array,
    scale: float,
    group: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Causal attention; a block takes every `num_blocks`-th tile, from those with the most keys."""
    queries, keys, heads = q.shape[2], k.shape[2], q.shape[0] * q.shape[1]
    rows = tiles_along(queries, tm)
    for tile in range(ct.bid(0), rows * heads, ct.num_blocks(0)):
        row = rows - 1 - tile // heads
        batch, head = tile % heads // q.shape[1], tile % heads % q.shape[1]
        query = head_tile(q, batch, head, row, tm, width)
        maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
        first_masked, stop = key_range(row, queries, keys, True, tm, tn)
        for i in range(stop):
            key = head_tile(k, batch, head // group, i, tn, width)
            scores = ct.mma(query, key.transpose(), zeros(tm, tn))
            if i >= first_masked:
                scores = masked(scores, row, i, queries, keys, True, tm, tn)
            value = head_tile(v, batch, head // group, i, tn, width)
            maximum, denominator, accumulator = accumulate(
                scores, value, maximum, denominator, accumulator, scale * LOG2_E
            )
        store_head_tile(out, batch, head, row, accumulator / denominator)
