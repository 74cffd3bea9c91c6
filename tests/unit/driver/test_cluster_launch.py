"""Launches of kernels whose grid counts clusters."""

from __future__ import annotations

from typing import Final

import pytest

import tilewright
from tilewright.driver.launch import Plan

PROGRAM: Final = """
cuda_tile.module @m {
  entry @shared(%p: tile<ptr<f32>>) optimization_hints=<sm_90 = {num_cta_in_cga = 2}> {
    STORE
    return
  }
  entry @whole(%p: tile<ptr<f32>>) {
    STORE
    return
  }
}
"""
STORE: Final = """
    %lane = iota : tile<64xi32>
    %r = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %b = broadcast %r : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %q = offset %b, %lane : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %x = constant <f32: 1.0> : tile<64xf32>
    %t = store_ptr_tko weak %q, %x : tile<64xptr<f32>>, tile<64xf32> -> token
"""


@pytest.mark.parametrize(("arch", "counts_clusters"), [("sm_90", True), ("sm_80", False)])
def test_the_grid_of_a_kernel_with_shared_tiles_counts_clusters(
    arch: str, counts_clusters: bool
) -> None:
    module = tilewright.compile(PROGRAM.replace("STORE", STORE), arch)
    assert Plan.of(module, "shared").counts_clusters is counts_clusters
    assert not Plan.of(module, "whole").counts_clusters


@pytest.mark.parametrize("opt_level", range(4))
def test_the_hint_is_met_from_o1_on(opt_level: int) -> None:
    module = tilewright.compile(PROGRAM.replace("STORE", STORE), "sm_90", opt_level)
    assert Plan.of(module, "shared").counts_clusters is (opt_level > 0)
