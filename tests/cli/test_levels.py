"""Optimization levels: each adds to the one before, and none changes what a program does."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import tilewright
from tilewright.driver.pipelines import (
    LEVELS,
    LOWERING_PIPELINE,
    OPT_LEVELS,
    PASSES,
    passes_to,
)
from tilewright.ptxsim import Module

ACCUMULATE = """
cuda_tile.module @m {
  entry @accumulate(%source: tile<ptr<f32>>, %target: tile<ptr<f32>>, %count: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %width = constant <i32: 64> : tile<i32>
    %none = constant <f32: 0.0> : tile<64xf32>
    %lanes = iota : tile<64xi32>
    %p1 = reshape %source : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p = broadcast %p1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %all = for %i in (%zero to %count, step %one) : tile<i32>
        iter_values(%sum = %none) -> (tile<64xf32>) {
      %start = muli %i, %width : tile<i32>
      %s1 = reshape %start : tile<i32> -> tile<1xi32>
      %s = broadcast %s1 : tile<1xi32> -> tile<64xi32>
      %indices = addi %s, %lanes : tile<64xi32>
      %at = offset %p, %indices : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
      %x, %t = load_ptr_tko weak %at : tile<64xptr<f32>> -> tile<64xf32>, token
      %next = addf %sum, %x : tile<64xf32>
      continue %next : tile<64xf32>
    }
    %q1 = reshape %target : tile<ptr<f32>> -> tile<1xptr<f32>>
    %q = broadcast %q1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %to = offset %q, %lanes : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %done = store_ptr_tko weak %to, %all : tile<64xptr<f32>>, tile<64xf32> -> token
    return
  }
}
"""


def test_each_level_adds_to_the_one_before() -> None:
    assert LEVELS[0] == ""
    assert all(more.startswith(less) and more != less for less, more in pairwise(LEVELS))


@pytest.mark.parametrize("level", OPT_LEVELS)
def test_the_documentation_names_the_passes_on_tile_ir_of_a_level(level: int) -> None:
    text = (Path(__file__).parents[2] / "docs" / "optimization-levels.md").read_text()
    (row,) = (line for line in text.splitlines() if line.startswith(f"| `-O{level}` |"))
    listed = [word for word in re.findall(r"[\w-]+", row.split("|")[2]) if word in PASSES]
    steps = (step for step in LOWERING_PIPELINE["cuda_tile"] if step.since == level)
    added = [name for step in steps for name in re.findall(r"[\w-]+", step.text) if name in PASSES]
    assert listed == ([] if level == 0 else added)


def test_the_passes_below_tile_ir_are_the_same_at_every_level() -> None:
    """What a level leaves to them is asked of the kernels."""
    lists = [
        re.sub(r"record-requests(\{[^}]*\})?", "record-requests", passes_to(level, "sm_90", each))
        for level in LOWERING_PIPELINE
        if level != "cuda_tile"
        for each in OPT_LEVELS
    ]
    assert len(set(lists)) == len(lists) // len(OPT_LEVELS)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("level", range(4))
def test_a_level_preserves_the_results(level: int, arch: str) -> None:
    made = tilewright.compile(ACCUMULATE, arch, level)
    entry = made.entries["accumulate"]
    x = np.random.default_rng(1).standard_normal((5, 64)).astype(np.float32)
    actual = np.zeros(64, np.float32)
    threads = entry.resources.threads
    assert threads is not None
    Module(made.ptx).launch("accumulate", (1,), threads, [x.reshape(-1), actual, 5], check=True)
    expected = np.zeros(64, np.float32)
    for row in x:
        expected = expected + row
    assert actual.tobytes() == expected.tobytes()


def test_levels_reach_llvm_and_ptxas() -> None:
    texts = {tilewright.compile(ACCUMULATE, opt_level=level, emit="ptx").ptx for level in (0, 3)}
    cubins = {tilewright.compile(ACCUMULATE, opt_level=level).cubin for level in (0, 3)}
    assert len(texts) == len(cubins) == 2
