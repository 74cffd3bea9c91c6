"""Division by a shared divisor on a GPU: its reciprocals, and results close to a midpoint."""

from __future__ import annotations

import numpy as np
import pytest
from hard_divisions import LEAST, LIMIT, hard_divisions, odd_midpoints
from numpy.typing import NDArray
from row_divisions import program

import tilewright

pytestmark = pytest.mark.gpu

ROWS, COLUMNS = 128, 8
"""Of the tile of a block: each thread has several elements of a row."""


def check_division(dividends: NDArray[np.float32], divisors: NDArray[np.float32]) -> None:
    """Compare each quotient of a GPU with that of NumPy."""
    rows = len(divisors) // ROWS * ROWS
    dividends, divisors = dividends[:rows], divisors[:rows]
    results = np.zeros_like(dividends)
    text = program("rows", ROWS, COLUMNS, rows)
    ptx = tilewright.compile(text, "sm_90", emit="ptx").ptx
    assert ptx is not None
    assert "rcp.approx.ftz.f32" in ptx
    tilewright.execute(text, "k", rows // ROWS, [dividends, divisors, results], on="gpu")
    assert np.array_equal(results, dividends / divisors[:, None])


def test_every_mantissa_of_a_divisor() -> None:
    """1 / y, and others, of divisors with each estimate of a reciprocal that the GPU has."""
    divisors = np.arange(LEAST, LIMIT, dtype=np.int64).astype(np.float32)
    dividends = np.array([1, 3, 1 / 3, 1e7, LIMIT - 1, 2**-60, 5e-20, 7], np.float32)
    check_division(np.tile(dividends, (len(divisors), 1)), divisors)


@pytest.mark.parametrize("part", [0, 3, 7])
def test_divisions_close_to_a_midpoint(part: int) -> None:
    scales = np.ldexp(np.float32(1), np.linspace(-90, 60, COLUMNS).astype(np.int32))
    pairs = list(hard_divisions(odd_midpoints(part << 20, 1 << 20)))
    x = np.concatenate([each.x for each in pairs]).astype(np.float32)
    y = np.concatenate([each.y for each in pairs]).astype(np.float32)
    assert len(x) > 1_000_000
    check_division(x[:, None] * scales, y)
