"""Multiplications and additions are two roundings, as docs/numerics.md guarantees."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tilewright

PROGRAM = """
cuda_tile.module @m {
  entry @muladd(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <f32: 1.0> : tile<64xf32>
    %xs = make_tensor_view %x, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %xv = make_partition_view %xs : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
    %outs = make_tensor_view %out, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %outv = make_partition_view %outs : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
    %a, %t = load_view_tko weak %xv[%zero]
        : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>, tile<i32>
        -> tile<64xf32>, token
    %square = mulf %a, %a rounding<nearest_even> : tile<64xf32>
    %difference = subf %square, %one rounding<nearest_even> : tile<64xf32>
    %u = store_view_tko weak %difference, %outv[%zero]
        : tile<64xf32>, partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>, tile<i32>
        -> token
    return
  }
}
"""


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("element", ["f16", "f32", "f64"])
def test_ptxas_may_not_fuse(element: str, level: int) -> None:
    """Without `.rn`, ptxas may fuse; with it PTX forbids that."""
    source = PROGRAM.replace("f32", element)
    ptx = tilewright.compile(source, emit="ptx", opt_level=level).ptx
    instructions = re.findall(rf"\b(?:mul|add|sub|fma)[\w.]*\.{element}(?:x2)?\b", ptx)
    assert {name.split(".")[0] for name in instructions} in ({"mul", "add"}, {"mul", "sub"})
    assert all(".rn." in name for name in instructions), instructions


@pytest.mark.parametrize("level", [0, 3])
def test_the_multiplication_is_rounded(level: int) -> None:
    # (1 + k·2^-12)² - 1 is k·2^-11 + k²·2^-24: the square is rounded to 24 bits first.
    steps = np.arange(64)
    x = (1 + steps * 2.0**-12).astype(np.float32)
    separate = (x * x) - np.float32(1)
    fused = (x.astype(np.float64) ** 2 - 1).astype(np.float32)
    assert (separate != fused).any()
    out = np.zeros(64, np.float32)
    tilewright.execute(PROGRAM, "muladd", 1, [x, out], on="emulator", opt_level=level)
    assert np.array_equal(out, separate)
