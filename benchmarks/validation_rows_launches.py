"""Launches of the validation kernels of `validation_rows.py`, with their results in f32."""

from __future__ import annotations

from typing import Any

import numpy as np
import validation_rows as kernels
from attention_launches import Launch, padded_width
from variant_arrays import Arrays
from variant_sizes import Shape, Step, ceil_div

EPSILON = 1e-5
PARTS_TILE = (32, 64)
"""The tile of the kernel that adds the gradients of all blocks."""


def layer_norm_backward(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """The gradients of layer norm; the tile is a number of rows."""
    rows, width = shape
    blocks = 2 * arrays.multiprocessors
    x, gradient = (arrays.uniform(rows, width, dtype=dtype) for _ in range(2))
    weight, of_x = arrays.uniform(width, dtype=dtype), arrays.zeros(rows, width, dtype=dtype)
    parts = [arrays.zeros(blocks, width, dtype="float32") for _ in range(2)]
    of_weight, of_bias = (arrays.zeros(width, dtype="float32") for _ in range(2))
    mean, inverse = (arrays.zeros(rows, dtype="float32") for _ in range(2))
    if arrays.is_filled:
        mean = arrays.f32(x).mean(1)
        inverse = ((arrays.f32(x) - mean[:, None]) ** 2).mean(1) ** -0.5

    def expected() -> tuple[Any, Any, Any]:
        normal, given = (arrays.f32(x) - mean[:, None]) * inverse[:, None], arrays.f32(gradient)
        scaled = given * arrays.f32(weight)[None, :]
        level, along = scaled.mean(1)[:, None], (scaled * normal).mean(1)[:, None]
        result = (scaled - normal * along - level) * inverse[:, None]
        return result, (given * normal).sum(0), given.sum(0)

    operands = (x, gradient, weight, mean, inverse, of_x)
    steps = (
        Step(
            kernels.layer_norm_backward, (blocks,), (*operands, *parts, *tile, padded_width(width))
        ),
        Step(
            kernels.add_rows,
            (ceil_div(width, PARTS_TILE[1]),),
            (*parts, of_weight, of_bias, *PARTS_TILE),
        ),
    )
    return Launch(steps, (of_x, of_weight, of_bias), expected, 12.0 * rows * width)


def rms_norm_backward(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """The gradients of RMS norm."""
    rows, width = shape
    x, gradient = (arrays.uniform(rows, width, dtype=dtype) for _ in range(2))
    weight, of_x = arrays.uniform(width, dtype=dtype), arrays.zeros(rows, width, dtype=dtype)

    def expected() -> tuple[Any]:
        inverse = ((arrays.f32(x) ** 2).mean(1)[:, None] + EPSILON) ** -0.5
        normal = arrays.f32(x) * inverse
        scaled = arrays.f32(gradient) * arrays.f32(weight)[None, :]
        return ((scaled - normal * (scaled * normal).mean(1)[:, None]) * inverse,)

    arguments = (x, gradient, weight, of_x, EPSILON, *tile)
    steps = (Step(kernels.rms_norm_backward, (ceil_div(rows, tile[0]),), arguments),)
    return Launch(steps, (of_x,), expected, 9.0 * rows * width)


def group_norm(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Group norm; the shape is batch, groups, channels of a group and pixels."""
    batch, groups, channels, pixels = shape
    x = arrays.uniform(batch, groups * channels, pixels, dtype=dtype)
    weight, bias = (arrays.uniform(groups * channels, dtype="float32") for _ in range(2))
    out = arrays.zeros(*x.shape, dtype=dtype)

    def expected() -> tuple[Any]:
        grouped = arrays.f32(x).reshape(batch, groups, channels * pixels)
        centered = grouped - grouped.mean(2)[:, :, None]
        normal = centered * ((centered**2).mean(2)[:, :, None] + EPSILON) ** -0.5
        normal = normal.reshape(*x.shape) * weight[None, :, None] + bias[None, :, None]
        return (normal / (1 + arrays.namespace.exp(-normal)),)

    arguments = (x, weight, bias, out, EPSILON, channels, *tile)
    steps = (Step(kernels.group_norm, (groups, batch), arguments),)
    return Launch(steps, (out,), expected, 10.0 * batch * groups * channels * pixels)


def cross_entropy(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Losses and gradients of logits; the shape is rows and classes."""
    rows, classes = shape
    logits, gradient = arrays.uniform(*shape, dtype=dtype), arrays.zeros(*shape, dtype=dtype)
    own = np.random.default_rng(8).integers(0, classes, rows)
    labels = arrays.upload(own.astype(np.int32))
    losses = arrays.zeros(rows, dtype="float32")

    def expected() -> tuple[Any, Any]:
        weights = arrays.namespace.exp(arrays.f32(logits))
        denominators = weights.sum(1)
        result = weights / denominators[:, None]
        every, chosen = arrays.upload(np.arange(rows)), arrays.upload(own)
        result[every, chosen] -= 1
        own_logits = arrays.f32(logits[every, chosen])
        return arrays.namespace.log(denominators) - own_logits, result / rows

    arguments = (logits, labels, losses, gradient, *tile)
    steps = (Step(kernels.cross_entropy, (ceil_div(rows, tile[0]),), arguments),)
    return Launch(steps, (losses, gradient), expected, 6.0 * rows * classes)


def top_2(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """The two best experts of tokens; the shape is tokens and experts, the tile tokens."""
    tokens, count = shape
    # All logits of a token differ, so that there is one result.
    ranks = np.random.default_rng(7).permuted(
        np.tile(np.arange(count, dtype=np.int16), (tokens, 1)), axis=1
    )
    logits = arrays.upload((ranks / 16).astype(dtype))
    experts = arrays.zeros(tokens, 2, dtype="int32")
    weights = arrays.zeros(tokens, 2, dtype="float32")
    counts = arrays.zeros(count, dtype="int32")

    def expected() -> tuple[Any, Any, Any]:
        chosen = np.argsort(-ranks, axis=1)[:, :2]
        share = 1 / (1 + np.exp(-1 / 16, dtype=np.float32))
        shares = np.tile(np.array([share, 1 - share], np.float32), (tokens, 1))
        totals = np.bincount(chosen.reshape(-1), minlength=count).astype(np.float32)
        return (
            arrays.upload(chosen.astype(np.float32)),
            arrays.upload(shares),
            arrays.upload(totals),
        )

    arguments = (logits, experts, weights, counts, *tile, padded_width(count))
    steps = (Step(kernels.top_2, (ceil_div(tokens, tile[0]),), arguments),)
    return Launch(steps, (experts, weights, counts), expected, 4.0 * tokens * count, tolerance=1e-4)


def moments(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Means and variances of rows."""
    rows, width = shape
    x = arrays.uniform(rows, width, dtype=dtype)
    mean, variance = (arrays.zeros(rows, dtype="float32") for _ in range(2))

    def expected() -> tuple[Any, Any]:
        means = x.mean(1)
        return means, ((x - means[:, None]) ** 2).mean(1)

    steps = (Step(kernels.moments, (ceil_div(rows, tile[0]),), (x, mean, variance, *tile)),)
    return Launch(steps, (mean, variance), expected, 6.0 * rows * width, tolerance=1e-3)
