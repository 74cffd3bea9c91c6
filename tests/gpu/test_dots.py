"""Dots on a GPU: shapes, batches and types that use mma.sync and wgmma."""

from __future__ import annotations

import numpy as np
import pytest
from matrix_programs import DTYPES, Addresses, dot_program

import tilewright

pytestmark = pytest.mark.gpu

SHAPES = [(64, 16, 32), (128, 64, 64), (256, 16, 32), (64, 128, 128)]
"""M, N, K."""


@pytest.mark.parametrize(
    ("addresses", "anew"), [("unaligned", False), ("aligned", True), ("k_major", False)]
)
@pytest.mark.parametrize("batch", [(), (2,), (4,)])
@pytest.mark.parametrize("element", ["f8E4M3FN", "f16", "bf16", "tf32", "f32"])
def test_small_integers_give_exactly_what_numpy_says(
    element: str, batch: tuple[int, ...], addresses: Addresses, anew: bool
) -> None:
    """Accumulators start at the values in memory, or at a constant."""
    for m, n, k in SHAPES:
        random = np.random.default_rng(m * n + k)
        a, b, c = (
            random.integers(-2, 3, (*batch, *shape)).astype(dtype)
            for shape, dtype in (
                ((m, k), DTYPES[element]),
                ((k, n), DTYPES[element]),
                ((m, n), np.float32),
            )
        )
        expected = a.astype(np.float64) @ b.astype(np.float64) + (0 if anew else c)
        text = dot_program(a.shape, b.shape, element, "f32", addresses=addresses, anew=anew)
        if addresses == "k_major":
            b = b.swapaxes(-1, -2).copy()
        tilewright.execute(text, "k", 1, [a, b, c], on="gpu")
        np.testing.assert_array_equal(c, expected.astype(np.float32), err_msg=f"{(m, n, k)}")
