"""Launches of the sample kernels of cuTile Python, with the results that NumPy computes.

Each function builds one launch for the kernels of a name. The expected result is an array, to the
bit, or a formula of estimates, which bounds the kernel's rounding errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np

from tilewright.ir.attributes import Type
from tilewright.ir.types import F16, F32, F64, TF32
from tilewright.testing.compare import array_difference
from tilewright.testing.estimate import APPROXIMATE, Estimate, apply, given
from tilewright.testing.formulas import (
    Complex,
    attention,
    fourier,
    normalise,
    root_mean_square,
    roots_of_unity,
)

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Result:
    """An array that the kernel writes, and its expected contents."""

    actual: Array
    wanted: Array | Estimate

    def mismatch(self) -> str | None:
        """Return how the array differs from the expected contents, or `None`."""
        with np.errstate(all="ignore"):
            if isinstance(self.wanted, Estimate):
                wrong = self.wanted.difference(self.actual)
            else:
                wrong = array_difference(self.actual, self.wanted)
        return None if wrong is None else str(wrong)


@dataclass(frozen=True)
class Launch:
    """A grid, arguments, and the results to compare.

    `leaves_open` says why the specification leaves the result open; such a kernel only runs without
    the checker.
    """

    grid: tuple[int, ...]
    arguments: tuple[Any, ...]
    results: list[Result]
    leaves_open: str | None = None


CASES: Final[dict[str, list[Callable[[], Launch]]]] = {}


def case(*names: str) -> Callable[[Callable[[], Launch]], Callable[[], Launch]]:
    """Register a launch under the names of kernels that it fits."""

    def file(build: Callable[[], Launch]) -> Callable[[], Launch]:
        for name in names:
            CASES.setdefault(name, []).append(build)
        return build

    return file


def normal(seed: int, *shape: int, dtype: Any = np.float32) -> Array:
    """Return normally distributed numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def single(array: Array) -> Estimate:
    """The elements of an array in single precision."""
    return given(array).rounded(F32)


def _vectors(dtype: Any, *shape: int) -> tuple[Array, Array, Array]:
    return normal(1, *shape, dtype=dtype), normal(2, *shape, dtype=dtype), np.zeros(shape, dtype)


@case("vec_add_kernel_1d", "vec_add_kernel_1d_gather", "vector_add")
def vector_add() -> Launch:
    """Vectors in f32, with a ragged edge."""
    a, b, c = _vectors(np.float32, 1000)
    return Launch((8,), (a, b, c, 128), [Result(c, a + b)])


@case("vec_add_kernel_2d", "vec_add_kernel_2d_gather")
def matrix_add() -> Launch:
    """Matrices in bf16, with ragged edges."""
    a, b, c = _vectors(ml_dtypes.bfloat16, 100, 70)
    return Launch((4, 5), (a, b, c, 32, 16), [Result(c, a + b)])


@case("transpose_kernel")
def transpose() -> Launch:
    """f16, with ragged edges."""
    x = normal(1, 100, 70, dtype=np.float16)
    y = np.zeros((70, 100), np.float16)
    return Launch((4, 3), (x, y, 32, 32), [Result(y, x.T)])


def _gemm(dtype: Any, out: Any, operands: Type | None = None) -> tuple[Array, Array, Array, Result]:
    a, b = normal(1, 100, 90, dtype=dtype), normal(2, 90, 130, dtype=dtype)
    c = np.zeros((100, 130), out)
    left, right = given(a), given(b)
    if operands is not None:
        left, right = left.rounded(operands), right.rounded(operands)
    return a, b, c, Result(c, left @ right)


@case("matmul_kernel")
def matmul_f16() -> Launch:
    """f16, with ragged edges."""
    a, b, c, result = _gemm(np.float16, np.float16)
    return Launch((4 * 5,), (a, b, c, 32, 32, 32), [result])


@case("matmul_kernel", "persistent_matmul_kernel")
def matmul_tf32() -> Launch:
    """f32 as tf32, with ragged edges."""
    a, b, c, result = _gemm(np.float32, np.float32, TF32)
    return Launch((4 * 5,), (a, b, c, 32, 32, 32), [result])


@case("persistent_matmul_kernel")
def matmul_persistent() -> Launch:
    """bf16, three blocks for twenty tiles."""
    a, b, c, result = _gemm(ml_dtypes.bfloat16, ml_dtypes.bfloat16)
    return Launch((3,), (a, b, c, 32, 32, 32), [result])


@case("matmul_split_k_kernel")
def matmul_split_k() -> Launch:
    """f16, three blocks accumulate into each tile under locks."""
    a, b, c, result = _gemm(np.float16, np.float32)
    locks, counts = np.zeros(20, np.int32), np.zeros(20, np.int32)
    zeros = [Result(array, np.zeros(20, np.int32)) for array in (locks, counts)]
    return Launch((20, 3), (a, b, c, locks, counts, 32, 32, 16, 3), [result, *zeros])


@case("batch_matmul_kernel")
def matmul_batched() -> Launch:
    """f16, with ragged edges."""
    a, b = normal(1, 3, 50, 40, dtype=np.float16), normal(2, 3, 40, 60, dtype=np.float16)
    c = np.zeros((3, 50, 60), np.float16)
    return Launch((3, 2, 2), (a, b, c, 32, 32, 16), [Result(c, given(a) @ given(b))])


@case("batch_matmul_kernel")
def matmul_batched_f8() -> Launch:
    """f8E4M3FN into f16."""
    f8 = ml_dtypes.float8_e4m3fn
    a, b = normal(1, 2, 64, 32, dtype=f8), normal(2, 2, 32, 64, dtype=f8)
    c = np.zeros((2, 64, 64), np.float16)
    return Launch((2, 2, 2), (a, b, c, 32, 32, 16), [Result(c, given(a) @ given(b))])


@case("gather_matmul_kernel")
def matmul_gathered() -> Launch:
    """A list of three matrices, f32 as tf32."""
    parts = [normal(seed, 64, 48, dtype=np.float32) for seed in range(3)]
    w, out = normal(7, 48, 64), np.zeros((192, 64), np.float32)
    whole = given(np.concatenate(parts)).rounded(TF32)
    result = Result(out, whole @ given(w).rounded(TF32))
    return Launch((6, 2), (parts, w, out, 32, 32, 16), [result])


@case("grouped_matmul_kernel")
def matmul_grouped() -> Launch:
    """Lists of three matmuls, f16."""
    sizes = [(40, 50, 60), (64, 32, 16), (10, 100, 70)]
    a = [normal(1, m, k, dtype=np.float16) for m, k, _ in sizes]
    b = [normal(2, k, n, dtype=np.float16) for _, k, n in sizes]
    c = [np.zeros((m, n), np.float16) for m, _, n in sizes]
    results = [Result(z, given(x) @ given(y)) for x, y, z in zip(a, b, c, strict=True)]
    return Launch((4,), (a, b, c, 4, 32, 32, 32), results)


def _scaled(swizzled: bool) -> Launch:
    m, k, n, block = 128, 256, 256, 32
    f8, scale = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
    rng = np.random.default_rng(3)
    a, b = normal(1, m, k, dtype=f8), normal(2, k, n, dtype=f8)
    sa = (2.0 ** rng.integers(-3, 4, (m, k // block))).astype(scale)
    sb = (2.0 ** rng.integers(-3, 4, (n, k // block))).astype(scale)
    c = np.zeros((m, n), np.float32)
    left = Estimate(given(a).value * given(sa).value.repeat(block, axis=1))
    right = Estimate(given(b).value * given(sb).value.repeat(block, axis=1).T)
    scales = (_swizzle(sa), _swizzle(sb)) if swizzled else (sa, np.ascontiguousarray(sb.T))
    arguments = (a, scales[0], b, scales[1], c, 128, 128, 128, block)
    return Launch((2,), arguments, [Result(c, left @ right)])


def _swizzle(scale: Array) -> Array:
    rows, columns = scale.shape
    blocks = scale.reshape(rows // 128, 4, 32, columns // 4, 4).transpose(0, 3, 2, 1, 4)
    return np.ascontiguousarray(blocks).reshape(rows // 128, columns // 4, 32, 16)


@case("block_scaled_matmul_kernel")
def matmul_scaled() -> Launch:
    """f8E4M3FN with scales."""
    return _scaled(False)


@case("block_scaled_matmul_kernel")
def matmul_scaled_swizzled() -> Launch:
    """f8E4M3FN with scales in the order of tensor memory."""
    return _scaled(True)


def _attention(causal: bool, group: int, keys: int) -> Launch:
    batch, heads, queries, head, tile_m, tile_n = 2, 4, 64, 32, 32, 16
    q = normal(1, batch, heads, queries, head, dtype=np.float16)
    k = normal(2, batch, heads // group, keys, head, dtype=np.float16)
    v = normal(3, batch, heads // group, keys, head, dtype=np.float16)
    out = np.zeros_like(q)
    scale, ragged = head**-0.5, keys % tile_n != 0
    seen = np.tri(queries, keys, dtype=bool) if causal else np.ones((queries, keys), bool)
    keys_values = [given(array).repeat(group, 1) for array in (k, v)]
    powers = Estimate(scale, 0.0, F64).rounded(F32) * (1 / np.log(2))
    wanted = attention(
        given(q), keys_values[0], keys_values[1], powers, seen,
        tile=tile_n, base="exp2", weights=F16, ulps=APPROXIMATE,
    )  # fmt: skip
    shape = (head, heads, tile_m, tile_n, group, causal, not ragged)
    grid = (queries // tile_m, batch * heads)
    reason = "multiplies the elements after the last value, which it does not pad, by zero"
    arguments = (q, k, v, out, scale, 0, *shape)
    return Launch(grid, arguments, [Result(out, wanted)], reason if ragged else None)


@case("fmha_kernel")
def attention_ragged() -> Launch:
    """Every key, with a ragged edge, f16."""
    return _attention(False, 1, 56)


@case("fmha_kernel")
def attention_causal_grouped() -> Launch:
    """Causal, two heads share keys, f16."""
    return _attention(True, 2, 64)


def _table(rows: int, columns: int, period: int) -> Array:
    parts = roots_of_unity(rows, columns, period)
    return np.stack([part.value for part in parts], axis=-1).astype(np.float32)


def _transform(batch: int, radices: tuple[int, int, int]) -> tuple[Array, tuple[Array, ...], Any]:
    f0, f1, f2 = radices
    size = f0 * f1 * f2
    x = normal(1, batch, size, 2)
    tables = (
        _table(f0, f0, f0),
        _table(f1, f1, f1),
        _table(f2, f2, f2),
        _table(f0, f1 * f2, size),
        _table(f1, f2, f1 * f2),
    )
    numbers = Complex(given(x[..., 0]), given(x[..., 1]))
    exact = np.fft.fft(numbers.real.value + 1j * numbers.imaginary.value)
    actual = fourier(numbers, radices)
    errors = np.stack([part.error for part in actual], axis=-1)
    return x, tables, Estimate(np.stack([exact.real, exact.imag], axis=-1), errors)


@case("fft_kernel/13")
def fft() -> Launch:
    """256 points, packed."""
    radices, packed = (4, 8, 8), 16
    x, tables, wanted = _transform(3, radices)
    size = x.shape[1]
    y = np.zeros((3, size * 2 // packed, packed), np.float32)
    arguments = (x.reshape(y.shape), y, *tables, size, *radices, 1, packed)
    return Launch((3,), arguments, [Result(y.reshape(x.shape), wanted)])


@case("fft_kernel/11")
def fft_plain() -> Launch:
    """256 points."""
    radices = (4, 8, 8)
    x, tables, wanted = _transform(3, radices)
    y = np.zeros_like(x)
    return Launch((3,), (x, y, *tables, x.shape[1], *radices), [Result(y, wanted)])


@case("layer_norm_fwd")
def layer_norm() -> Launch:
    """f32, with a ragged edge."""
    rows, columns, eps = 10, 300, 1e-5
    x, w, b = normal(1, rows, columns), normal(2, columns), normal(3, columns)
    y, mean, scale = np.zeros_like(x), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    wanted = normalise(given(x), eps)
    results = [
        Result(y, wanted.rows * given(w) + given(b)),
        Result(mean, wanted.mean),
        Result(scale, wanted.scale),
    ]
    return Launch((rows,), (x, w, b, y, mean, scale, eps, 128), results)


@case("layer_norm_bwd_dx_partial_dwdb")
def layer_norm_gradient() -> Launch:
    """f32, accumulated under locks."""
    rows, columns, groups = 12, 200, 4
    x, w, dy = normal(1, rows, columns), normal(2, columns), normal(3, rows, columns)
    means, scales = (part.value.astype(np.float32) for part in normalise(given(x), 1e-5)[:2])
    dx, dw, db = np.zeros_like(x), *(np.zeros((groups, columns), np.float32) for _ in "wb")
    normal_rows = (given(x) - given(means)) * given(scales)
    weighted = given(w) * given(dy)
    slopes = weighted - (normal_rows * (normal_rows * weighted).mean() + weighted.mean())
    grouped = np.arange(rows).reshape(-1, groups)
    partials = [terms[grouped].sum(0)[0] for terms in (given(dy) * normal_rows, given(dy))]
    locks = np.zeros(groups, np.int32)
    results = [
        Result(dx, slopes * given(scales)),
        Result(dw, partials[0]),
        Result(db, partials[1]),
        Result(locks, np.zeros(groups, np.int32)),
    ]
    mean, scale = means[:, 0], scales[:, 0]
    return Launch((rows,), (dx, dy, dw, db, x, w, mean, scale, locks, 64), results)


@case("layer_norm_bwd_dwdb")
def layer_norm_gradient_reduce() -> Launch:
    """Reduce the partial gradients."""
    dw, db = normal(1, 20, 200), normal(2, 20, 200)
    outputs = [np.zeros(200, np.float32) for _ in "wb"]
    pairs = zip(outputs, (dw, db), strict=True)
    results = [Result(output, given(parts).sum(0)) for output, parts in pairs]
    return Launch((4,), (dw, db, *outputs, 8, 64), results)


def _rms(columns: int) -> tuple[Array, Array, Result, Estimate]:
    x, w = normal(1, 10, columns, dtype=np.float16), normal(2, columns, dtype=np.float16)
    scale = root_mean_square(single(x), 1e-5)
    return x, w, Result(np.zeros_like(x), single(x) * scale * single(w)), scale


@case("rms_norm_kernel", "rms_norm_kernel_gather")
def rms_norm() -> Launch:
    """f16, with a ragged edge."""
    x, w, result, wanted = _rms(300)
    scale = np.zeros(10, np.float32)
    arguments = (x, w, result.actual, scale, 300, 1e-5, 128)
    return Launch((10,), arguments, [result, Result(scale, wanted)])


@case("rms_norm_kernel_static_persistent")
def rms_norm_persistent() -> Launch:
    """f16, two blocks for ten rows."""
    x, w, result, _ = _rms(256)
    return Launch((2,), (x, result.actual, w, 4, 64, 256, 1e-5), [result])


def _route(choices: Array, tile: int, experts: int) -> tuple[Array, Array]:
    """Token replicas by expert, filled up to whole tiles, and the expert of each tile."""
    flat = choices.reshape(-1)
    tokens: list[int] = []
    owners: list[int] = []
    for expert in range(experts):
        mine = [int(index) for index in np.flatnonzero(flat == expert)]
        padding = -len(mine) % tile
        tokens += mine + [flat.size] * padding
        owners += [expert] * ((len(mine) + padding) // tile)
    return np.array(tokens, np.int32), np.array(owners, np.int32)


@case("fused_moe_kernel")
def mixture_of_experts() -> Launch:
    """Two of four experts for each of twenty tokens."""
    count, chosen, experts, inner, width = 20, 2, 4, 48, 64
    tile_m, tile_n, tile_k = 16, 32, 16
    rng = np.random.default_rng(5)
    a = normal(1, count, inner, dtype=np.float16)
    b = normal(2, experts, width, inner, dtype=np.float16)
    choices = np.argsort(rng.random((count, experts)), axis=1)[:, :chosen]
    weights = rng.random(count * chosen).astype(np.float32)
    tokens, owners = _route(choices, tile_m, experts)
    c = np.zeros((count * chosen, width), np.float16)
    rows = given(np.repeat(a, chosen, axis=0))[:, None]
    rows_out = (rows @ given(b[choices.reshape(-1)]).swapaxes(-1, -2))[:, 0]
    grid = (len(owners) * (width // tile_n),)
    arguments = (a, b, c, weights, tokens, owners, chosen, True, tile_m, tile_n, tile_k)
    return Launch(grid, arguments, [Result(c, rows_out * given(weights)[:, None])])


@case("silu_and_mul_kernel")
def silu() -> Launch:
    """SiLU of the first half of each row times the second half, f16."""
    rows = normal(1, 10, 200, dtype=np.float16)
    a, b = rows[:, :100], rows[:, 100:]
    c = np.zeros((10, 100), np.float16)
    powers = (1 + apply("exp", -single(a))).flushed()
    sigmoid = Estimate(1.0).over(powers, APPROXIMATE).flushed()
    wanted = ((single(a) * sigmoid).flushed() * single(b)).flushed()
    return Launch((10,), (a, b, c, 128), [Result(c, wanted)])


def launches(name: str, parameters: int) -> Iterator[Callable[[], Launch]]:
    """Yield the launches that fit a kernel, by its name and the number of its parameters."""
    yield from CASES.get(name, [])
    yield from CASES.get(f"{name}/{parameters}", [])
