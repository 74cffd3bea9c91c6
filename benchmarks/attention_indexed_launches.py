"""Launches of attention variants whose keys depend on the block, on lengths or on page tables."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import attention_indexed as kernels
import numpy as np
from attention_launches import (
    SPREAD,
    Build,
    Launch,
    Operands,
    attention,
    causal_mask,
    flops_of,
    operands,
)
from variant_arrays import Arrays
from variant_sizes import Shape, Step, ceil_div


def sliding_window(*, branch: bool) -> Build:
    """Causal attention to a window, which is the last number of the shape."""

    def build(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
        *sizes, window = shape
        given = operands(arrays, tuple(sizes), dtype)
        arguments = (*given, window, branch, given.group, *tile, sizes[-1])
        steps = (Step(kernels.sliding_window, given.grid(tile[0]), arguments),)
        mask = causal_mask(sizes[3], sizes[4], window)
        expected = lambda: attention(arrays, given, mask)[:1]  # noqa: E731
        return Launch(steps, (given.out,), expected, flops_of(tuple(sizes), mask.mean()))

    return build


def lengths_of(count: int, longest: int) -> Any:
    """Lengths of sequences from half of the longest to all of it."""
    lengths = np.random.default_rng(1).integers(longest // 2, longest + 1, count)
    lengths[-1] = longest
    return lengths.astype(np.int32)


def padded(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Attention to the keys before the padding."""
    given = operands(arrays, shape, dtype)
    lengths = lengths_of(shape[0], shape[4])
    mask = (np.arange(shape[4])[None, None, :] < lengths[:, None, None]).astype(np.float32)
    arguments = (*given[:3], arrays.upload(lengths), *given[3:], given.group, *tile, shape[-1])
    steps = (Step(kernels.padded, given.grid(tile[0]), arguments),)
    expected = lambda: attention(arrays, given, mask)[:1]  # noqa: E731
    return Launch(steps, (given.out,), expected, flops_of(shape, lengths.mean() / shape[4]))


def varlen(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Causal attention within sequences; the shape has the longest instead of queries and keys."""
    batch, heads, kv_heads, longest, width = shape
    lengths = lengths_of(batch, longest)
    bounds = np.cumsum([0, *lengths])
    tokens = int(bounds[-1])
    scale = SPREAD / math.sqrt(width)
    q = arrays.uniform(tokens, heads, width, dtype=dtype)
    k, v = (arrays.uniform(tokens, kv_heads, width, dtype=dtype) for _ in range(2))
    out = arrays.zeros(tokens, heads, width, dtype=dtype)

    def expected() -> tuple[Any]:
        result = arrays.zeros(tokens, heads, width, dtype="float32")
        for start, stop in pairwise(bounds):
            parts = (each[start:stop].swapaxes(0, 1)[None] for each in (q, k, v, out))
            part = Operands._make((*parts, scale))
            length = int(stop - start)
            by_head = attention(arrays, part, causal_mask(length, length))[0]
            result[start:stop] = by_head[0].swapaxes(0, 1)
        return (result,)

    offsets = arrays.upload(bounds.astype(np.int32))
    arguments = (q, k, v, offsets, out, scale, heads // kv_heads, *tile, width)
    steps = (Step(kernels.varlen, (ceil_div(longest, tile[0]), heads, batch), arguments),)
    flops = sum(flops_of((1, heads, kv_heads, each, each, width), 0.5) for each in lengths.tolist())
    return Launch(steps, (out,), expected, flops)


class Pages:
    """Caches of K and V in pages of tokens, in any order."""

    __slots__ = ("_arrays", "_table", "k", "table", "v")

    def __init__(self, arrays: Arrays, shape: Shape, page: int, dtype: str) -> None:
        batch, kv_heads, keys, width = shape
        pages = ceil_div(keys, page)
        self._arrays = arrays
        order = np.random.default_rng(2).permutation(batch * pages)
        self._table = order.reshape(batch, pages)
        self.table = arrays.upload(self._table.astype(np.int32))
        self.k, self.v = (
            arrays.uniform(batch * pages, page, kv_heads, width, dtype=dtype) for _ in range(2)
        )

    def in_order(self, cache: Any) -> Any:
        """A cache as batch, heads, tokens and elements."""
        batch, pages = self._table.shape
        _, page, kv_heads, width = cache.shape
        tokens = cache[self._arrays.upload(self._table.reshape(-1))]
        return tokens.reshape(batch, pages * page, kv_heads, width).swapaxes(1, 2)


def paged(kernel: Any) -> Build:
    """Decode from pages; the shape is batch, heads, heads of K and V, keys, page and head."""

    def build(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
        batch, heads, kv_heads, keys, page, width = shape
        group = heads // kv_heads
        pages = Pages(arrays, (batch, kv_heads, keys, width), page, dtype)
        given = operands(arrays, (batch, kv_heads, kv_heads, group, 1, width), dtype)
        lengths = lengths_of(batch, keys)

        def expected() -> tuple[Any, ...]:
            whole = given._replace(k=pages.in_order(pages.k), v=pages.in_order(pages.v))
            columns = np.arange(whole.k.shape[2])[None, None, :]
            mask = (columns < lengths[:, None, None]).astype(np.float32)
            return attention(arrays, whole, mask)[:1]

        uploaded = arrays.upload(lengths)
        arguments = (given.q, pages.k, pages.v, pages.table, uploaded, *given[3:], *tile, width)
        steps = (Step(kernel, (kv_heads, batch), arguments),)
        flops = 4.0 * heads * width * float(lengths.sum())
        return Launch(steps, (given.out,), expected, flops)

    return build


def paged_prefill(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Causal attention to pages of as many tokens as a tile has keys."""
    batch, _, kv_heads, _, keys, width = shape
    given = operands(arrays, shape, dtype)
    pages = Pages(arrays, (batch, kv_heads, keys, width), tile[1], dtype)

    def expected() -> tuple[Any, ...]:
        k, v = (pages.in_order(each)[:, :, :keys] for each in (pages.k, pages.v))
        return attention(arrays, given._replace(k=k, v=v), causal_mask(keys, keys))[:1]

    tables = (pages.k, pages.v, pages.table)
    arguments = (given.q, *tables, *given[3:], given.group, *tile, width)
    steps = (Step(kernels.paged_prefill, given.grid(tile[0]), arguments),)
    return Launch(steps, (given.out,), expected, flops_of(shape, 0.5))


def persistent(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Causal attention with one block for each multiprocessor."""
    given = operands(arrays, shape, dtype)
    arguments = (*given, given.group, *tile, shape[-1])
    steps = (Step(kernels.persistent, (arrays.multiprocessors,), arguments),)
    expected = lambda: attention(arrays, given, causal_mask(*shape[3:5]))[:1]  # noqa: E731
    return Launch(steps, (given.out,), expected, flops_of(shape, 0.5))
