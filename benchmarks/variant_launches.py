"""Launches of dense and fused GEMM variants, with their results by torch or NumPy in f32."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import variant_fused as fused
import variant_kernels as dense
from variant_arrays import Arrays
from variant_sizes import Grid, Shape, Step, ceil_div


class Launch(NamedTuple):
    """A kernel and its arguments."""

    kernel: Any
    grid: Grid
    arguments: tuple[Any, ...]
    result: Any
    """The array among the arguments that the kernel writes."""
    expected: Callable[[], Any]
    """Compute the result in f32."""
    flops: float
    tolerance: float = 0.02

    @property
    def steps(self) -> tuple[Step]:
        """The only kernel."""
        return (Step(self.kernel, self.grid, self.arguments),)

    def compared(self) -> tuple[tuple[Any, Any]]:
        """The result with its elements computed in f32."""
        return ((self.result, self.expected()),)


Build = Callable[[Arrays, Shape, Shape, str], Launch]
"""Create a launch for arrays, a shape, a tile and an element type."""


def grid_of(shape: Shape, tile: Shape) -> tuple[int, int]:
    """The rows and columns of tiles of C."""
    return ceil_div(shape[0], tile[0]), ceil_div(shape[1], tile[1])


def one_axis(shape: Shape, tile: Shape) -> tuple[int]:
    """All tiles of C, along one axis of the grid."""
    return (math.prod(grid_of(shape, tile)),)


def flops_of(shape: Shape) -> float:
    """The operations of a GEMM, or of a batch of them."""
    return 2.0 * math.prod(shape)


def simple(kernel: Any, *, result: str = "", planar: bool = False) -> Build:
    """A GEMM of A and B, both row-major; `planar` kernels have a grid of rows and columns."""

    def build(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
        m, n, k = shape
        a, b = arrays.uniform(m, k, dtype=dtype), arrays.uniform(k, n, dtype=dtype)
        c = arrays.zeros(m, n, dtype=result or dtype)
        grid = grid_of(shape, tile) if planar else one_axis(shape, tile)
        expected = lambda: arrays.f32(a) @ arrays.f32(b)  # noqa: E731
        return Launch(kernel, grid, (a, b, c, *tile), c, expected, flops_of(shape))

    return build


def with_occupancy(build: Build, blocks: int) -> Build:
    """The same with the hint `occupancy`."""

    def hinted(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
        launch = build(arrays, shape, tile, dtype)
        return launch._replace(kernel=launch.kernel.replace_hints(occupancy=blocks))

    return hinted


def transposed(kernel: Any, *, of_a: bool, of_b: bool) -> Build:
    """A GEMM of A given as K by M, and B as N by K."""

    def build(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
        m, n, k = shape
        a = arrays.uniform(*((k, m) if of_a else (m, k)), dtype=dtype)
        b = arrays.uniform(*((n, k) if of_b else (k, n)), dtype=dtype)
        c = arrays.zeros(m, n, dtype=dtype)

        def expected() -> Any:
            left, right = arrays.f32(a), arrays.f32(b)
            return (left.T if of_a else left) @ (right.T if of_b else right)

        arguments = (a, b, c, of_a, of_b, *tile)
        return Launch(kernel, one_axis(shape, tile), arguments, c, expected, flops_of(shape))

    return build


def persistent(kernel: Any, *, b_transposed: bool, result: str = "") -> Build:
    """A GEMM with one block for each multiprocessor."""

    def build(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
        m, n, k = shape
        a = arrays.uniform(m, k, dtype=dtype)
        b = arrays.uniform(*((n, k) if b_transposed else (k, n)), dtype=dtype)
        c = arrays.zeros(m, n, dtype=result or dtype)

        def expected() -> Any:
            right = arrays.f32(b)
            return arrays.f32(a) @ (right.T if b_transposed else right)

        grid = (arrays.multiprocessors,)
        return Launch(kernel, grid, (a, b, c, *tile), c, expected, flops_of(shape))

    return build


def split_k(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A GEMM whose K is divided among the blocks of the third axis of the grid."""
    parts = 8
    plain = simple(dense.split_k, result="float32")(arrays, shape, tile, dtype)
    a, b, c = plain.arguments[:3]
    grid = (*grid_of(shape, tile), parts)
    return plain._replace(grid=grid, arguments=(a, b, c, parts, *tile))


def batched(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A batch of GEMMs; shape and tile begin with the batch."""
    batch, m, n, k = shape
    a, b = arrays.uniform(batch, m, k, dtype=dtype), arrays.uniform(batch, k, n, dtype=dtype)
    c = arrays.zeros(batch, m, n, dtype=dtype)
    grid = (*grid_of(shape[1:], tile[1:]), ceil_div(batch, tile[0]))
    expected = lambda: arrays.f32(a) @ arrays.f32(b)  # noqa: E731
    return Launch(dense.batched, grid, (a, b, c, *tile), c, expected, flops_of(shape))


def gram(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A matrix times its transpose."""
    m, n, k = shape
    a, c = arrays.uniform(m, k, dtype=dtype), arrays.zeros(m, n, dtype=dtype)
    expected = lambda: arrays.f32(a) @ arrays.f32(a).T  # noqa: E731
    grid = one_axis(shape, tile)
    return Launch(dense.gram, grid, (a, c, *tile), c, expected, flops_of(shape))


def bias_gelu(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A GEMM with bias and GELU."""
    plain = simple(fused.bias_gelu)(arrays, shape, tile, dtype)
    a, b, c = plain.arguments[:3]
    bias = arrays.uniform(shape[1], dtype=dtype)

    def expected() -> Any:
        x = plain.expected() + arrays.f32(bias)[None, :]
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        return 0.5 * x * (1 + arrays.namespace.tanh(inner))

    return plain._replace(arguments=(a, b, bias, c, *tile), expected=expected)


def residual(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A GEMM with a scale for each row, and another matrix added."""
    plain = simple(fused.residual)(arrays, shape, tile, dtype)
    a, b, c = plain.arguments[:3]
    scale = arrays.uniform(shape[0], dtype="float32")
    other = arrays.uniform(*shape[:2], dtype=dtype)
    expected = lambda: plain.expected() * scale[:, None] + arrays.f32(other)  # noqa: E731
    return plain._replace(arguments=(a, b, scale, other, c, *tile), expected=expected)


def column_scale(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A GEMM with a scale for each column."""
    plain = simple(fused.column_scale, planar=True)(arrays, shape, tile, dtype)
    a, b, c = plain.arguments[:3]
    scale = arrays.uniform(shape[1], dtype=dtype)
    expected = lambda: plain.expected() * arrays.f32(scale)[None, :]  # noqa: E731
    return plain._replace(arguments=(a, b, scale, c, *tile), expected=expected)


def swiglu(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Two GEMMs that share A."""
    gate = simple(fused.swiglu)(arrays, shape, tile, dtype)
    a, b, c = gate.arguments[:3]
    up = arrays.uniform(shape[2], shape[1], dtype=dtype)

    def expected() -> Any:
        x = gate.expected()
        return x / (1 + arrays.namespace.exp(-x)) * (arrays.f32(a) @ arrays.f32(up))

    arguments = (a, b, up, c, *tile)
    return gate._replace(arguments=arguments, expected=expected, flops=2 * gate.flops)


def softmax(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A GEMM with the softmax of each row."""
    plain = simple(fused.softmax)(arrays, shape, tile, dtype)

    def expected() -> Any:
        x = arrays.namespace.exp(plain.expected())
        return x / x.sum(1)[:, None]

    return plain._replace(expected=expected)


def rms_norm(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A GEMM of normalized rows of A."""
    epsilon = 1e-5
    plain = simple(fused.rms_norm)(arrays, shape, tile, dtype)
    a, b, c = plain.arguments[:3]

    def expected() -> Any:
        mean_square = (arrays.f32(a) ** 2).mean(1)
        return plain.expected() / (mean_square + epsilon)[:, None] ** 0.5

    return plain._replace(arguments=(a, b, c, epsilon, *tile), expected=expected)


def chain(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Attention without softmax; the shape is heads, queries, keys and their width."""
    heads, queries, keys, width = shape
    q = arrays.uniform(heads, queries, width, dtype=dtype)
    k, v = (arrays.uniform(heads, keys, width, dtype=dtype) for _ in range(2))
    c = arrays.zeros(heads, queries, width, dtype=dtype)

    def expected() -> Any:
        scores = arrays.namespace.einsum("hqd,hkd->hqk", arrays.f32(q), arrays.f32(k))
        return scores @ arrays.f32(v)

    grid = (ceil_div(queries, tile[0]), heads)
    return Launch(fused.chain, grid, (q, k, v, c, *tile), c, expected, 2 * flops_of(shape))


def lora(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """A GEMM and one of low rank; the shape ends with the rank."""
    m, n, k, rank = shape
    plain = simple(fused.lora)(arrays, (m, n, k), tile, dtype)
    x, w, c = plain.arguments[:3]
    a, b = arrays.uniform(k, rank, dtype=dtype), arrays.uniform(rank, n, dtype=dtype)

    def expected() -> Any:
        return plain.expected() + arrays.f32(x) @ arrays.f32(a) @ arrays.f32(b)

    flops = plain.flops + 2.0 * m * rank * (k + n)
    return plain._replace(arguments=(x, w, a, b, c, rank, *tile), expected=expected, flops=flops)
