"""Launches of the validation kernels of `validation_decode.py`, with their results in f32."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import validation_decode as kernels
from attention_decode_launches import combination, partial_results
from attention_indexed_launches import lengths_of
from attention_launches import SPREAD, Launch, Operands, attention, operands
from variant_arrays import Arrays
from variant_sizes import Shape, Step, ceil_div


def window(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Decode with a window.

    The shape is batch, heads, heads of K and V, tokens, size of a head and window.
    """
    batch, heads, kv_heads, tokens, width, size = shape
    q = arrays.uniform(batch, kv_heads, heads // kv_heads, width, dtype=dtype)
    k, v = (arrays.uniform(batch, tokens, kv_heads, width, dtype=dtype) for _ in range(2))
    out = arrays.zeros(*q.shape, dtype=dtype)
    lengths, scale = lengths_of(batch, tokens), SPREAD / math.sqrt(width)

    def expected() -> tuple[Any, ...]:
        distance = lengths[:, None, None] - np.arange(tokens)[None, None, :]
        mask = ((distance > 0) & (distance <= size)).astype(np.float32)
        given = Operands(q, k.swapaxes(1, 2), v.swapaxes(1, 2), out, scale)
        return attention(arrays, given, mask)[:1]

    arguments = (q, k, v, arrays.upload(lengths), out, scale, size, *tile, width)
    steps = (Step(kernels.window, (kv_heads, batch), arguments),)
    flops = 4.0 * heads * width * float(np.minimum(lengths, size).sum())
    return Launch(steps, (out,), expected, flops)


def transposed_parts(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Decode in parts; the shape is batch, heads, heads of K and V, keys and size of a head.

    The tile ends with the number of parts.
    """
    batch, heads, kv_heads, keys, width = shape
    *sizes, parts = tile
    given = operands(arrays, (batch, kv_heads, kv_heads, heads // kv_heads, keys, width), dtype)
    by_element = arrays.uniform(batch, kv_heads, width, keys, dtype=dtype)
    results, logarithms = partial_results(arrays, given.q.shape, parts, width)
    arguments = (given.q, by_element, given.v, results, logarithms, given.scale, parts, *sizes)

    def expected() -> tuple[Any, ...]:
        return attention(arrays, given._replace(k=by_element.swapaxes(2, 3)))[:1]

    steps = (
        Step(kernels.transposed_parts, (parts, kv_heads, batch), (*arguments, width)),
        combination(results, logarithms, given.out),
    )
    return Launch(steps, (given.out,), expected, 4.0 * batch * heads * keys * width)


def latent_fp8_parts(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Decode of latent attention in parts, with latents in fp8.

    The shape is batch, heads, keys, latent and rope elements; the tile ends with the parts.
    """
    batch, heads, keys, width, rope = shape
    *sizes, parts = tile
    scale = SPREAD / math.sqrt(width + rope)
    q = arrays.uniform(batch, heads, width, dtype=dtype)
    turned = arrays.uniform(batch, heads, rope, dtype=dtype)
    latents = arrays.uniform(batch, keys, width, dtype="float8_e4m3fn")
    scales = arrays.uniform(batch, keys, dtype="float32") + 1
    keys_rope = arrays.uniform(batch, keys, rope, dtype=dtype)
    out = arrays.zeros(batch, heads, width, dtype=dtype)
    results, logarithms = partial_results(arrays, (batch, 1, heads), parts, width)

    def expected() -> tuple[Any]:
        whole_q = arrays.zeros(batch, heads, width + rope, dtype="float32")
        whole_q[:, :, :width], whole_q[:, :, width:] = arrays.f32(q), arrays.f32(turned)
        whole_k = arrays.zeros(batch, keys, width + rope, dtype="float32")
        whole_k[:, :, :width] = arrays.f32(latents) * scales[:, :, None]
        whole_k[:, :, width:] = arrays.f32(keys_rope)
        given = Operands(
            whole_q[:, None], whole_k[:, None], whole_k[:, None, :, :width], out[:, None], scale
        )
        return (attention(arrays, given)[0][:, 0],)

    arrays_in = (q, turned, latents, scales, keys_rope)
    arguments = (*arrays_in, results, logarithms, scale, parts, *sizes, width, rope)
    steps = (
        Step(kernels.latent_fp8_parts, (ceil_div(heads, sizes[0]), parts, batch), arguments),
        combination(results, logarithms, out[:, None]),
    )
    flops = 2.0 * batch * heads * keys * (2 * width + rope)
    return Launch(steps, (out,), expected, flops)


def drafts(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Decode of several tokens.

    The shape is batch, heads of K and V, heads of a group, tokens, keys and size of a head.
    """
    batch, kv_heads, group, tokens, keys, width = shape
    scale = SPREAD / math.sqrt(width)
    q = arrays.uniform(batch, kv_heads, tokens * group, width, dtype=dtype)
    cache = arrays.uniform(batch, 2, kv_heads, keys, width, dtype=dtype)
    out = arrays.zeros(*q.shape, dtype=dtype)
    lengths = lengths_of(batch, keys)

    def expected() -> tuple[Any, ...]:
        last = lengths[:, None] - tokens + np.arange(tokens * group)[None, :] // group
        mask = (np.arange(keys)[None, None, :] <= last[:, :, None]).astype(np.float32)
        given = Operands(q, cache[:, 0], cache[:, 1], out, scale)
        return attention(arrays, given, mask)[:1]

    arguments = (q, cache, arrays.upload(lengths), out, scale, group, tokens, *tile, width)
    steps = (Step(kernels.drafts, (kv_heads, batch), arguments),)
    flops = 4.0 * kv_heads * tokens * group * width * float(lengths.sum())
    return Launch(steps, (out,), expected, flops)
