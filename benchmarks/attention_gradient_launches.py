"""Launches of linear attention and of the gradients of attention."""

from __future__ import annotations

from typing import Any

import attention_backward as backward
import attention_linear as linear
import numpy as np
from attention_launches import (
    Build,
    Launch,
    Operands,
    attention,
    causal_mask,
    operands,
    scores_of,
)
from variant_arrays import Arrays
from variant_sizes import Shape, Step, ceil_div


def linear_attention(arrays: Arrays, q: Any, k: Any, v: Any, decays: Any, chunk: int) -> tuple[Any]:
    """Linear attention without a state, by chunks of rows; `decays` are cumulative logarithms."""
    exp = arrays.namespace.exp
    result = arrays.zeros(*v.shape, dtype="float32")
    tokens = q.shape[1]
    for start in range(0, tokens, chunk):
        stop = min(start + chunk, tokens)
        mask = arrays.upload(causal_mask(stop - start, stop))
        for head in range(q.shape[0]):
            query, key, value = (arrays.f32(each[head, :stop]) for each in (q, k, v))
            # Later keys have no weight, and no decay above one.
            steps = (decays[head, start:stop, None] - decays[head, None, :stop]) * mask
            weights = query[start:] @ key.T * exp(steps) * mask
            result[head, start:stop] = weights @ value
    return (result,)


def linear_operands(arrays: Arrays, shape: Shape, dtype: str) -> tuple[Any, Any, Any, Any]:
    """Q, K, V and the result of a shape: heads, tokens, elements of a key and of a value."""
    heads, tokens, width, values = shape
    q, k = (arrays.uniform(heads, tokens, width, dtype=dtype) for _ in range(2))
    v = arrays.uniform(heads, tokens, values, dtype=dtype)
    return q, k, v, arrays.zeros(heads, tokens, values, dtype=dtype)


def linear_flops(shape: Shape, chunk: int) -> float:
    """The operations of chunked linear attention."""
    heads, tokens, width, values = shape
    return 2.0 * heads * tokens * (chunk * (width + values) + 2 * width * values)


def retention(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Linear attention with a constant decay for each head."""
    heads, tokens, width, values = shape
    q, k, v, out = linear_operands(arrays, shape, dtype)
    rates = np.log2(1 - 2.0 ** -np.linspace(4, 8, heads)).astype(np.float32)
    steps = np.arange(tokens, dtype=np.float32)[None, :] * rates[:, None] * np.log(np.float32(2))
    expected = lambda: linear_attention(arrays, q, k, v, arrays.upload(steps), 2048)  # noqa: E731
    arguments = (q, k, v, arrays.upload(rates), out, *tile, width)
    grid = (ceil_div(values, tile[1]), heads)
    flops = linear_flops(shape, tile[0])
    return Launch((Step(linear.retention, grid, arguments),), (out,), expected, flops)


def random_gates(arrays: Arrays, heads: int, tokens: int) -> tuple[Any, Any]:
    """Logarithms of decays of tokens, and the same added over earlier tokens."""
    gates = np.random.default_rng(3).uniform(-0.05, 0, (heads, tokens)).astype(np.float32)
    return arrays.upload(gates), arrays.upload(np.cumsum(gates, 1, dtype=np.float32))


def gated(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Linear attention with a decay for each token."""
    heads, tokens, width, values = shape
    q, k, v, out = linear_operands(arrays, shape, dtype)
    gates, decays = random_gates(arrays, heads, tokens)
    expected = lambda: linear_attention(arrays, q, k, v, decays, 2048)  # noqa: E731
    grid = (ceil_div(values, tile[1]), heads)
    steps = (Step(linear.gated, grid, (q, k, v, gates, out, *tile, width)),)
    return Launch(steps, (out,), expected, linear_flops(shape, tile[0]))


def gated_parallel(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """The same in two kernels: the states before all chunks, then the results."""
    heads, tokens, width, values = shape
    q, k, v, out = linear_operands(arrays, shape, dtype)
    gates, decays = random_gates(arrays, heads, tokens)
    chunks, columns = ceil_div(tokens, tile[0]), ceil_div(values, tile[1])
    states = arrays.zeros(heads, chunks, width, values, dtype=dtype)
    expected = lambda: linear_attention(arrays, q, k, v, decays, 2048)  # noqa: E731
    sizes = (*tile, width)
    steps = (
        Step(linear.chunk_states, (columns, heads), (k, v, gates, states, *sizes)),
        Step(linear.chunk_outputs, (columns, chunks, heads), (q, k, v, gates, states, out, *sizes)),
    )
    return Launch(steps, (out,), expected, linear_flops(shape, tile[0]))


def gradients(arrays: Arrays, given: Operands, gradient: Any, mask: Any) -> tuple[Any, Any, Any]:
    """The gradients of Q, K and V, head by head."""
    of_q, of_k, of_v = (arrays.zeros(*each.shape, dtype="float32") for each in given[:3])
    uploaded = 1.0 if mask is None else arrays.upload(mask)
    for batch, head in np.ndindex(*given.q.shape[:2]):
        weights = arrays.namespace.exp(scores_of(arrays, given, batch, head)) * uploaded
        weights = weights / weights.sum(-1)[:, None]
        query, key, value, own = (
            arrays.f32(each[batch, head]) for each in (given.q, given.k, given.v, gradient)
        )
        of_weights = own @ value.T
        of_scores = weights * (of_weights - (weights * of_weights).sum(-1)[:, None])
        of_q[batch, head] = of_scores @ key * given.scale
        of_k[batch, head] = of_scores.T @ query * given.scale
        of_v[batch, head] = weights.T @ own
    return of_q, of_k, of_v


def attention_gradients(*, causal: bool) -> Build:
    """The gradients of attention; the tile is those of the loop over queries and over keys."""

    def build(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
        batch, heads, tokens, width = shape
        given = operands(arrays, (batch, heads, heads, tokens, tokens, width), dtype)
        gradient = arrays.uniform(*given.q.shape, dtype=dtype)
        mask = causal_mask(tokens, tokens) if causal else None
        lse = arrays.zeros(*given.q.shape[:3], dtype="float32")
        if arrays.is_filled:
            out, lse = attention(arrays, given, mask)
            given.out[...] = arrays.namespace.asarray(out, dtype=given.out.dtype)
        delta = arrays.zeros(*lse.shape, dtype="float32")
        of_q, of_k, of_v = (arrays.zeros(*given.q.shape, dtype=dtype) for _ in range(3))
        keys_tm, keys_tn, queries_tm, queries_tn = tile
        loaded = (*given[:3], gradient, lse, delta)
        rest = (given.scale, causal)
        of_keys = (*loaded, of_k, of_v, *rest, keys_tm, keys_tn, width)
        of_queries = (*loaded, of_q, *rest, queries_tm, queries_tn, width)
        steps = (
            Step(backward.preprocess, given.grid(64), (given.out, gradient, delta, 64, width)),
            Step(backward.of_keys, given.grid(keys_tn), of_keys),
            Step(backward.of_queries, given.grid(queries_tm), of_queries),
        )
        expected = lambda: gradients(arrays, given, gradient, mask)  # noqa: E731
        flops = 14.0 * batch * heads * tokens**2 * width * (0.5 if causal else 1)
        return Launch(steps, (of_q, of_k, of_v), expected, flops)

    return build
