"""Launches of attention variants, with their results by torch or NumPy in f32."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import attention_forward as kernels
import numpy as np
from variant_arrays import Arrays
from variant_sizes import Shape, Step, ceil_div

SPREAD = 12
"""What makes the scores of elements from -0.5 to 0.5 vary by one; their variance is a twelfth."""
SOFT_CAP = 2.0


class Launch(NamedTuple):
    """Kernels that run one after the other, and the arrays that the last ones write."""

    steps: tuple[Step, ...]
    results: tuple[Any, ...]
    expected: Callable[[], tuple[Any, ...]]
    """Compute the results in f32."""
    flops: float
    tolerance: float = 0.01

    def compared(self) -> list[tuple[Any, Any]]:
        """Each result with its elements computed in f32."""
        return list(zip(self.results, self.expected(), strict=True))


Build = Callable[[Arrays, Shape, Shape, str], Launch]


class Operands(NamedTuple):
    """Q, K and V, the array of the same shape as Q for the result, and the scale of scores."""

    q: Any
    k: Any
    v: Any
    out: Any
    scale: float

    @property
    def group(self) -> int:
        """The number of heads of Q for each of K and V."""
        return self.q.shape[1] // self.k.shape[1]

    def grid(self, tm: int) -> tuple[int, int, int]:
        """Tiles of queries, heads and batch."""
        return ceil_div(self.q.shape[2], tm), self.q.shape[1], self.q.shape[0]


def operands(arrays: Arrays, shape: Shape, dtype: str, result: str = "") -> Operands:
    """Operands of a shape: batch, heads, heads of K and V, queries, keys and size of a head."""
    batch, heads, kv_heads, queries, keys, width = shape
    q = arrays.uniform(batch, heads, queries, width, dtype=dtype)
    k, v = (arrays.uniform(batch, kv_heads, keys, width, dtype=dtype) for _ in range(2))
    out = arrays.zeros(batch, heads, queries, width, dtype=result or dtype)
    return Operands(q, k, v, out, SPREAD / math.sqrt(width))


def padded_width(width: int) -> int:
    """The power of two that is at least the size of a head."""
    return 1 << (width - 1).bit_length()


def causal_mask(queries: int, keys: int, window: int = 0) -> Any:
    """One for the keys that a query sees: up to its own, the last `window` of them; else zero."""
    distance = np.arange(queries)[:, None] + keys - queries - np.arange(keys)[None, :]
    visible = (distance >= 0) & (distance < window) if window else distance >= 0
    return visible.astype(np.float32)


def scores_of(arrays: Arrays, given: Operands, batch: int, head: int) -> Any:
    """The scaled scores of a head."""
    key = arrays.f32(given.k[batch, head // given.group])
    return arrays.f32(given.q[batch, head]) @ key.T * given.scale


def attention(
    arrays: Arrays,
    given: Operands,
    mask: Any = None,
    adjust: Callable[[Any, int, int], Any] = lambda scores, batch, head: scores,
) -> tuple[Any, Any]:
    """Attention and the logarithms of its denominators, head by head; scores are small."""
    exp, log = arrays.namespace.exp, arrays.namespace.log
    out = arrays.zeros(*given.out.shape, dtype="float32")
    lse = arrays.zeros(*given.out.shape[:3], dtype="float32")
    uploaded = None if mask is None else arrays.upload(mask)
    for batch in range(given.q.shape[0]):
        for head in range(given.q.shape[1]):
            weights = exp(adjust(scores_of(arrays, given, batch, head), batch, head))
            if uploaded is not None:
                weights = weights * (uploaded if uploaded.ndim == 2 else uploaded[batch])
            denominator = weights.sum(-1)
            value = arrays.f32(given.v[batch, head // given.group])
            out[batch, head] = weights @ value / denominator[:, None]
            lse[batch, head] = log(denominator)
    return out, lse


def flops_of(shape: Shape, visible: float = 1.0) -> float:
    """The operations of both dots; `visible` is the part of the scores that is needed."""
    batch, heads, _, queries, keys, width = shape
    return 4.0 * batch * heads * queries * keys * width * visible


def forward(*, causal: bool, occupancy: int = 0) -> Build:
    """Attention by exp2."""

    def build(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
        given = operands(arrays, shape, dtype)
        mask = causal_mask(*shape[3:5]) if causal else None
        width = padded_width(shape[-1])
        arguments = (*given, causal, given.group, *tile, width)
        kernel: Any = kernels.forward
        if occupancy:
            kernel = kernel.replace_hints(occupancy=occupancy)
        steps = (Step(kernel, given.grid(tile[0]), arguments),)
        expected = lambda: attention(arrays, given, mask)[:1]  # noqa: E731
        return Launch(steps, (given.out,), expected, flops_of(shape, 0.5 if causal else 1))

    return build


def two_loops(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Causal attention in two loops, with the logarithms of denominators."""
    given = operands(arrays, shape, dtype)
    lse = arrays.zeros(*given.q.shape[:3], dtype="float32")
    arguments = (*given[:4], lse, given.scale, given.group, *tile, shape[-1])
    steps = (Step(kernels.two_loops, given.grid(tile[0]), arguments),)
    expected = lambda: attention(arrays, given, causal_mask(*shape[3:5]))  # noqa: E731
    return Launch(steps, (given.out, lse), expected, flops_of(shape, 0.5))


def natural(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Causal attention by exp, with the logarithms of denominators."""
    given = operands(arrays, shape, dtype)
    lse = arrays.zeros(*given.q.shape[:3], dtype="float32")
    arguments = (*given[:4], lse, given.scale, True, given.group, *tile, shape[-1])
    steps = (Step(kernels.natural, given.grid(tile[0]), arguments),)
    expected = lambda: attention(arrays, given, causal_mask(*shape[3:5]))  # noqa: E731
    return Launch(steps, (given.out, lse), expected, flops_of(shape, 0.5))


def soft_cap(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
    """Causal attention with a soft cap."""
    given = operands(arrays, shape, dtype)
    mask, tanh = causal_mask(*shape[3:5]), arrays.namespace.tanh

    def expected() -> tuple[Any, ...]:
        return attention(
            arrays, given, mask, lambda scores, *_: SOFT_CAP * tanh(scores / SOFT_CAP)
        )[:1]

    arguments = (*given, SOFT_CAP, given.group, *tile, shape[-1])
    steps = (Step(kernels.soft_cap, given.grid(tile[0]), arguments),)
    return Launch(steps, (given.out,), expected, flops_of(shape, 0.5))


def biased(bias_type: str) -> Build:
    """Attention with a bias of a type."""

    def build(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
        given = operands(arrays, shape, dtype)
        bias = arrays.uniform(shape[1], *shape[3:5], dtype=bias_type)

        def expected() -> tuple[Any, ...]:
            return attention(
                arrays, given, adjust=lambda scores, _, head: scores + arrays.f32(bias[head])
            )[:1]

        arguments = (*given[:3], bias, given.out, given.scale, given.group, *tile, shape[-1])
        steps = (Step(kernels.biased, given.grid(tile[0]), arguments),)
        return Launch(steps, (given.out,), expected, flops_of(shape))

    return build


def fp8(*, v_transposed: bool) -> Build:
    """Attention of fp8 operands."""

    def build(arrays: Arrays, shape: Shape, tile: Shape, dtype: str) -> Launch:
        given = operands(arrays, shape, dtype, result="bfloat16")
        batch, _, kv_heads, _, keys, width = shape
        columns = arrays.uniform(batch, kv_heads, width, keys, dtype=dtype)
        v = columns if v_transposed else given.v
        if v_transposed:
            given = given._replace(v=columns.swapaxes(2, 3))
        arguments = (given.q, given.k, v, given.out, given.scale, 1.0, v_transposed, *tile, width)
        steps = (Step(kernels.fp8, given.grid(tile[0]), arguments),)
        expected = lambda: attention(arrays, given)[:1]  # noqa: E731
        # Probabilities have three bits after the first.
        return Launch(steps, (given.out,), expected, flops_of(shape), tolerance=0.08)

    return build
