"""The gradients of attention in cuTile Python: of K and V in one kernel, of Q in another.

`lse` are the logarithms of the denominators, `delta` is the result times its gradient,
added over a row. Queries are as many as keys; tiles are whole where the loops need no mask.
"""

from typing import Any

import cuda.tile as ct
from attention_forward import LOG2_E, head_tile, positions, store_head_tile, zeros
from gemm_kernels import tiles_along
from variant_kernels import ZERO, Flag, Size


def row_values(array: ct.Array, batch: Any, head: Any, row: Any, tm: int) -> Any:
    """An element for each query of a tile."""
    return ct.load(array, (batch, head, row), (1, 1, tm), padding_mode=ZERO).reshape((tm,))


@ct.kernel
def preprocess(out: ct.Array, gradient: ct.Array, delta: ct.Array, tm: Size, width: Size) -> None:
    """`delta = sum(out * gradient)` of each row."""
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    x = head_tile(out, batch, head, row, tm, width).astype(ct.float32)
    y = head_tile(gradient, batch, head, row, tm, width).astype(ct.float32)
    ct.store(delta, (batch, head, row), tile=ct.sum(x * y, axis=1).reshape((1, 1, tm)))


@ct.kernel
def of_keys(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    gradient: ct.Array,
    lse: ct.Array,
    delta: ct.Array,
    of_k: ct.Array,
    of_v: ct.Array,
    scale: float,
    causal: Flag,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """The gradients of `tn` keys and values; the loop is over tiles of `tm` queries.

    Scores are keys by queries, so that probabilities are the left operand without a transpose.
    """
    column, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    queries = q.shape[2]
    key = head_tile(k, batch, head, column, tn, width)
    value = head_tile(v, batch, head, column, tn, width)
    k_accumulator, v_accumulator = zeros(tn, width), zeros(tn, width)
    first = column * tn // tm if causal else 0
    first_whole = tiles_along((column + 1) * tn, tm)
    for i in range(first, tiles_along(queries, tm)):
        query = head_tile(q, batch, head, i, tm, width)
        scores = ct.mma(key, query.transpose(), zeros(tn, tm))
        logarithms = row_values(lse, batch, head, i, tm) * LOG2_E
        probabilities = ct.exp2(scores * (scale * LOG2_E) - logarithms[None, :])
        if causal and i < first_whole:
            visible = positions(i, tm)[None, :] >= positions(column, tn)[:, None]
            probabilities = ct.where(visible, probabilities, 0.0)
        own_gradient = head_tile(gradient, batch, head, i, tm, width)
        weights = ct.astype(probabilities, gradient.dtype)
        v_accumulator = ct.mma(weights, own_gradient, v_accumulator)
        of_weights = ct.mma(value, own_gradient.transpose(), zeros(tn, tm))
        differences = of_weights - row_values(delta, batch, head, i, tm)[None, :]
        of_scores = ct.astype(probabilities * differences, q.dtype)
        k_accumulator = ct.mma(of_scores, query, k_accumulator)
    store_head_tile(of_v, batch, head, column, v_accumulator)
    store_head_tile(of_k, batch, head, column, k_accumulator * scale)


@ct.kernel
def of_queries(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    gradient: ct.Array,
    lse: ct.Array,
    delta: ct.Array,
    of_q: ct.Array,
    scale: float,
    causal: Flag,
    tm: Size,
    tn: Size,
    width: Size,
) -> None:
    """The gradients of `tm` queries; the loop is over tiles of `tn` keys."""
    row, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    keys = k.shape[2]
    query = head_tile(q, batch, head, row, tm, width)
    own_gradient = head_tile(gradient, batch, head, row, tm, width)
    logarithms = row_values(lse, batch, head, row, tm)[:, None] * LOG2_E
    own_delta = row_values(delta, batch, head, row, tm)[:, None]
    accumulator = zeros(tm, width)
    first_masked = row * tm // tn
    for i in range(tiles_along(min((row + 1) * tm, keys) if causal else keys, tn)):
        key = head_tile(k, batch, head, i, tn, width)
        value = head_tile(v, batch, head, i, tn, width)
        scores = ct.mma(query, key.transpose(), zeros(tm, tn))
        probabilities = ct.exp2(scores * (scale * LOG2_E) - logarithms)
        if causal and i >= first_masked:
            visible = positions(row, tm)[:, None] >= positions(i, tn)[None, :]
            probabilities = ct.where(visible, probabilities, 0.0)
        of_weights = ct.mma(own_gradient, value.transpose(), zeros(tm, tn))
        of_scores = ct.astype(probabilities * (of_weights - own_delta), q.dtype)
        accumulator = ct.mma(of_scores, key, accumulator)
    store_head_tile(of_q, batch, head, row, accumulator * scale)
