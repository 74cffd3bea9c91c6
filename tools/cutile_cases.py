"""What to launch the sample kernels of cuTile Python with, and what NumPy says comes out.

Each function builds one launch for the kernels of a name. Every result comes with a bound: the
rounding errors that any order of summing may make, and those of the types between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np

U32: Final = 2.0**-24
UNIT: Final = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": U32, "tf32": 2.0**-11}
APPROXIMATE: Final = 2.0**-20
"""Enough for a handful of approximate functions in single precision."""

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Result:
    """An array that the kernel writes, what it must hold, and how far off it may be."""

    found: Array
    expected: Array
    bound: Any


@dataclass(frozen=True)
class Launch:
    """A grid, arguments, and what to compare afterwards."""

    grid: tuple[int, ...]
    arguments: tuple[Any, ...]
    results: list[Result]


CASES: Final[dict[str, list[Callable[[], Launch]]]] = {}


def case(*names: str) -> Callable[[Callable[[], Launch]], Callable[[], Launch]]:
    """File a launch under the kernels that it fits."""

    def file(build: Callable[[], Launch]) -> Callable[[], Launch]:
        for name in names:
            CASES.setdefault(name, []).append(build)
        return build

    return file


def normal(seed: int, *shape: int, dtype: Any = np.float32) -> Array:
    """Normal numbers by a seed."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def wide(array: Array) -> Array:
    """An array in double precision."""
    return array.astype(np.float64)


def product(a: Array, b: Array, c: Array, factors: float = 0.0) -> tuple[Array, Array]:
    """`a @ b` and the bound of a sum in single precision that is rounded to the type of `c`.

    `factors` is the rounding of the factors themselves.
    """
    exact = np.matmul(wide(a), wide(b))
    magnitudes = np.matmul(np.abs(wide(a)), np.abs(wide(b)))
    depth = a.shape[-1] + 2
    bound = (depth * U32 + 2.1 * factors) * magnitudes + UNIT[c.dtype.name] * np.abs(exact)
    return exact, bound + np.finfo(np.float32).tiny + subnormal(c)


def subnormal(array: Array) -> float:
    """The distance of the smallest numbers of a type."""
    return float(ml_dtypes.finfo(array.dtype).smallest_subnormal)


def _vectors(dtype: Any, *shape: int) -> tuple[Array, Array, Array]:
    return normal(1, *shape, dtype=dtype), normal(2, *shape, dtype=dtype), np.zeros(shape, dtype)


@case("vec_add_kernel_1d", "vec_add_kernel_1d_gather", "vector_add")
def vector_add() -> Launch:
    """Vectors in f32, with a ragged edge."""
    a, b, c = _vectors(np.float32, 1000)
    return Launch((8,), (a, b, c, 128), [Result(c, a + b, 0)])


@case("vec_add_kernel_2d", "vec_add_kernel_2d_gather")
def matrix_add() -> Launch:
    """Matrices in bf16, with ragged edges."""
    a, b, c = _vectors(ml_dtypes.bfloat16, 100, 70)
    return Launch((4, 5), (a, b, c, 32, 16), [Result(c, a + b, 0)])


@case("transpose_kernel")
def transpose() -> Launch:
    """f16, with ragged edges."""
    x = normal(1, 100, 70, dtype=np.float16)
    y = np.zeros((70, 100), np.float16)
    return Launch((4, 3), (x, y, 32, 32), [Result(y, x.T, 0)])


def _gemm(dtype: Any, out: Any, factors: float) -> tuple[Array, Array, Array, Result]:
    a, b = normal(1, 100, 90, dtype=dtype), normal(2, 90, 130, dtype=dtype)
    c = np.zeros((100, 130), out)
    return a, b, c, Result(c, *product(a, b, c, factors))


@case("matmul_kernel")
def matmul_f16() -> Launch:
    """f16, with ragged edges."""
    a, b, c, result = _gemm(np.float16, np.float16, 0)
    return Launch((4 * 5,), (a, b, c, 32, 32, 32), [result])


@case("matmul_kernel", "persistent_matmul_kernel")
def matmul_tf32() -> Launch:
    """f32 as tf32, with ragged edges."""
    a, b, c, result = _gemm(np.float32, np.float32, UNIT["tf32"])
    return Launch((4 * 5,), (a, b, c, 32, 32, 32), [result])


@case("persistent_matmul_kernel")
def matmul_persistent() -> Launch:
    """bf16, three blocks for twenty tiles."""
    a, b, c, result = _gemm(ml_dtypes.bfloat16, ml_dtypes.bfloat16, 0)
    return Launch((3,), (a, b, c, 32, 32, 32), [result])


@case("matmul_split_k_kernel")
def matmul_split_k() -> Launch:
    """f16, three blocks a tile take turns by locks."""
    a, b, c, result = _gemm(np.float16, np.float32, 0)
    locks, counts = np.zeros(20, np.int32), np.zeros(20, np.int32)
    zeros = [Result(array, np.zeros(20), 0) for array in (locks, counts)]
    return Launch((20, 3), (a, b, c, locks, counts, 32, 32, 16, 3), [result, *zeros])


@case("batch_matmul_kernel")
def matmul_batched() -> Launch:
    """f16, with ragged edges."""
    a, b = normal(1, 3, 50, 40, dtype=np.float16), normal(2, 3, 40, 60, dtype=np.float16)
    c = np.zeros((3, 50, 60), np.float16)
    return Launch((3, 2, 2), (a, b, c, 32, 32, 16), [Result(c, *product(a, b, c))])


@case("batch_matmul_kernel")
def matmul_batched_f8() -> Launch:
    """f8E4M3FN into f16."""
    f8 = ml_dtypes.float8_e4m3fn
    a, b = normal(1, 2, 64, 32, dtype=f8), normal(2, 2, 32, 64, dtype=f8)
    c = np.zeros((2, 64, 64), np.float16)
    return Launch((2, 2, 2), (a, b, c, 32, 32, 16), [Result(c, *product(a, b, c))])


@case("gather_matmul_kernel")
def matmul_gathered() -> Launch:
    """A list of three matrices, f32 as tf32."""
    parts = [normal(seed, 64, 48, dtype=np.float32) for seed in range(3)]
    w, out = normal(7, 48, 64), np.zeros((192, 64), np.float32)
    whole = np.concatenate(parts)
    result = Result(out, *product(whole, w, out, UNIT["tf32"]))
    return Launch((6, 2), (parts, w, out, 32, 32, 16), [result])


@case("grouped_matmul_kernel")
def matmul_grouped() -> Launch:
    """Lists of three products, f16."""
    sizes = [(40, 50, 60), (64, 32, 16), (10, 100, 70)]
    a = [normal(1, m, k, dtype=np.float16) for m, k, _ in sizes]
    b = [normal(2, k, n, dtype=np.float16) for _, k, n in sizes]
    c = [np.zeros((m, n), np.float16) for m, _, n in sizes]
    results = [Result(z, *product(x, y, z)) for x, y, z in zip(a, b, c, strict=True)]
    return Launch((4,), (a, b, c, 4, 32, 32, 32), results)


def _scaled(swizzled: bool) -> Launch:
    m, k, n, block = 128, 256, 256, 32
    f8, scale = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
    rng = np.random.default_rng(3)
    a, b = normal(1, m, k, dtype=f8), normal(2, k, n, dtype=f8)
    sa = (2.0 ** rng.integers(-3, 4, (m, k // block))).astype(scale)
    sb = (2.0 ** rng.integers(-3, 4, (n, k // block))).astype(scale)
    c = np.zeros((m, n), np.float32)
    left = wide(a) * np.repeat(wide(sa), block, axis=1)
    right = wide(b) * np.repeat(wide(sb), block, axis=1).T
    scales = (_swizzle(sa), _swizzle(sb)) if swizzled else (sa, np.ascontiguousarray(sb.T))
    arguments = (a, scales[0], b, scales[1], c, 128, 128, 128, block)
    return Launch((2,), arguments, [Result(c, *product(left, right, c))])


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
    batch, heads, queries, depth = 2, 4, 64, 32
    q = normal(1, batch, heads, queries, depth, dtype=np.float16)
    k = normal(2, batch, heads // group, keys, depth, dtype=np.float16)
    v = normal(3, batch, heads // group, keys, depth, dtype=np.float16)
    out = np.zeros_like(q)
    scale = depth**-0.5
    scores = wide(q) @ np.repeat(wide(k), group, axis=1).swapaxes(-1, -2) * scale
    if causal:
        scores = np.where(np.tri(queries, keys, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    values = np.repeat(wide(v), group, axis=1)
    # Weights are rounded to half precision before the second product; the exponent is off by what
    # the scores are off, which are sums of `depth` products.
    spread = np.abs(wide(q)).sum(-1).max() * np.abs(wide(k)).max() * scale
    part = UNIT["float16"] + (depth + keys + 8) * U32 * (1 + spread) + APPROXIMATE
    bound = 2 * part * (weights @ np.abs(values)) + subnormal(out)
    result = Result(out, weights @ values, bound + UNIT["float16"] * np.abs(weights @ values))
    tile_m, tile_n = 32, 16
    shape = (depth, heads, tile_m, tile_n, group, causal, keys % tile_n == 0)
    grid = (queries // tile_m, batch * heads)
    return Launch(grid, (q, k, v, out, scale, 0, *shape), [result])


@case("fmha_kernel")
def attention() -> Launch:
    """Every key, with a ragged edge, f16."""
    return _attention(False, 1, 56)


@case("fmha_kernel")
def attention_causal_grouped() -> Launch:
    """Causal, two heads share keys, f16."""
    return _attention(True, 2, 64)


def _rotations(rows: int, columns: int, period: int) -> Array:
    angles = -2 * np.pi * np.outer(np.arange(rows), np.arange(columns)) / period
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1).astype(np.float32)


def _transform(batch: int, factors: tuple[int, int, int]) -> tuple[Array, tuple[Array, ...], Any]:
    f0, f1, f2 = factors
    size = f0 * f1 * f2
    x = normal(1, batch, size, 2)
    tables = (
        _rotations(f0, f0, f0),
        _rotations(f1, f1, f1),
        _rotations(f2, f2, f2),
        _rotations(f0, f1 * f2, size),
        _rotations(f1, f2, f1 * f2),
    )
    numbers = wide(x[..., 0]) + 1j * wide(x[..., 1])
    exact = np.fft.fft(numbers)
    magnitude = np.abs(numbers).sum(axis=-1).reshape(batch, 1, 1)
    steps = 2 * (f0 + f1 + f2) + 12
    expected = np.stack([exact.real, exact.imag], axis=-1)
    return x, tables, (expected, 2 * steps * U32 * magnitude)


@case("fft_kernel/13")
def fft() -> Launch:
    """256 points, packed."""
    factors, packed = (4, 8, 8), 16
    x, tables, (expected, bound) = _transform(3, factors)
    size = x.shape[1]
    y = np.zeros((3, size * 2 // packed, packed), np.float32)
    arguments = (x.reshape(y.shape), y, *tables, size, *factors, 1, packed)
    return Launch((3,), arguments, [Result(y.reshape(x.shape), expected, bound)])


@case("fft_kernel/11")
def fft_plain() -> Launch:
    """256 points."""
    factors = (4, 8, 8)
    x, tables, (expected, bound) = _transform(3, factors)
    y = np.zeros_like(x)
    return Launch((3,), (x, y, *tables, x.shape[1], *factors), [Result(y, expected, bound)])


def _normalized(x: Array, eps: float) -> tuple[Array, Array, Array]:
    mean = x.mean(axis=1)
    scale = 1 / np.sqrt(x.var(axis=1) + eps)
    return mean, scale, (x - mean[:, None]) * scale[:, None]


@case("layer_norm_fwd")
def layer_norm() -> Launch:
    """f32, with a ragged edge."""
    rows, columns, eps = 10, 300, 1e-5
    x, w, b = normal(1, rows, columns), normal(2, columns), normal(3, columns)
    y, mean, scale = np.zeros_like(x), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    means, scales, normalized = _normalized(wide(x), eps)
    part = (2 * columns + 16) * U32
    size = np.abs(wide(x)).max()
    results = [
        Result(y, normalized * w + b, part * (size * scales.max() * np.abs(w) + np.abs(b))),
        Result(mean, means, part * size),
        Result(scale, scales, part * scales * (1 + size)),
    ]
    return Launch((rows,), (x, w, b, y, mean, scale, eps, 128), results)


@case("layer_norm_bwd_dx_partial_dwdb")
def layer_norm_gradient() -> Launch:
    """f32, sums by locks."""
    rows, columns, groups = 12, 200, 4
    x, w, dy = normal(1, rows, columns), normal(2, columns), normal(3, rows, columns)
    means, scales, normalized = _normalized(wide(x), 1e-5)
    dx, dw, db = np.zeros_like(x), *(np.zeros((groups, columns), np.float32) for _ in "wb")
    weighted = wide(dy) * w
    centred = weighted - weighted.mean(axis=1, keepdims=True)
    along = (normalized * weighted).mean(axis=1, keepdims=True)
    part = (2 * columns + 16) * U32 * 16 * np.abs(weighted).max()
    grouped = np.arange(rows) % groups
    sums = [
        np.stack([terms[grouped == group].sum(axis=0) for group in range(groups)])
        for terms in (dy * normalized, wide(dy))
    ]
    locks = np.zeros(groups, np.int32)
    results = [
        Result(dx, (centred - normalized * along) * scales[:, None], part),
        Result(dw, sums[0], part),
        Result(db, sums[1], part),
        Result(locks, np.zeros(groups), 0),
    ]
    mean, scale = means.astype(np.float32), scales.astype(np.float32)
    return Launch((rows,), (dx, dy, dw, db, x, w, mean, scale, locks, 64), results)


@case("layer_norm_bwd_dwdb")
def layer_norm_gradient_sums() -> Launch:
    """Sums of parts."""
    dw, db = normal(1, 20, 200), normal(2, 20, 200)
    sums = [np.zeros(200, np.float32) for _ in "wb"]
    results = [
        Result(total, wide(parts).sum(axis=0), 21 * U32 * np.abs(wide(parts)).sum(axis=0))
        for total, parts in zip(sums, (dw, db), strict=True)
    ]
    return Launch((4,), (dw, db, *sums, 8, 64), results)


def _rms(columns: int) -> tuple[Array, Array, Array, Array, Array, Any]:
    x, w = normal(1, 10, columns, dtype=np.float16), normal(2, columns, dtype=np.float16)
    y = np.zeros_like(x)
    scales = 1 / np.sqrt((wide(x) ** 2).mean(axis=1) + 1e-5)
    expected = wide(x) * scales[:, None] * wide(w)
    part = (columns + 16) * U32
    return x, w, y, expected, scales, part


@case("rms_norm_kernel", "rms_norm_kernel_gather")
def rms_norm() -> Launch:
    """f16, with a ragged edge."""
    x, w, y, expected, scales, part = _rms(300)
    scale = np.zeros(10, np.float32)
    results = [
        Result(y, expected, (part + UNIT["float16"]) * np.abs(expected) + subnormal(y)),
        Result(scale, scales, part * scales),
    ]
    return Launch((10,), (x, w, y, scale, 300, 1e-5, 128), results)


@case("rms_norm_kernel_static_persistent")
def rms_norm_persistent() -> Launch:
    """f16, two blocks for ten rows."""
    x, w, y, expected, _, part = _rms(256)
    bound = (part + UNIT["float16"]) * np.abs(expected) + subnormal(y)
    return Launch((2,), (x, y, w, 4, 64, 256, 1e-5), [Result(y, expected, bound)])


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
    count, chosen, experts, depth, width = 20, 2, 4, 48, 64
    tile_m, tile_n, tile_k = 16, 32, 16
    rng = np.random.default_rng(5)
    a = normal(1, count, depth, dtype=np.float16)
    b = normal(2, experts, width, depth, dtype=np.float16)
    choices = np.argsort(rng.random((count, experts)), axis=1)[:, :chosen]
    weights = rng.random(count * chosen).astype(np.float32)
    tokens, owners = _route(choices, tile_m, experts)
    c = np.zeros((count * chosen, width), np.float16)
    rows = np.repeat(a, chosen, axis=0)[:, None, :]
    exact, bound = product(rows, b[choices.reshape(-1)].swapaxes(-1, -2), c)
    expected = exact[:, 0] * weights[:, None]
    grid = (len(owners) * (width // tile_n),)
    arguments = (a, b, c, weights, tokens, owners, chosen, True, tile_m, tile_n, tile_k)
    return Launch(grid, arguments, [Result(c, expected, bound[:, 0] * 1.001)])


@case("silu_and_mul_kernel")
def silu() -> Launch:
    """Halves of rows, f16."""
    both = normal(1, 10, 200, dtype=np.float16)
    a, b = both[:, :100], both[:, 100:]
    c = np.zeros((10, 100), np.float16)
    expected = wide(a) / (1 + np.exp(-wide(a))) * wide(b)
    bound = (UNIT["float16"] + APPROXIMATE) * np.abs(expected) + subnormal(c)
    return Launch((10,), (a, b, c, 128), [Result(c, expected, bound)])


def launches(name: str, parameters: int) -> Iterator[Callable[[], Launch]]:
    """Those that fit a kernel, by its name and the number of its parameters."""
    yield from CASES.get(name, [])
    yield from CASES.get(f"{name}/{parameters}", [])
