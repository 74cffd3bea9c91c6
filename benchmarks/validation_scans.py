"""Scans and recurrences in cuTile Python that the compiler was not tuned for."""

from typing import Any

import cuda.tile as ct
from attention_forward import MINUS_INFINITY, zeros
from attention_linear import chunk_tile
from gemm_kernels import tiles_along
from variant_kernels import ZERO, Size


@ct.kernel
def cumulative_rows(x: ct.Array, y: ct.Array, tr: Size, tc: Size) -> None:
    """The cumulative sum of each row, in one loop that carries the last element."""
    row = ct.bid(0)
    carried = zeros(tr, 1)
    for i in range(tiles_along(x.shape[1], tc)):
        tile = ct.load(x, (row, i), (tr, tc), padding_mode=ZERO)
        ct.store(y, (row, i), tile=ct.cumsum(tile, axis=1) + carried)
        carried += ct.sum(tile, axis=1, keepdims=True)


def later_segment(is_new: Any, value: Any, later_is_new: Any, later_value: Any) -> Any:
    """The sum of the last segment of two ranges, and whether a segment starts in either."""
    return is_new | later_is_new, ct.where(later_is_new != 0, later_value, value + later_value)


@ct.kernel
def scan_segments(
    values: ct.Array,
    starts: ct.Array,
    out: ct.Array,
    block_starts: ct.Array,
    block_values: ct.Array,
    tn: Size,
) -> None:
    """Add the values of each segment within a block; store the last flag and value of the block."""
    block = ct.bid(0)
    flags = ct.load(starts, (block,), (tn,), padding_mode=ZERO)
    tile = ct.load(values, (block,), (tn,), padding_mode=ZERO)
    seen, scanned = ct.scan((flags, tile), axis=0, func=later_segment, identity=(0, 0))
    ct.store(out, (block,), tile=scanned)
    ct.store(block_starts, (block,), tile=ct.extract(seen, (tn - 1,), (1,)))
    ct.store(block_values, (block,), tile=ct.extract(scanned, (tn - 1,), (1,)))


@ct.kernel
def scan_blocks(
    block_starts: ct.Array, block_values: ct.Array, carries: ct.Array, tn: Size
) -> None:
    """The same of blocks, in one block."""
    carried = ct.zeros((1,), dtype=ct.int32)
    for i in range(tiles_along(block_values.shape[0], tn)):
        flags = ct.load(block_starts, (i,), (tn,), padding_mode=ZERO)
        tile = ct.load(block_values, (i,), (tn,), padding_mode=ZERO)
        seen, scanned = ct.scan((flags, tile), axis=0, func=later_segment, identity=(0, 0))
        scanned = ct.where(seen != 0, scanned, scanned + carried)
        ct.store(carries, (i,), tile=scanned)
        carried = ct.extract(scanned, (tn - 1,), (1,))


@ct.kernel
def carry_segments(starts: ct.Array, carries: ct.Array, out: ct.Array, tn: Size) -> None:
    """Add the sum of earlier blocks to the first segment of a block."""
    block = ct.bid(0)
    flags = ct.load(starts, (block,), (tn,), padding_mode=ZERO)
    carried = ct.gather(carries, block - 1)
    tile = ct.load(out, (block,), (tn,), padding_mode=ZERO)
    ct.store(out, (block,), tile=ct.where(ct.cumsum(flags) == 0, tile + carried, tile))


def composed(decay: Any, value: Any, later_decay: Any, later_value: Any) -> Any:
    """One step of `h = decay * h + value` after another."""
    return decay * later_decay, value * later_decay + later_value


@ct.kernel
def linear_recurrence(x: ct.Array, gates: ct.Array, h: ct.Array, tt: Size, tc: Size) -> None:
    """`h[t] = a[t] * h[t - 1] + (1 - a[t]) * x[t]` of each channel, `a` the sigmoid of a gate.

    Arrays are batch, tokens and channels. A scan composes the steps of `tt` tokens.
    """
    column, batch = ct.bid(0), ct.bid(1)
    carried = zeros(1, tc)
    for i in range(tiles_along(x.shape[1], tt)):
        gate = ct.load(gates, (batch, i, column), (1, tt, tc), padding_mode=ZERO)
        decay = 1.0 / (1.0 + ct.exp(-gate.reshape((tt, tc)).astype(ct.float32)))
        tile = ct.load(x, (batch, i, column), (1, tt, tc), padding_mode=ZERO)
        value = (1.0 - decay) * tile.reshape((tt, tc)).astype(ct.float32)
        decay, value = ct.scan((decay, value), axis=0, func=composed, identity=(1.0, 0.0))
        state = decay * carried + value
        ct.store(h, (batch, i, column), tile=state.astype(h.dtype).reshape((1, tt, tc)))
        carried = ct.extract(state, (tt - 1, 0), (1, tc))


@ct.kernel
def selective_scan(
    x: ct.Array,
    steps: ct.Array,
    log_rates: ct.Array,
    b: ct.Array,
    c: ct.Array,
    y: ct.Array,
    tc: Size,
    states: Size,
) -> None:
    """`h = exp(-rate * step) * h + step * x * b`, `y = sum(h * c)`, token by token.

    Arrays are batch, tokens and channels; B and C have `states` elements for a token. A step is the
    softplus of what is given.
    """
    column, batch = ct.bid(0), ct.bid(1)
    rates = ct.exp(ct.load(log_rates, (column, 0), (tc, states), padding_mode=ZERO))
    state = zeros(tc, states)
    for t in range(x.shape[1]):
        step = ct.load(steps, (batch, t, column), (1, 1, tc), padding_mode=ZERO)
        step = ct.log(1.0 + ct.exp(step.reshape((tc, 1)).astype(ct.float32)))
        value = ct.load(x, (batch, t, column), (1, 1, tc), padding_mode=ZERO)
        into = ct.load(b, (batch, t, 0), (1, 1, states)).reshape((1, states))
        out_of = ct.load(c, (batch, t, 0), (1, 1, states)).reshape((1, states))
        driven = step * value.reshape((tc, 1)) * into
        state = ct.exp(-rates * step) * state + driven
        result = ct.sum(state * out_of, axis=1)
        ct.store(y, (batch, t, column), tile=result.astype(y.dtype).reshape((1, 1, tc)))


def unit_rows(tile: Any) -> Any:
    """The rows of a tile divided by their lengths."""
    wide = tile.astype(ct.float32)
    inverse = ct.rsqrt(ct.sum(wide * wide, axis=1, keepdims=True) + 1e-6)
    return (wide * inverse).astype(tile.dtype)


def inverse_of(lower: Any, squarings: int) -> Any:
    """The inverse of the identity minus a strictly lower triangle, by squaring its powers."""
    size = lower.shape[0]
    token = ct.arange(size, dtype=ct.int32)
    inverse = ct.where(token[:, None] == token[None, :], 1.0, lower)
    power = lower
    for _ in range(squarings):
        rounded = power.astype(ct.tfloat32)
        power = ct.mma(rounded, rounded, zeros(size, size))
        inverse = ct.mma(inverse.astype(ct.tfloat32), power.astype(ct.tfloat32), inverse)
    return inverse


@ct.kernel
def delta_rule(
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    strengths: ct.Array,
    gates: ct.Array,
    out: ct.Array,
    squarings: Size,
    tc: Size,
    tn: Size,
    width: Size,
) -> None:
    """The gated delta rule by chunks of `tc` tokens; arrays are heads, tokens and elements.

    A token decays the state by `exp(gate)`, then corrects what the state holds for its key towards
    its value by a part of `strength`. Keys and queries are divided by their lengths.
    """
    column, head = ct.bid(0), ct.bid(1)
    token = ct.arange(tc, dtype=ct.int32)
    state = zeros(width, tn)
    for chunk in range(tiles_along(q.shape[1], tc)):
        gate = ct.load(gates, (head, chunk), (1, tc), padding_mode=ZERO).reshape((tc,))
        strength = ct.load(strengths, (head, chunk), (1, tc), padding_mode=ZERO).reshape((tc, 1))
        decays, all_decays = ct.cumsum(gate), ct.sum(gate)
        query = unit_rows(chunk_tile(q, head, chunk, 0, tc, width))
        key = unit_rows(chunk_tile(k, head, chunk, 0, tc, width))
        value = chunk_tile(v, head, chunk, column, tc, tn).astype(ct.float32)
        visible = token[:, None] >= token[None, :]
        between = ct.exp(ct.where(visible, decays[:, None] - decays[None, :], MINUS_INFINITY))
        overlaps = ct.mma(key, key.transpose(), zeros(tc, tc)) * between * strength
        overlaps = ct.where(token[:, None] > token[None, :], -overlaps, 0.0)
        inverse = inverse_of(overlaps, squarings).astype(ct.tfloat32)
        rounded = state.astype(q.dtype)
        since = ct.exp(decays)[:, None]
        held = ct.mma(key, rounded, zeros(tc, tn)) * since
        errors = (strength * (value - held)).astype(ct.tfloat32)
        corrections = ct.mma(inverse, errors, zeros(tc, tn)).astype(q.dtype)
        weights = ct.mma(query, key.transpose(), zeros(tc, tc)) * between
        result = ct.mma(query, rounded, zeros(tc, tn)) * since
        result = ct.mma(weights.astype(q.dtype), corrections, result)
        ct.store(out, (head, chunk, column), tile=result.astype(out.dtype).reshape((1, tc, tn)))
        later = (key * ct.exp(all_decays - decays)[:, None]).astype(k.dtype)
        state = ct.mma(later.transpose(), corrections, state * ct.exp(all_decays))
