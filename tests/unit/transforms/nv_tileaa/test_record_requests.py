"""record-requests: what is asked of kernels, and which of it is followed."""

from __future__ import annotations

import numpy as np
import pytest
from scheduled_loops import matmul

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx


@pytest.mark.parametrize("warps", [4, 8, 16])
def test_blocks_have_the_warps_that_are_forced(warps: int) -> None:
    ptx = tilewright.compile(matmul(64, 64, 32), emit="ptx", schedule=f"warps={warps},agents=0").ptx
    assert f".reqntid {32 * warps}" in ptx


def test_zero_leaves_the_choice_to_the_compiler() -> None:
    source = matmul(64, 64, 32)
    chosen, zero = (
        tilewright.compile(source, emit="ptx", schedule=text).ptx for text in ("", "warps=0")
    )
    assert zero == chosen


@pytest.mark.parametrize("warps", [8, 16])
def test_results_do_not_depend_on_the_warps(warps: int) -> None:
    text = """
cuda_tile.module @kernels {
  entry @scale(%x: tile<ptr<f32>>) {
    %offsets = iota : tile<512xi32>
    %one = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %all = broadcast %one : tile<1xptr<f32>> -> tile<512xptr<f32>>
    %at = offset %all, %offsets : tile<512xptr<f32>>, tile<512xi32> -> tile<512xptr<f32>>
    %v, %t = load_ptr_tko weak %at : tile<512xptr<f32>> -> tile<512xf32>, token
    %two = addf %v, %v rounding<nearest_even> : tile<512xf32>
    %t2 = store_ptr_tko weak %at, %two : tile<512xptr<f32>>, tile<512xf32> -> token
    return
  }
}
"""
    ptx = tilewright.compile(text, emit="ptx", schedule=f"warps={warps}").ptx
    values = np.arange(512, dtype=np.float32)
    run_ptx(ptx, read_runnable(text, "scale.mlir"), "scale", 1, [values], check=True)
    assert np.array_equal(values, 2 * np.arange(512, dtype=np.float32))
