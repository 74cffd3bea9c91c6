"""Kernels of `tests/nvcc/programs`: arguments, and what NumPy computes from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

Arrays = list[Any]


class Case(NamedTuple):
    """A kernel with its arguments; `expected` has their values afterwards, by position."""

    program: str
    entry: str
    grid: int | tuple[int, ...]
    arguments: Arrays
    expected: dict[int, Any]
    tolerance: float = 0.0
    """The largest difference, relative and absolute."""
    is_ordered: bool = True
    """Whether tokens order all accesses. nvcc orders a load of a local array after the last store
    alone, so that the checker reports the stores before."""


def _random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _zeros(shape: Any, dtype: Any = np.float32) -> Any:
    return np.zeros(shape, dtype)


def axpy() -> Case:
    x, y = _random(1).standard_normal((2, 100)).astype(np.float32)
    expected = np.float32(2.5) * x + y
    return Case("elementwise", "axpy", 2, [x, y, 2.5, 100], {1: expected}, 1e-6)


def functions() -> Case:
    x = _random(2).standard_normal(100).astype(np.float32)
    wide = x.astype(np.float64)
    expected = np.where(x > 0, np.sqrt(np.abs(wide)) + np.exp(-wide), np.floor(wide))
    return Case("elementwise", "functions", 2, [x, _zeros(100), 100], {1: expected}, 1e-5)


def integers() -> Case:
    x = _random(3).integers(-(2**31), 2**31, 100).astype(np.int32)
    y = _random(4).integers(1, 1000, 100).astype(np.int32)
    wide, other = x.astype(np.int64), y.astype(np.int64)
    div = np.trunc(wide / other).astype(np.int64)  # C++ rounds towards zero
    word = x.view(np.uint32)
    bits = (word << np.uint32(3)) ^ (word >> np.uint32(5)) | np.uint32(1)
    results = {2: (div + wide - div * other).astype(np.int32), 3: bits}
    arguments = [x, y, _zeros(100, np.int32), _zeros(100, np.uint32), 100]
    return Case("elementwise", "integers", 2, arguments, results)


def _dot(program: str, entry: str, dtype: Any, out: Any, tolerance: float = 0.0) -> Case:
    """Small integers: the results are exact."""
    low = 0 if np.dtype(dtype) == np.uint8 else -3
    a, b = _random(5).integers(low, 4, (2, 32, 32))
    c = _random(6).integers(-3, 4, (32, 32))
    expected = (a @ b + c).astype(out)
    arguments = [a.astype(dtype), b.astype(dtype), c.astype(out)]
    return Case(program, entry, 1, arguments, {2: expected}, tolerance)


def tf32() -> Case:
    """tf32 has eleven significant bits: what is below is rounded off."""
    case = _dot("dot_wide", "tf32", np.float32, np.float32)
    case.arguments[0] *= np.float32(1 + 2.0**-20)
    return case


def batches() -> Case:
    a, b = _random(7).integers(-128, 128, (2, 4, 16, 16))
    arguments = [a.astype(np.int8), b.astype(np.int8), _zeros((4, 16, 16), np.int32)]
    return Case("dot_integer", "batches", 1, arguments, {2: a @ b})


def reduce_floats() -> Case:
    distinct = np.arange(256).reshape(8, 32) / 512
    x = (_random(8).integers(-50, 50, (8, 32)) + distinct).astype(np.float32)
    arguments = [x, _zeros(32), _zeros(8), _zeros(8), _zeros(8, np.int32)]
    expected = {
        1: x.astype(np.float64).sum(0), 2: x.max(1), 3: x.min(1), 4: x.argmax(1),
    }  # fmt: skip
    return Case("reduce", "floats", 1, arguments, expected, 1e-6)


def reduce_bits() -> Case:
    x = _random(9).integers(40, 1000, (8, 32)).astype(np.int32)
    x[0] = 60
    flags = (x > 900).any(1).astype(int) + 2 * (x > 50).all(1).astype(int)
    expected = {
        1: np.bitwise_and.reduce(x, 0), 2: np.bitwise_or.reduce(x, 1),
        3: np.bitwise_xor.reduce(x, 1), 4: flags,
    }  # fmt: skip
    outputs = [_zeros(size, np.int32) for size in (32, 8, 8, 8)]
    return Case("reduce", "bits", 1, [x, *outputs], expected)


def reduce_prod() -> Case:
    x = _random(10).uniform(0.5, 2, (8, 32))
    return Case("reduce", "prod", 1, [x, _zeros(8, np.float64)], {1: x.prod(1)}, 1e-12)


def scan_add() -> Case:
    x = _random(11).integers(-1000, 1000, (4, 64)).astype(np.int32)
    outputs = [_zeros((4, 64), np.int32) for _ in range(2)]
    expected = {1: np.cumsum(x, 1), 2: np.cumsum(x[::-1], 0)[::-1]}
    return Case("scan", "add", 1, [x, *outputs], expected)


def scan_prod() -> Case:
    x = _random(12).uniform(0.9, 1.1, (4, 64))
    arguments = [x, _zeros((4, 64), np.float64)]
    return Case("scan", "prod", 1, arguments, {1: np.cumprod(x, 1)}, 1e-12)


def permute() -> Case:
    x = _random(13).standard_normal(128).astype(np.float32)
    order = _random(14).permutation(128).astype(np.int32)
    scattered = np.empty_like(x)
    scattered[order] = x
    expected = {2: x[order], 3: scattered}
    return Case("gather", "permute", 1, [x, order, _zeros(128), _zeros(128)], expected)


def rows() -> Case:
    table = _random(15).standard_normal((64, 16)).astype(np.float32)
    which = np.array([5, 63, 0, 17, 17], np.int32)
    expected = table[[*which, 0, 0, 0]]
    return Case("gather", "rows", 1, [table, which, _zeros((8, 16)), 5], {2: expected})


def histogram() -> Case:
    x = _random(16).integers(0, 32, 256).astype(np.int32)
    totals = [x[x % 2 == parity].sum() for parity in range(2)]
    largest = [x[x % 4 == rest].max() for rest in range(4)]
    arguments = [x, _zeros(32, np.int32), _zeros(2), _zeros(4, np.int32)]
    expected = {1: np.bincount(x, minlength=32), 2: totals, 3: largest}
    return Case("atomics", "histogram", 4, arguments, expected)


def exchange() -> Case:
    cells = np.arange(64, dtype=np.int32) + 500
    i = np.arange(64)
    expected = {0: np.where(i % 2 == 0, 7, i * 10), 1: cells.copy(), 2: i * 10}
    arguments = [cells, _zeros(64, np.int32), _zeros(64, np.int32)]
    return Case("atomics", "exchange", 1, arguments, expected)


def _collatz(n: int) -> int:
    count = 0
    while n != 1 and count < 100:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


def collatz() -> Case:
    x = np.array([1, 6, 7, 27, 97], np.int32)  # 27 and 97 take more than a hundred steps
    expected = [_collatz(int(n)) for n in x]
    return Case("control_flow", "collatz", 5, [x, _zeros(5, np.int32)], {1: expected})


def first_blocks() -> Case:
    x = np.arange(96, dtype=np.float32)
    expected = x.reshape(6, 16).copy()
    for block in range(5):
        expected[block] += sum(k + 1 for k in range(block) if k != 2)
        if block == 0:
            expected[block] *= -1
        else:
            expected[block] = expected[block] * (2 if block == 1 else 1) + 100
    return Case("control_flow", "first_blocks", 6, [x, 5], {0: expected.reshape(-1)})


def reciprocal() -> Case:
    x = np.arange(1, 17, dtype=np.float32)
    expected = np.where(np.arange(16) < 10, 1 / x, x)
    return Case("assert", "reciprocal", 1, [x, 10], {0: expected}, 1e-7)


def reverse() -> Case:
    x = np.array([3, -4, 50, 7, 9], np.int32)
    expected = [9, 7, 50, -4, 3, -4, 50, 0]
    arguments = [x, _zeros(8, np.int32), 5]
    return Case("local_arrays", "reverse", 1, arguments, {1: expected}, is_ordered=False)


def rearrange() -> Case:
    x = np.arange(128, dtype=np.int32).reshape(8, 16)
    shapes = [(16, 8), (8, 32), (4, 4), (8, 16)]
    expected = {
        1: x.T, 2: np.hstack([x, x + 1000]), 3: x[4:8, 8:12],
        4: np.broadcast_to(np.arange(16), (8, 16)),
    }  # fmt: skip
    return Case(
        "shapes", "rearrange", 1, [x, *(_zeros(shape, np.int32) for shape in shapes)], expected
    )


def cube() -> Case:
    x = np.arange(512, dtype=np.float32).reshape(4, 8, 16)
    return Case("shapes", "cube", 1, [x, _zeros((16, 4, 8))], {1: x.transpose(2, 0, 1)})


def _matmul(entry: str, dtype: Any, grid: tuple[int, int]) -> Case:
    a = _random(17).integers(-4, 5, (40, 50))
    b = _random(18).integers(-4, 5, (50, 33))
    arguments = [a.astype(dtype), b.astype(dtype), _zeros((40, 33)), 40, 33, 50]
    return Case("matmul", entry, grid, arguments, {2: a @ b})


def softmax() -> Case:
    x = _random(19).standard_normal((5, 100)).astype(np.float32) * 4
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    expected = e / e.sum(1, keepdims=True)
    return Case("softmax", "softmax", 3, [x, _zeros((5, 100)), 5, 100], {1: expected}, 1e-6)


F16, F32, F64 = np.float16, np.float32, np.float64
BF16, E4M3, E5M2 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2

CASES: dict[str, Callable[[], Case]] = {
    "axpy": axpy,
    "functions": functions,
    "integers": integers,
    "dot-f16": lambda: _dot("dot_half", "f16_f32", F16, F32),
    "dot-f16-f16": lambda: _dot("dot_half", "f16_f16", F16, F16),
    "dot-bf16": lambda: _dot("dot_half", "bf16_f32", BF16, F32),
    "dot-e4m3": lambda: _dot("dot_fp8", "e4m3", E4M3, F32),
    "dot-e5m2": lambda: _dot("dot_fp8", "e5m2", E5M2, F32),
    "dot-f32": lambda: _dot("dot_wide", "f32", F32, F32),
    "dot-f64": lambda: _dot("dot_wide", "f64", F64, F64),
    "dot-tf32": tf32,
    "dot-s8": lambda: _dot("dot_integer", "s8", np.int8, np.int32),
    "dot-u8": lambda: _dot("dot_integer", "u8", np.uint8, np.int32),
    "dot-batches": batches,
    "reduce-floats": reduce_floats,
    "reduce-bits": reduce_bits,
    "reduce-prod": reduce_prod,
    "scan-add": scan_add,
    "scan-prod": scan_prod,
    "permute": permute,
    "rows": rows,
    "histogram": histogram,
    "exchange": exchange,
    "collatz": collatz,
    "first_blocks": first_blocks,
    "reciprocal": reciprocal,
    "reverse": reverse,
    "rearrange": rearrange,
    "cube": cube,
    "matmul-f16": lambda: _matmul("matmul<__half, 32, 32, 16>", F16, (2, 2)),
    "matmul-f32": lambda: _matmul("gemm::matmul<float, 16, 16, 16>", F32, (3, 3)),
    "softmax": softmax,
}
"""By name; values are computed by the test, not at collection."""


def check(case: Case, results: Arrays) -> None:
    """Compare the arguments after a launch with what is expected."""
    for index, expected in case.expected.items():
        actual = np.asarray(results[index], np.float64)
        wanted = np.asarray(expected, np.float64)
        np.testing.assert_allclose(
            actual, wanted, rtol=case.tolerance, atol=case.tolerance, err_msg=f"argument {index}"
        )
