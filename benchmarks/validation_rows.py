"""Kernels on rows in cuTile Python that the compiler was not tuned for: norms and softmax."""

import math
from typing import Any

import cuda.tile as ct
from attention_forward import LOG2_E, zeros
from gemm_kernels import tiles_along
from variant_kernels import ZERO, Size

MINUS_INFINITY = -math.inf
LOWEST = ct.PaddingMode.NEG_INF


@ct.kernel
def layer_norm_backward(
    x: ct.Array,
    gradient: ct.Array,
    weight: ct.Array,
    mean: ct.Array,
    inverse: ct.Array,
    of_x: ct.Array,
    of_weight: ct.Array,
    of_bias: ct.Array,
    tr: Size,
    width: Size,
) -> None:
    """The gradients of X, and those of weight and bias of the rows of each block.

    `inverse` is one over the standard deviation. A block takes every `num_blocks`-th tile of rows.
    """
    scale = ct.load(weight, (0,), (width,), padding_mode=ZERO).astype(ct.float32)[None, :]
    weight_accumulator = ct.zeros((width,), dtype=ct.float32)
    bias_accumulator = ct.zeros((width,), dtype=ct.float32)
    for row in range(ct.bid(0), tiles_along(x.shape[0], tr), ct.num_blocks(0)):
        own_mean = ct.load(mean, (row,), (tr,), padding_mode=ZERO)[:, None]
        own_inverse = ct.load(inverse, (row,), (tr,), padding_mode=ZERO)[:, None]
        given = ct.load(gradient, (row, 0), (tr, width), padding_mode=ZERO).astype(ct.float32)
        normal = ct.load(x, (row, 0), (tr, width), padding_mode=ZERO).astype(ct.float32)
        normal = (normal - own_mean) * own_inverse
        weight_accumulator += ct.sum(given * normal, axis=0)
        bias_accumulator += ct.sum(given, axis=0)
        scaled = given * scale
        along = ct.sum(scaled * normal, axis=1, keepdims=True) / x.shape[1]
        level = ct.sum(scaled, axis=1, keepdims=True) / x.shape[1]
        result = (scaled - normal * along - level) * own_inverse
        ct.store(of_x, (row, 0), tile=result.astype(of_x.dtype))
    ct.store(of_weight, (ct.bid(0), 0), tile=weight_accumulator.reshape((1, width)))
    ct.store(of_bias, (ct.bid(0), 0), tile=bias_accumulator.reshape((1, width)))


@ct.kernel
def add_rows(
    weight: ct.Array, bias: ct.Array, of_weight: ct.Array, of_bias: ct.Array, tr: Size, tc: Size
) -> None:
    """Add the rows of two matrices."""
    column = ct.bid(0)
    weight_accumulator, bias_accumulator = zeros(tr, tc), zeros(tr, tc)
    for row in range(tiles_along(weight.shape[0], tr)):
        weight_accumulator += ct.load(weight, (row, column), (tr, tc), padding_mode=ZERO)
        bias_accumulator += ct.load(bias, (row, column), (tr, tc), padding_mode=ZERO)
    ct.store(of_weight, (column,), tile=ct.sum(weight_accumulator, axis=0).astype(of_weight.dtype))
    ct.store(of_bias, (column,), tile=ct.sum(bias_accumulator, axis=0).astype(of_bias.dtype))


@ct.kernel
def rms_norm_backward(
    x: ct.Array,
    gradient: ct.Array,
    weight: ct.Array,
    of_x: ct.Array,
    epsilon: float,
    tr: Size,
    tc: Size,
) -> None:
    """The gradients of X of wide rows, in two loops over tiles of `tc` columns."""
    row, columns = ct.bid(0), x.shape[1]
    squares, dots = zeros(tr, tc), zeros(tr, tc)
    for i in range(tiles_along(columns, tc)):
        tile = ct.load(x, (row, i), (tr, tc), padding_mode=ZERO).astype(ct.float32)
        given = ct.load(gradient, (row, i), (tr, tc), padding_mode=ZERO).astype(ct.float32)
        scale = ct.load(weight, (i,), (tc,), padding_mode=ZERO).astype(ct.float32)
        squares += tile * tile
        dots += tile * given * scale[None, :]
    inverse = ct.rsqrt(ct.sum(squares, axis=1, keepdims=True) / columns + epsilon)
    along = ct.sum(dots, axis=1, keepdims=True) / columns * inverse * inverse
    for i in range(tiles_along(columns, tc)):
        tile = ct.load(x, (row, i), (tr, tc), padding_mode=ZERO).astype(ct.float32)
        given = ct.load(gradient, (row, i), (tr, tc), padding_mode=ZERO).astype(ct.float32)
        scale = ct.load(weight, (i,), (tc,), padding_mode=ZERO).astype(ct.float32)
        result = (given * scale[None, :] - tile * along) * inverse
        ct.store(of_x, (row, i), tile=result.astype(of_x.dtype))


@ct.kernel
def group_norm(
    x: ct.Array,
    weight: ct.Array,
    bias: ct.Array,
    out: ct.Array,
    epsilon: float,
    channels: Size,
    tc: Size,
    ts: Size,
) -> None:
    """Normalize groups of `channels` channels, then SiLU; arrays are batch, channels and pixels.

    A group is a slice; a tile has all of its channels, and `ts` pixels.
    """
    group, batch = ct.bid(0), ct.bid(1)
    start, stop = group * channels, (group + 1) * channels
    own_x = x.slice(axis=1, start=start, stop=stop)
    own_out = out.slice(axis=1, start=start, stop=stop)
    own_weight, own_bias = weight.slice(0, start, stop), bias.slice(0, start, stop)
    accumulator, squares = zeros(tc, ts), zeros(tc, ts)
    for i in range(tiles_along(x.shape[2], ts)):
        tile = ct.load(own_x, (batch, 0, i), (1, tc, ts), padding_mode=ZERO)
        wide = tile.reshape((tc, ts)).astype(ct.float32)
        accumulator += wide
        squares += wide * wide
    count = channels * x.shape[2]
    mean = ct.sum(accumulator) / count
    inverse = ct.rsqrt(ct.sum(squares) / count - mean * mean + epsilon)
    scale = ct.load(own_weight, (0,), (tc,), padding_mode=ZERO)[:, None] * inverse
    shift = ct.load(own_bias, (0,), (tc,), padding_mode=ZERO)[:, None] - mean * scale
    for i in range(tiles_along(x.shape[2], ts)):
        tile = ct.load(own_x, (batch, 0, i), (1, tc, ts), padding_mode=ZERO)
        normal = tile.reshape((tc, ts)).astype(ct.float32) * scale + shift
        result = normal / (1.0 + ct.exp(-normal))
        ct.store(own_out, (batch, 0, i), tile=result.astype(out.dtype).reshape((1, tc, ts)))


@ct.kernel
def cross_entropy(
    logits: ct.Array, labels: ct.Array, losses: ct.Array, gradient: ct.Array, tr: Size, tc: Size
) -> None:
    """The loss of each row and the gradients of its logits, divided by the number of rows."""
    row, classes = ct.bid(0), logits.shape[1]
    maximum, denominator = ct.full((tr, 1), MINUS_INFINITY, dtype=ct.float32), zeros(tr, 1)
    for i in range(tiles_along(classes, tc)):
        tile = ct.load(logits, (row, i), (tr, tc), padding_mode=LOWEST).astype(ct.float32)
        largest = ct.maximum(maximum, ct.max(tile, axis=1, keepdims=True))
        weights = ct.exp2((tile - largest) * LOG2_E)
        correction = ct.exp2((maximum - largest) * LOG2_E)
        denominator = denominator * correction + ct.sum(weights, axis=1, keepdims=True)
        maximum = largest
    rows = row * tr + ct.arange(tr, dtype=ct.int32)
    label = ct.gather(labels, rows)
    own = ct.gather(logits, (rows, label)).astype(ct.float32)
    logarithms = maximum + ct.log(denominator)
    ct.store(losses, (row,), tile=logarithms.reshape((tr,)) - own)
    for i in range(tiles_along(classes, tc)):
        tile = ct.load(logits, (row, i), (tr, tc), padding_mode=LOWEST).astype(ct.float32)
        weights = ct.exp2((tile - logarithms) * LOG2_E)
        is_label = i * tc + ct.arange(tc, dtype=ct.int32)[None, :] == label[:, None]
        result = ct.where(is_label, weights - 1.0, weights) / logits.shape[0]
        ct.store(gradient, (row, i), tile=result.astype(gradient.dtype))


@ct.kernel
def top_2(
    logits: ct.Array, experts: ct.Array, weights: ct.Array, counts: ct.Array, tm: Size, width: Size
) -> None:
    """The two largest logits of each token, their softmax, and the tokens of each expert."""
    row = ct.bid(0)
    tile = ct.load(logits, (row, 0), (tm, width), padding_mode=LOWEST)
    first, first_logit = ct.argmax(tile, axis=1), ct.max(tile, axis=1)
    is_first = ct.arange(width, dtype=ct.int32)[None, :] == first[:, None]
    others = ct.where(is_first, MINUS_INFINITY, tile)
    second, second_logit = ct.argmax(others, axis=1), ct.max(others, axis=1)
    share = 1.0 / (1.0 + ct.exp(second_logit - first_logit))
    ct.store(experts, (row, 0), tile=ct.cat((first[:, None], second[:, None]), axis=1))
    ct.store(weights, (row, 0), tile=ct.cat((share[:, None], 1.0 - share[:, None]), axis=1))
    # An expert that does not exist has no count.
    exists = row * tm + ct.arange(tm, dtype=ct.int32) < logits.shape[0]
    ct.atomic_add(counts, ct.where(exists, first, logits.shape[1]), 1)
    ct.atomic_add(counts, ct.where(exists, second, logits.shape[1]), 1)


def merged_moments(
    mean: Any, deviation: Any, count: Any, other: Any, other_deviation: Any, other_count: Any
) -> Any:
    """The mean, the sum of squared deviations and the count of two samples together."""
    combined = count + other_count
    share = other_count / ct.maximum(combined, 1.0)
    distance = other - mean
    deviations = deviation + other_deviation + distance * distance * count * share
    return mean + distance * share, deviations, combined


@ct.kernel
def moments(x: ct.Array, mean: ct.Array, variance: ct.Array, tr: Size, tc: Size) -> None:
    """Mean and variance of each row in one pass, by a reduction of three tiles."""
    row, columns = ct.bid(0), x.shape[1]
    means, deviations, counts = zeros(tr, tc), zeros(tr, tc), zeros(tr, tc)
    for i in range(tiles_along(columns, tc)):
        tile = ct.load(x, (row, i), (tr, tc), padding_mode=ZERO).astype(ct.float32)
        exists = (i * tc + ct.arange(tc, dtype=ct.int32))[None, :] < columns
        more = ct.where(exists, counts + 1.0, counts)
        distance = ct.where(exists, tile - means, 0.0)
        nearer = means + distance / ct.maximum(more, 1.0)
        deviations += distance * (tile - nearer)
        means, counts = nearer, more
    own_mean, own_deviation, count = ct.reduce(
        (means, deviations, counts), axis=1, func=merged_moments, identity=(0.0, 0.0, 0.0)
    )
    ct.store(mean, (row,), tile=own_mean)
    ct.store(variance, (row,), tile=own_deviation / count)
