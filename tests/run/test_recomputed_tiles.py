"""Tiles that a loop without registers for them computes anew, on the emulator."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from gemm_text import KLoop, kernel, zeros
from matrix_programs import View
from scheduled_loops import lowered_as_far_as

import tilewright
from tilewright.dialects.nv_tileas.shape import MakeRangeOp
from tilewright.driver.compile import Compilation, target
from tilewright.driver.emulate import run_ptx
from tilewright.driver.settings import Settings

ROWS, COLUMNS, K, ITERATIONS = 64, 128, 32, 3


def program(occupancy: int) -> str:
    """`c += (a @ b) * decay` for a tile `decay` of rows and columns, which does not change."""
    a = View("a", (ROWS, K * ITERATIONS), (K * ITERATIONS, 1), (ROWS, K), "f16")
    b = View("b", (K * ITERATIONS, COLUMNS), (COLUMNS, 1), (K, COLUMNS), "f16")
    c = View("c", (ROWS, COLUMNS), (COLUMNS, 1), (ROWS, COLUMNS), "f32")
    hints = f"num_worker_warps_per_cta = 4, occupancy = {occupancy}"
    tile, row, column = c.tile_type, f"tile<{ROWS}x1xf32>", f"tile<1x{COLUMNS}xf32>"
    decay = f"""
    %rows = iota : tile<{ROWS}xi32>
    %columns = iota : tile<{COLUMNS}xi32>
    %i1 = itof %rows signed : tile<{ROWS}xi32> -> tile<{ROWS}xf32>
    %j1 = itof %columns signed : tile<{COLUMNS}xi32> -> tile<{COLUMNS}xf32>
    %rate1 = reshape %rate : tile<f32> -> tile<1x1xf32>
    %rates = broadcast %rate1 : tile<1x1xf32> -> {row}
    %i2 = reshape %i1 : tile<{ROWS}xf32> -> {row}
    %j2 = reshape %j1 : tile<{COLUMNS}xf32> -> {column}
    %i3 = mulf %i2, %rates : {row}
    %i4 = broadcast %i3 : {row} -> {tile}
    %j4 = broadcast %j2 : {column} -> {tile}
    %decay = subf %i4, %j4 : {tile}"""
    scaled = f"""%scaled = mulf %d, %decay : {tile}
      %next = addf %acc, %scaled : {tile}
      continue %next : {tile}"""
    loop = KLoop(a, b, tile, into="%none", after=scaled, bounds="%zero to %count, step %one")
    return kernel(
        [a, b, c],
        f"{zeros(tile)}\n{decay}\n{loop.text()}\n{c.store('%sum')}",
        arguments="%rate: tile<f32>, %count: tile<i32>",
        hints=f"optimization_hints=<sm_90 = {{{hints}}}>",
    )


@cache
def ptx_of(text: str) -> str:
    """The PTX with the hint as it is: ptxas spills, and it would be relaxed."""
    ptx = Compilation(tilewright.read(text), Settings(target("sm_90"))).to("ptx")
    assert isinstance(ptx, str)
    return ptx


# A block has 65,536 registers for its 128 threads, or a third of them.
@pytest.mark.parametrize(("occupancy", "is_recomputed"), [(1, False), (3, True)])
def test_the_tile_is_that_of_the_first_iteration(occupancy: int, is_recomputed: bool) -> None:
    text = program(occupancy)
    ops = lowered_as_far_as("recompute-tiles", text).walk()
    assert any(isinstance(op, MakeRangeOp) and op.repeated for op in ops) == is_recomputed
    random = np.random.default_rng(0)
    a = random.integers(-1, 2, (ROWS, K * ITERATIONS)).astype(np.float16)
    b = random.integers(-1, 2, (K * ITERATIONS, COLUMNS)).astype(np.float16)
    results = [np.full((ROWS, COLUMNS), np.nan, np.float32) for _ in range(2)]
    emulated, executed = [[a, b, each, np.float32(0.5), np.int32(ITERATIONS)] for each in results]
    run_ptx(ptx_of(text), tilewright.read(text), "k", (1, 1, 1), emulated, check=True)
    tilewright.execute(text, "k", 1, executed, on="cpu", check=True)
    # All numbers are multiples of 0.5, and few bits long: no result is inexact.
    decay = 0.5 * np.arange(ROWS)[:, None] - np.arange(COLUMNS)
    for result in results:
        np.testing.assert_array_equal(result, (a.astype(np.float32) @ b) * decay)


@pytest.mark.parametrize(("occupancy", "is_recomputed"), [(1, False), (3, True)])
def test_llvm_does_not_hoist_it(occupancy: int, is_recomputed: bool) -> None:
    ptx = ptx_of(program(occupancy))
    before, _, after = ptx.partition("wgmma.mma_async")
    elements = ROWS * COLUMNS // 128
    assert ("sub.rn.f32" in before, after.count("sub.rn.f32")) == (
        (False, elements) if is_recomputed else (True, 0)
    )
