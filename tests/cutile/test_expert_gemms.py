"""The expert GEMMs of `benchmarks/gemm_kernels.py`, on the CPU, against NumPy."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")

from cutile_launches import emulated, interpreted

Array = np.ndarray[Any, np.dtype[Any]]
Launch = Callable[[int, Any, Sequence[Any]], None]

TILE = (64, 32, 32)
K, N = 80, 48
"""Neither is a multiple of the tile."""
SIZES = {
    "ragged": (70, 0, 1, 64),
    "empty ends": (0, 65, 0),
    "one group": (100,),
    "no rows": (0, 0),
}
"""Rows of each group."""
MORE_THAN_TILES = 10


def _benchmark(name: str) -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


kernels, routing = _benchmark("gemm_kernels"), _benchmark("routing")


def small(seed: int, *shape: int, dtype: Any = np.float16) -> Array:
    """Integers so small that every accumulation is exact."""
    return np.random.default_rng(seed).integers(-2, 3, shape).astype(dtype)


def check_grouped(launch: Launch, sizes: Sequence[int], blocks: int) -> None:
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    a, b = small(1, offsets[-1] or 1, K), small(2, len(sizes), K, N)
    c = np.full((len(a), N), np.nan, np.float16)
    launch(blocks, kernels.grouped_gemm, (a, b, offsets, c, *TILE))
    expected = np.full_like(c, np.nan)
    for g, (start, stop) in enumerate(pairwise(offsets)):
        expected[start:stop] = a[start:stop].astype(np.float32) @ b[g].astype(np.float32)
    np.testing.assert_array_equal(c, expected)


def test_rows_are_sorted_and_padded() -> None:
    chosen = np.array([[2, 0], [2, 3], [0, 2]])
    rows = routing.route(chosen, experts=4, height=2)
    assert rows.tokens.tolist() == [0, 2, 0, 1, 2, 1]
    assert rows.choices.tolist() == [1, 0, 0, 0, 1, 1]
    assert rows.offsets.tolist() == [0, 2, 2, 5, 6]
    assert rows.padded.tolist() == [0, 1, 2, 3, 4, 6]
    assert rows.padded_tokens.tolist() == [0, 2, 0, 1, 2, 3, 1, 3]
    assert rows.tile_experts.tolist() == [0, 2, 2, 3]


@pytest.mark.parametrize("blocks", [1, 3, MORE_THAN_TILES])
@pytest.mark.parametrize("sizes", SIZES)
def test_groups_of_rows(sizes: str, blocks: int) -> None:
    check_grouped(interpreted, SIZES[sizes], blocks)


def test_groups_of_rows_compiled() -> None:
    check_grouped(emulated, SIZES["ragged"], blocks=3)


def check_gathered(launch: Launch, dtype: Any, *, weighted: bool) -> None:
    height, topk = TILE[0], 2
    a, b = small(1, 50, K, dtype=dtype), small(2, 4, N, K, dtype=dtype)
    random = np.random.default_rng(3)
    # No token chooses expert 1.
    chosen = np.array([random.permutation([0, 2, 3])[:topk] for _ in a])
    rows = routing.route(chosen, len(b), height)
    weights = (2.0 ** random.integers(-2, 2, chosen.shape)).astype(np.float32)
    by_row = np.zeros(len(rows.padded_tokens), np.float32)
    by_row[rows.padded] = weights[rows.tokens, rows.choices]
    c = np.full((len(by_row), N), np.nan, dtype)
    grid = len(rows.tile_experts) * -(-N // TILE[1])
    order = (rows.padded_tokens, rows.tile_experts, by_row)
    launch(grid, kernels.gather_gemm, (a, b, *order, c, weighted, *TILE))
    matrices = b[chosen].astype(np.float32)
    expected = np.einsum("tk,tcnk->tcn", a.astype(np.float32), matrices)
    if weighted:
        expected *= weights[..., None]
    actual = np.full_like(expected, np.nan)
    actual[rows.tokens, rows.choices] = c[rows.padded]
    np.testing.assert_array_equal(actual, expected)
    assert not np.delete(c, rows.padded, axis=0).any()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_gathered_rows(dtype: Any, weighted: bool) -> None:
    check_gathered(interpreted, dtype, weighted=weighted)


def test_gathered_rows_compiled() -> None:
    check_gathered(emulated, np.float16, weighted=True)
