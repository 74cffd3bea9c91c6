"""GEMM kernels in cuTile Python with fused epilogues, or with several dots."""

import math
from typing import Any

import cuda.tile as ct
from gemm_kernels import tile_of_block, tiles_along
from variant_kernels import ZERO, Size

GELU_SCALE = math.sqrt(2 / math.pi)


def gemm_tile(a: Any, b: Any, row: Any, column: Any, tm: int, tn: int, tk: int) -> Any:
    """A tile of `a @ b` in f32."""
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
    return accumulator


def sigmoid(x: Any) -> Any:
    """The logistic function."""
    return 1.0 / (1.0 + ct.exp(-x))


@ct.kernel
def bias_gelu(
    a: ct.Array, b: ct.Array, bias: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size
) -> None:
    """`c = gelu(a @ b + bias)`, by the approximation with tanh."""
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    x = gemm_tile(a, b, row, column, tm, tn, tk)
    x += ct.load(bias, index=(column,), shape=(tn,), padding_mode=ZERO).astype(ct.float32)[None, :]
    inner = GELU_SCALE * (x + 0.044715 * x * x * x)
    ct.store(c, index=(row, column), tile=(0.5 * x * (1.0 + ct.tanh(inner))).astype(c.dtype))


@ct.kernel
def residual(
    a: ct.Array,
    b: ct.Array,
    scale: ct.Array,
    other: ct.Array,
    c: ct.Array,
    tm: Size,
    tn: Size,
    tk: Size,
) -> None:
    """`c = scale * (a @ b) + other`, with a scale for each row."""
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    x = gemm_tile(a, b, row, column, tm, tn, tk)
    x *= ct.load(scale, index=(row,), shape=(tm,), padding_mode=ZERO)[:, None]
    x += ct.load(other, index=(row, column), shape=(tm, tn), padding_mode=ZERO).astype(ct.float32)
    ct.store(c, index=(row, column), tile=x.astype(c.dtype))


@ct.kernel
def column_scale(
    a: ct.Array, b: ct.Array, scale: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size
) -> None:
    """`c = (a @ b) * scale`, with a scale for each column, applied to the rounded result."""
    row, column = ct.bid(0), ct.bid(1)
    x = gemm_tile(a, b, row, column, tm, tn, tk).astype(c.dtype)
    by_column = ct.load(scale, index=(column,), shape=(tn,), padding_mode=ZERO)
    ct.store(c, index=(row, column), tile=x * by_column[None, :])


@ct.kernel
def swiglu(
    a: ct.Array, gate: ct.Array, up: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size
) -> None:
    """`c = silu(a @ gate) * (a @ up)`: two accumulators that share A."""
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    gated = ct.zeros((tm, tn), dtype=ct.float32)
    linear = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(gate, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        gated = ct.mma(left, right, gated)
        right = ct.load(up, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        linear = ct.mma(left, right, linear)
    ct.store(c, (row, column), tile=(gated * sigmoid(gated) * linear).astype(c.dtype))


@ct.kernel
def softmax(a: ct.Array, b: ct.Array, c: ct.Array, tm: Size, tn: Size, tk: Size) -> None:
    """`c = softmax(a @ b)` of each row; one tile is as wide as C."""
    row = ct.bid(0)
    x = gemm_tile(a, b, row, 0, tm, tn, tk)
    x = ct.exp(x - ct.max(x, axis=1, keepdims=True))
    x = x / ct.sum(x, axis=1, keepdims=True)
    ct.store(c, index=(row, 0), tile=ct.astype(x, c.dtype))


@ct.kernel
def rms_norm(
    a: ct.Array, b: ct.Array, c: ct.Array, epsilon: float, tm: Size, tn: Size, tk: Size
) -> None:
    """`c = (a / rms(a)) @ b`, with the mean square of each row of A from the same loads."""
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    squares = ct.zeros((tm, 1), dtype=ct.float32)
    for k in range(tiles_along(a.shape[1], tk)):
        left = ct.load(a, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(b, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
        wide = left.astype(ct.float32)
        squares += ct.sum(wide * wide, axis=1, keepdims=True)
    x = accumulator * ct.rsqrt(squares / a.shape[1] + epsilon)
    ct.store(c, index=(row, column), tile=x.astype(c.dtype))


@ct.kernel
def chain(q: ct.Array, k: ct.Array, v: ct.Array, c: ct.Array, tm: Size, tn: Size, td: Size) -> None:
    """`c = (q @ k.T) @ v` of each head: attention without softmax; a tile is as wide as a head."""
    head, row = ct.bid(1), ct.bid(0)
    query = ct.load(q, index=(head, row, 0), shape=(1, tm, td)).reshape((tm, td))
    accumulator = ct.zeros((tm, td), dtype=ct.float32)
    for i in range(tiles_along(k.shape[1], tn)):
        key = ct.load(k, (head, i, 0), (1, tn, td), padding_mode=ZERO).reshape((tn, td))
        scores = ct.mma(query, key.transpose(), ct.zeros((tm, tn), dtype=ct.float32))
        value = ct.load(v, (head, i, 0), (1, tn, td), padding_mode=ZERO).reshape((tn, td))
        accumulator = ct.mma(scores.astype(v.dtype), value, accumulator)
    ct.store(c, (head, row, 0), tile=accumulator.astype(c.dtype).reshape((1, tm, td)))


@ct.kernel
def lora(
    x: ct.Array,
    w: ct.Array,
    a: ct.Array,
    b: ct.Array,
    c: ct.Array,
    rank: Size,
    tm: Size,
    tn: Size,
    tk: Size,
) -> None:
    """`c = x @ w + (x @ a) @ b`, where `a` has `rank` columns."""
    row, column = tile_of_block(tiles_along(c.shape[0], tm), tiles_along(c.shape[1], tn))
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    low = ct.zeros((tm, rank), dtype=ct.float32)
    for k in range(tiles_along(x.shape[1], tk)):
        left = ct.load(x, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        right = ct.load(w, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        accumulator = ct.mma(left, right, accumulator)
        down = ct.load(a, index=(k, 0), shape=(tk, rank), padding_mode=ZERO)
        low = ct.mma(left, down, low)
    up = ct.load(b, index=(0, column), shape=(rank, tn), padding_mode=ZERO)
    accumulator = ct.mma(low.astype(x.dtype), up, accumulator)
    ct.store(c, index=(row, column), tile=accumulator.astype(c.dtype))
