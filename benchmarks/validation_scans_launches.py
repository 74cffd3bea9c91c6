"""Launches of the validation kernels of `validation_scans.py`, with their results in f32."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import validation_scans as kernels
from attention_gradient_launches import linear_flops, linear_operands, random_gates
from attention_launches import Launch
from variant_arrays import Arrays
from variant_sizes import Shape, Step, ceil_div

STATES = 16
"""The elements of the state of a channel of a selective scan."""
BLOCKS_TILE = 1024
"""The tile of the kernel that scans the results of blocks."""


def cumulative_rows(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """The cumulative sum of each row."""
    rows, columns = shape
    x, y = arrays.uniform(rows, columns, dtype=dtype), arrays.zeros(rows, columns, dtype=dtype)
    steps = (Step(kernels.cumulative_rows, (ceil_div(rows, tile[0]),), (x, y, *tile)),)
    expected = lambda: (arrays.namespace.cumsum(x, 1),)  # noqa: E731
    return Launch(steps, (y,), expected, 2.0 * rows * columns, tolerance=1e-3)


def segments(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """The cumulative sum of segments of about a hundred elements; the shape is the element count.

    Three kernels: scan each block, scan the last elements of blocks, and add those to the next.
    """
    (count,) = shape
    blocks = ceil_div(count, tile[0])
    values = arrays.integers(-100, 101, (count,), dtype)
    # Whether a segment starts, and where the segment of each element does.
    flags = np.random.default_rng(9).random(count, dtype=np.float32) < 0.01
    flags[0] = True
    starts = arrays.upload(flags.astype(np.int32))
    out = arrays.zeros(count, dtype=dtype)
    block_starts, block_values, carries = (arrays.zeros(blocks, dtype=dtype) for _ in range(3))

    def expected() -> tuple[Any]:
        firsts = np.maximum.accumulate(np.where(flags, np.arange(count), 0))
        scanned = arrays.namespace.cumsum(values, 0)
        first = arrays.upload(firsts)
        return (arrays.f32(scanned - scanned[first] + values[first]),)

    of_blocks = (block_starts, block_values)
    steps = (
        Step(kernels.scan_segments, (blocks,), (values, starts, out, *of_blocks, *tile)),
        Step(kernels.scan_blocks, (1,), (*of_blocks, carries, BLOCKS_TILE)),
        Step(kernels.carry_segments, (blocks,), (starts, carries, out, *tile)),
    )
    return Launch(steps, (out,), expected, 2.0 * count, tolerance=1e-6)


def linear_recurrence(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A gated recurrence of channels; the shape is batch, tokens and channels."""
    batch, tokens, channels = shape
    x, gates = (arrays.uniform(*shape, dtype=dtype) for _ in range(2))
    h = arrays.zeros(*shape, dtype=dtype)

    def expected() -> tuple[Any]:
        result = arrays.zeros(*shape, dtype="float32")
        state = arrays.zeros(batch, channels, dtype="float32")
        for t in range(tokens):
            decay = 1 / (1 + arrays.namespace.exp(-arrays.f32(gates[:, t])))
            state = decay * state + (1 - decay) * arrays.f32(x[:, t])
            result[:, t] = state
        return (result,)

    grid = (ceil_div(channels, tile[1]), batch)
    steps = (Step(kernels.linear_recurrence, grid, (x, gates, h, *tile)),)
    return Launch(steps, (h,), expected, 4.0 * math.prod(shape))


def selective_scan(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A selective scan; the shape is batch, tokens and channels."""
    batch, tokens, channels = shape
    x, given = (arrays.uniform(*shape, dtype=dtype) for _ in range(2))
    b, c = (arrays.uniform(batch, tokens, STATES, dtype="float32") for _ in range(2))
    log_rates = arrays.uniform(channels, STATES, dtype="float32")
    y = arrays.zeros(*shape, dtype=dtype)

    def expected() -> tuple[Any]:
        exp, log = arrays.namespace.exp, arrays.namespace.log
        rates, result = exp(log_rates)[None], arrays.zeros(*shape, dtype="float32")
        state = arrays.zeros(batch, channels, STATES, dtype="float32")
        for t in range(tokens):
            step = log(1 + exp(arrays.f32(given[:, t])))
            driven = (step * arrays.f32(x[:, t]))[:, :, None] * b[:, t, None, :]
            state = exp(-rates * step[:, :, None]) * state + driven
            result[:, t] = (state * c[:, t, None, :]).sum(2)
        return (result,)

    grid = (ceil_div(channels, tile[0]), batch)
    arguments = (x, given, log_rates, b, c, y, *tile, STATES)
    steps = (Step(kernels.selective_scan, grid, arguments),)
    return Launch(steps, (y,), expected, 6.0 * STATES * math.prod(shape))


def delta_rule(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """The gated delta rule; the shape is heads, tokens, elements of a key and of a value."""
    heads, tokens, width, values = shape
    q, k, v, out = linear_operands(arrays, shape, dtype)
    strengths = arrays.uniform(heads, tokens, dtype="float32") + 0.5
    gates, _ = random_gates(arrays, heads, tokens)

    def unit(array: Any) -> Any:
        wide = arrays.f32(array)
        return wide * ((wide**2).sum(2)[:, :, None] + 1e-6) ** -0.5

    def expected() -> tuple[Any]:
        queries, keys, wide = unit(q), unit(k), arrays.f32(v)
        state = arrays.zeros(heads, width, values, dtype="float32")
        result = arrays.zeros(heads, tokens, values, dtype="float32")
        for t in range(tokens):
            state = state * arrays.namespace.exp(gates[:, t])[:, None, None]
            key = keys[:, t, :, None]
            error = wide[:, t] - (key * state).sum(1)
            state = state + key * (strengths[:, t, None] * error)[:, None, :]
            result[:, t] = (queries[:, t, :, None] * state).sum(1)
        return (result,)

    squarings = tile[0].bit_length() - 2
    arguments = (q, k, v, strengths, gates, out, squarings, *tile, width)
    steps = (Step(kernels.delta_rule, (ceil_div(values, tile[1]), heads), arguments),)
    return Launch(steps, (out,), expected, linear_flops(shape, tile[0]), tolerance=0.02)
