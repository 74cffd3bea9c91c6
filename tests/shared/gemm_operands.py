"""A and B of GEMM kernels on the emulator: small integers, so that every summation is exact."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
DTYPES: Final[dict[str, Any]] = {
    "f16": np.float16,
    "f32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "i8": np.int8,
}


class Case(NamedTuple):
    """The extents of A and B, the tiles of rows, and the iterations over K."""

    m: int = 200
    n: int = 64
    k: int = 80
    tiles: int = 2
    steps: int = 3


def operands_of(case: Case, element: str) -> tuple[Array, Array]:
    """A (m x k) and B (k x n) of a case."""
    numbers = np.random.default_rng(7)
    a, b = (numbers.integers(-2, 3, shape) for shape in ((case.m, case.k), (case.k, case.n)))
    return a.astype(DTYPES[element]), b.astype(DTYPES[element])


def in_memory(a: Array, b: Array, *, k_major: bool) -> tuple[Array, Array]:
    """A and B as a kernel takes them, B transposed if it is K-major."""
    b = np.ascontiguousarray(b.T) if k_major else b
    # An empty array has no address.
    a, b = (each if each.size else np.zeros(16, each.dtype) for each in (a, b))
    return a, b
