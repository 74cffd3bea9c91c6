"""Attention kernels in cuTile Python that differ in how probabilities are computed from scores.

Arrays are batch, heads, tokens, elements of a head. A block computes `tm` queries of a head, in a
grid of tiles of queries, heads and batch, and loops over tiles of `tn` keys. `width` is the size of
a head, or the power of two above it. `group` heads of Q share a head of K and V.
"""

import math
from typing import Any

import cuda.tile as ct
from gemm_kernels import tiles_along
from variant_kernels import ZERO, Flag, Size

LOG2_E = 1 / math.log(2)
LN_2 = math.log(2)
MINUS_INFINITY = -math.inf


def head_tile(array: ct.Array, batch: Any, head: Any, row: Any, rows: int, width: int) -> Any:
    """Tokens of a head as a matrix."""
    tile = ct.load(array, (batch, head, row, 0), (1, 1, rows, width), padding_mode=ZERO)
    return tile.reshape((rows, width))


def store_head_tile(array: ct.Array, batch: Any, head: Any, row: Any, tile: Any) -> None:
    """Store tokens of a head."""
    rows, width = tile.shape
    as_array = tile.astype(array.dtype).reshape((1, 1, rows, width))
    ct.store(array, (batch, head, row, 0), tile=as_array)


def zeros(rows: int, columns: int) -> Any:
    """A tile of zeros in f32."""
    return ct.zeros((rows, columns), dtype=ct.float32)


def lowest(rows: int) -> Any:
    """The maxima of no scores."""
    return ct.full((rows, 1), MINUS_INFINITY, dtype=ct.float32)


def positions(block: Any, size: int) -> Any:
    """The tokens of a tile."""
    return block * size + ct.arange(size, dtype=ct.int32)


def key_range(row: Any, queries: Any, keys: Any, causal: bool, tm: int, tn: int) -> Any:
    """The first tile of keys that needs a mask for a tile of queries, and the end of the loop.

    The last query sees all keys.
    """
    if causal:
        first = row * tm + keys - queries
        return min(first, keys) // tn, tiles_along(min(first + tm, keys), tn)
    return keys // tn, tiles_along(keys, tn)


def masked(
    scores: Any, row: Any, column: Any, queries: Any, keys: Any, causal: bool, tm: int, tn: int
) -> Any:
    """Scores without those of later keys if `causal`, and of keys that do not exist."""
    key = positions(column, tn)[None, :]
    visible = key < keys
    if causal:
        visible = visible & (key <= positions(row, tm)[:, None] + keys - queries)
    return ct.where(visible, scores, MINUS_INFINITY)


def accumulate(
    scores: Any, value: Any, maximum: Any, denominator: Any, accumulator: Any, scale: Any
) -> Any:
    """The maximum, denominator and accumulator after a tile of keys; in base 2."""
    largest = max(maximum, ct.max(scores, axis=1, keepdims=True) * scale)
    probabilities = ct.exp2(scores * scale - largest)
    correction = ct.exp2(maximum - largest)
    denominator = denominator * correction + ct.sum(probabilities, axis=1, keepdims=True)
    weights = ct.astype(probabilities, value.dtype)
    return largest, denominator, ct.mma(weights, value, accumulator * correction)


@ct.kernel
def forward(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    out: ct.Array,
    scale: float,
    causal: Flag,
    group: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Attention by exp2; tiles of keys that need a mask get it in a branch."""
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    queries, keys = q.shape[2], k.shape[2]
    query = head_tile(q, batch, head, row, tm, width)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    first_masked, stop = key_range(row, queries, keys, causal, tm, tn)
    for i in range(stop):
        key = head_tile(k, batch, head // group, i, tn, width)
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        if i >= first_masked:
            scores = masked(scores, row, i, queries, keys, causal, tm, tn)
        value = head_tile(v, batch, head // group, i, tn, width)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    store_head_tile(out, batch, head, row, accumulator / denominator)


@ct.kernel
def two_loops(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    out: ct.Array,
    lse: ct.Array,
    scale: float,
    group: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Causal attention with a loop before the diagonal and one on it; stores the logsumexp.

    The last tiles of queries, which have the most keys, are the first blocks.
    """
    row, head, batch = ct.num_blocks(0) - 1 - ct.bid(0), ct.bid(1), ct.bid(2)
    queries, keys = q.shape[2], k.shape[2]
    # Scaled before the dots, in the type of Q.
    query = (head_tile(q, batch, head, row, tm, width) * (scale * LOG2_E)).astype(q.dtype)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    first_masked, stop = key_range(row, queries, keys, True, tm, tn)
    for i in range(first_masked):
        key = head_tile(k, batch, head // group, i, tn, width)
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        value = head_tile(v, batch, head // group, i, tn, width)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, 1.0
        )
    for i in range(first_masked, stop):
        key = head_tile(k, batch, head // group, i, tn, width)
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        scores = masked(scores, row, i, queries, keys, True, tm, tn)
        value = head_tile(v, batch, head // group, i, tn, width)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, 1.0
        )
    store_head_tile(out, batch, head, row, accumulator / denominator)
    logarithms = (maximum + ct.log2(denominator)) * LN_2
    ct.store(lse, (batch, head, row), tile=logarithms.reshape((1, 1, tm)))


@ct.kernel
def natural(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    out: ct.Array,
    lse: ct.Array,
    scale: float,
    causal: Flag,
    group: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Attention by exp of scores that are scaled after the dot and always masked.

    The probabilities of a tile are rounded before they are added, as the dot has them.
    """
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    queries, keys = q.shape[2], k.shape[2]
    query = head_tile(q, batch, head, row, tm, width)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    _, stop = key_range(row, queries, keys, causal, tm, tn)
    for i in range(stop):
        key = ct.load(
            k,
            (batch, head // group, 0, i),
            (1, 1, width, tn),
            order=(0, 1, 3, 2),
            padding_mode=ZERO,
        )
        scores = ct.mma(query, key.reshape((width, tn)), zeros(tm, tn)) * scale
        scores = masked(scores, row, i, queries, keys, causal, tm, tn)
        largest = ct.maximum(maximum, ct.max(scores, axis=1, keepdims=True))
        probabilities = ct.astype(ct.exp(scores - largest), v.dtype)
        correction = ct.exp(maximum - largest)
        denominator = denominator * correction
        denominator += ct.sum(probabilities.astype(ct.float32), axis=1, keepdims=True)
        value = head_tile(v, batch, head // group, i, tn, width)
        accumulator = accumulator * correction + ct.mma(probabilities, value, zeros(tm, width))
        maximum = largest
    store_head_tile(out, batch, head, row, accumulator / denominator)
    logarithms = maximum + ct.log(denominator)
    ct.store(lse, (batch, head, row), tile=ct.reshape(logarithms, (1, 1, tm)))


@ct.kernel
def soft_cap(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    out: ct.Array,
    scale: float,
    cap: float,
    group: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Causal attention of scores that tanh limits to `cap`."""
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    queries, keys = q.shape[2], k.shape[2]
    query = head_tile(q, batch, head, row, tm, width)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    first_masked, stop = key_range(row, queries, keys, True, tm, tn)
    for i in range(stop):
        key = head_tile(k, batch, head // group, i, tn, width)
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        scores = ct.tanh(scores * (scale / cap))
        if i >= first_masked:
            scores = masked(scores, row, i, queries, keys, True, tm, tn)
        value = head_tile(v, batch, head // group, i, tn, width)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, cap * LOG2_E
        )
    store_head_tile(out, batch, head, row, accumulator / denominator)


@ct.kernel
def biased(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    bias: ct.Array,
    out: ct.Array,
    scale: float,
    group: Size,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Attention with a bias for each head, query and key that is added to the scaled scores."""
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    queries, keys = q.shape[2], k.shape[2]
    query = head_tile(q, batch, head, row, tm, width)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    first_masked, stop = key_range(row, queries, keys, False, tm, tn)
    for i in range(stop):
        key = head_tile(k, batch, head // group, i, tn, width)
        scores = ct.mma(query, key.transpose(), zeros(tm, tn)) * scale
        added = ct.load(bias, (head, row, i), (1, tm, tn), padding_mode=ZERO).reshape((tm, tn))
        scores += added.astype(ct.float32)
        if i >= first_masked:
            scores = masked(scores, row, i, queries, keys, False, tm, tn)
        value = head_tile(v, batch, head // group, i, tn, width)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, LOG2_E
        )
    store_head_tile(out, batch, head, row, accumulator / denominator)


@ct.kernel
def fp8(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    out: ct.Array,
    scale: float,
    value_scale: float,
    v_transposed: Flag,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """Attention of fp8 operands; V is given with keys as columns if `v_transposed`.

    Probabilities are rounded to fp8 as well.
    """
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    queries, keys = q.shape[2], k.shape[2]
    query = head_tile(q, batch, head, row, tm, width)
    maximum, denominator, accumulator = lowest(tm), zeros(tm, 1), zeros(tm, width)
    first_masked, stop = key_range(row, queries, keys, False, tm, tn)
    for i in range(stop):
        key = head_tile(k, batch, head, i, tn, width)
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        if i >= first_masked:
            scores = masked(scores, row, i, queries, keys, False, tm, tn)
        if v_transposed:
            shape = (1, 1, width, tn)
            value = ct.load(v, (batch, head, 0, i), shape, padding_mode=ZERO)
            value = value.reshape((width, tn)).transpose()
        else:
            value = head_tile(v, batch, head, i, tn, width)
        maximum, denominator, accumulator = accumulate(
            scores, value, maximum, denominator, accumulator, scale * LOG2_E
        )
    store_head_tile(out, batch, head, row, accumulator / denominator * value_scale)
