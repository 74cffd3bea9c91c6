"""Chunked linear attention in cuTile Python: a state of keys by values is carried over chunks.

Arrays are heads, tokens and elements of a head. The result of token `t` is the sum over `s <= t` of
`decay(s, t) (q[t] @ k[s]) v[s]`; the decay is a power of a number for each head, or the exponential
of the gates from `s + 1` to `t`. A chunk has `tc` tokens; a block has `tn` elements of values.
"""

from typing import Any

import cuda.tile as ct
from attention_forward import LOG2_E, zeros
from variant_kernels import ZERO, Size


def chunk_tile(array: ct.Array, head: Any, chunk: Any, column: Any, tc: int, width: int) -> Any:
    """Tokens of a chunk as a matrix."""
    tile = ct.load(array, (head, chunk, column), (1, tc, width), padding_mode=ZERO)
    return tile.reshape((tc, width))


def within_chunk(query: Any, key: Any, decays: Any, tc: int) -> Any:
    """The decayed scores of a chunk, zero for later keys; `decays` are exponents of base 2."""
    scores = ct.mma(query, key.transpose(), zeros(tc, tc))
    token = ct.arange(tc, dtype=ct.int32)
    visible = token[:, None] >= token[None, :]
    return ct.where(visible, scores * ct.exp2(decays[:, None] - decays[None, :]), 0.0)


@ct.kernel
def retention(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    rates: ct.Array,
    out: ct.Array,
    tc: Size,
    tn: Size,
    width: Size,
) -> None:
    """The decay of a step is `2 ** rates[head]`; one block carries the state of a head."""
    column, head = ct.bid(0), ct.bid(1)
    rate = ct.gather(rates, head)
    decays = (ct.arange(tc, dtype=ct.int32) + 1).astype(ct.float32) * rate
    state = zeros(width, tn)
    for chunk in range(ct.num_tiles(q, axis=1, shape=(1, tc, width))):
        query = chunk_tile(q, head, chunk, 0, tc, width)
        key = chunk_tile(k, head, chunk, 0, tc, width)
        value = chunk_tile(v, head, chunk, column, tc, tn)
        scores = within_chunk(query, key, decays, tc)
        earlier = ct.mma(query, state.astype(q.dtype), zeros(tc, tn))
        result = ct.mma(scores.astype(v.dtype), value, earlier * ct.exp2(decays[:, None]))
        ct.store(out, (head, chunk, column), tile=result.astype(out.dtype).reshape((1, tc, tn)))
        later = (key * ct.exp2(tc * rate - decays[:, None])).astype(k.dtype)
        state = ct.mma(later.transpose(), value, state * ct.exp2(tc * rate))


@ct.kernel
def gated(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    gates: ct.Array,
    out: ct.Array,
    tc: Size,
    tn: Size,
    width: Size,
) -> None:
    """The decay of a step is `exp(gates[head, token])`; a scan adds the gates of a chunk."""
    column, head = ct.bid(0), ct.bid(1)
    state = zeros(width, tn)
    for chunk in range(ct.num_tiles(q, axis=1, shape=(1, tc, width))):
        gate = ct.load(gates, (head, chunk), (1, tc), padding_mode=ZERO).reshape((tc,))
        decays = ct.cumsum(gate) * LOG2_E
        all_decays = ct.sum(gate) * LOG2_E
        query = chunk_tile(q, head, chunk, 0, tc, width)
        key = chunk_tile(k, head, chunk, 0, tc, width)
        value = chunk_tile(v, head, chunk, column, tc, tn)
        scores = within_chunk(query, key, decays, tc)
        decayed = (query * ct.exp2(decays[:, None])).astype(q.dtype)
        result = ct.mma(decayed, state.astype(q.dtype), zeros(tc, tn))
        result = ct.mma(scores.astype(v.dtype), value, result)
        ct.store(out, (head, chunk, column), tile=result.astype(out.dtype).reshape((1, tc, tn)))
        # Values are decayed here, and keys where decays are a power.
        later = (value * ct.exp2(all_decays - decays[:, None])).astype(v.dtype)
        state = ct.mma(key.transpose(), later, state * ct.exp2(all_decays))


@ct.kernel
def chunk_states(
    k: ct.Array, v: ct.Array, gates: ct.Array, states: ct.Array, tc: Size, tn: Size, width: Size
) -> None:
    """The states before each chunk; `states` is heads, chunks, keys and values."""
    column, head = ct.bid(0), ct.bid(1)
    state = zeros(width, tn)
    for chunk in range(ct.num_tiles(k, axis=1, shape=(1, tc, width))):
        stored = state.astype(states.dtype).reshape((1, 1, width, tn))
        ct.store(states, (head, chunk, 0, column), tile=stored)
        gate = ct.load(gates, (head, chunk), (1, tc), padding_mode=ZERO).reshape((tc,))
        all_decays = ct.sum(gate) * LOG2_E
        key = chunk_tile(k, head, chunk, 0, tc, width)
        value = chunk_tile(v, head, chunk, column, tc, tn)
        decays = ct.cumsum(gate) * LOG2_E
        later = (value * ct.exp2(all_decays - decays[:, None])).astype(v.dtype)
        state = ct.mma(key.transpose(), later, state * ct.exp2(all_decays))


@ct.kernel
def chunk_outputs(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    gates: ct.Array,
    states: ct.Array,
    out: ct.Array,
    tc: Size,
    tn: Size,
    width: Size,
) -> None:
    """The results of one chunk from the state before it; all chunks are independent."""
    column, chunk, head = ct.bid(0), ct.bid(1), ct.bid(2)
    gate = ct.load(gates, (head, chunk), (1, tc), padding_mode=ZERO).reshape((tc,))
    decays = ct.cumsum(gate) * LOG2_E
    query = chunk_tile(q, head, chunk, 0, tc, width)
    key = chunk_tile(k, head, chunk, 0, tc, width)
    value = chunk_tile(v, head, chunk, column, tc, tn)
    state = ct.load(states, (head, chunk, 0, column), (1, 1, width, tn)).reshape((width, tn))
    result = ct.mma(query, state, zeros(tc, tn)) * ct.exp2(decays[:, None])
    scores = within_chunk(query, key, decays, tc)
    result = ct.mma(scores.astype(v.dtype), value, result)
    ct.store(out, (head, chunk, column), tile=result.astype(out.dtype).reshape((1, tc, tn)))
