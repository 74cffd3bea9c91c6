"""Linear attention in chunks on the emulator: a carried state, and four dots in an iteration."""

from __future__ import annotations

import numpy as np
import pytest
from linear_programs import LinearAttention

import tilewright


@pytest.mark.parametrize("kernel", [
    LinearAttention(columns=16),
    pytest.param(LinearAttention(), marks=pytest.mark.exhaustive),
    pytest.param(LinearAttention(128, 64, 64), marks=pytest.mark.exhaustive),
    pytest.param(LinearAttention(128, 128, 128), marks=pytest.mark.exhaustive),
])  # fmt: skip
def test_a_state_is_carried_over_chunks(kernel: LinearAttention) -> None:
    operands = kernel.operands()
    result = np.full((kernel.rows * kernel.chunks, kernel.columns), np.nan, np.float32)
    arguments = [*operands, result, np.int32(kernel.chunks)]
    tilewright.execute(kernel.program, "k", 1, arguments, on="emulator", check=True)
    np.testing.assert_array_equal(result, kernel.expected(*operands))
