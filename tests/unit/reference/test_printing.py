from __future__ import annotations

import numpy as np
import pytest

import tilewright


@pytest.mark.parametrize("device", ["cpu", "emulator"])
def test_a_nul_ends_the_format(device: str) -> None:
    """nvcc writes formats with the NUL at their end."""
    program = r"""
    cuda_tile.module @m {
      entry @f(%n: tile<i32>) {
        print_tko "n = %i\0A\00", %n : tile<i32> -> token
        print_tko "cut\00 %i" -> token
        return
      }
    }"""
    said: list[str] = []
    tilewright.execute(program, "f", 1, [np.int32(7)], device, write=said.append)
    assert "".join(said) == "n = 7\ncut"
