"""Warps and resident blocks of kernels that reduce one row in each block."""

from __future__ import annotations

import numpy as np
import pytest
from each_case import each_case
from scheduled_loops import lowered_as_far_as

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.api import read_runnable
from tilewright.driver.compile import compile
from tilewright.driver.emulate import run_ptx
from tilewright.schedule.row_kernels import loading_blocks

SUM = "(%l: tile<f32>, %r: tile<f32>) { %s = addf %l, %r : tile<f32> yield %s : tile<f32> }"


def program(
    columns: int, *, rows: int = 1, tiles: int = 1, loop: str = "", end: str = "", hints: str = ""
) -> str:
    """Divide the sum of `tiles` tiles by that of its elements along a row."""
    tile, row = f"tile<{rows}x{columns}xf32>", f"tile<{rows}xf32>"
    tensor = f"tensor_view<64x{columns}xf32, strides=[{columns},1]>"
    view = f"partition_view<tile=({rows}x{columns}), {tensor}>"
    loads = "\n".join(
        f"""%i{n} = addi %x, %c{n} : tile<i32>
        %a{n}, %t{n} = load_view_tko weak %v[%i{n}, %c0] token = %t :
          {view}, tile<i32> -> {tile}, token"""
        for n in range(tiles)
    )
    added = "\n".join(f"%b{n} = addf %b{n - 1}, %a{n} : {tile}" for n in range(1, tiles))
    constants = "\n".join(f"%c{n} = constant <i32: {n}> : tile<i32>" for n in range(max(tiles, 2)))
    return f"""
cuda_tile.module @m {{
  entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %n: tile<i32>) {hints} {{
    {constants}
    %t = make_token : token
    %m = make_tensor_view %p, shape = [64, {columns}], strides = [{columns}, 1] : {tensor}
    %w = make_tensor_view %q, shape = [64, {columns}], strides = [{columns}, 1] : {tensor}
    %v = make_partition_view %m : {view}
    %u = make_partition_view %w : {view}
    %x, %y, %z = get_tile_block_id : tile<i32>
    {loop}
    {loads}
    %b0 = mulf %a0, %a0 : {tile}
    {added}
    %d = reduce %b{tiles - 1} dim=1 identities=[0.0 : f32] : {tile} -> {row} {SUM}
    %e = reshape %d : {row} -> tile<{rows}x1xf32>
    %f = broadcast %e : tile<{rows}x1xf32> -> {tile}
    %g = divf %b{tiles - 1}, %f : {tile}
    %h = store_view_tko weak %g, %u[%x, %c0] token = %t : {tile}, {view}, tile<i32> -> token
    {end}
    return
  }}
}}
"""


def launch_of(text: str, arch: str = "sm_90") -> tuple[int | None, int | None]:
    """The warps of a block, and the blocks on an SM that its registers are limited for."""
    module = lowered_as_far_as("convert-tileaa-to-tileas", text, arch)
    (kernel,) = (op for op in module.walk() if isinstance(op, FuncOp))
    assert kernel.kernel_spec is not None
    return kernel.kernel_spec.num_warps, kernel.kernel_spec.occupancy


@each_case(("columns", "expected"), [
    (64, (1, 32)),
    (1024, (1, 32)),  # 32 registers of each thread, and as many for all else
    (2048, (2, 16)),
    (4096, (4, 8)),
    (8192, (8, 4)),
    (16384, (16, 2)),
])  # fmt: skip
def test_a_thread_has_32_registers_of_a_row(columns: int, expected: tuple[int, int]) -> None:
    assert launch_of(program(columns)) == expected


def test_tiles_that_are_live_together_share_the_registers() -> None:
    assert launch_of(program(1024, tiles=2)) == (2, 16)


@each_case(("arch", "expected"), [
    ("sm_80", (1, 32)),
    ("sm_86", (2, 16)),  # 16 blocks at most
    ("sm_89", (2, 16)),  # 24
])  # fmt: skip
def test_blocks_that_can_be_resident_have_enough_warps(
    arch: str, expected: tuple[int, int]
) -> None:
    assert launch_of(program(512), arch) == expected


@each_case(("text", "expected"), [
    (program(256, rows=4), (4, None)),
    (program(1024, loop="for %i in (%c0 to %n, step %c1) : tile<i32> {", end="continue }"),
     (4, None)),
    (program(1024, hints="optimization_hints=<sm_90 = {occupancy = 4}>"), (1, 4)),
    (program(1024, hints="optimization_hints=<sm_90 = {num_worker_warps_per_cta = 8}>"), (8, 4)),
], ids=["rows", "loop", "occupancy", "warps"])  # fmt: skip
def test_other_kernels_and_hints(text: str, expected: tuple[int, int | None]) -> None:
    assert launch_of(text) == expected


@pytest.mark.parametrize("function", ["sin", "tanh"])
def test_functions_with_long_code_keep_warps_and_registers(function: str) -> None:
    text = program(1024).replace("%b0 = mulf %a0, %a0 :", f"%b0 = {function} %a0 :")
    assert launch_of(text) == (4, None)


@each_case(("threads", "row_bytes", "words", "expected"), [
    (128, 2048, 1024, 16),  # 18 would suffice, but warps and registers are those of 16
    (256, 8192, 4096, 5),  # 40 KiB, 48 registers
    (128, 4096, 1024, 9),  # 36 KiB
    (128, 1024, 4096, 6),  # tiles and what is computed of them take 80 registers
    (128, 65536, 16384, None),  # one block loads enough
])  # fmt: skip
def test_blocks_that_load_rows_have_enough_bytes_in_flight(
    threads: int, row_bytes: int, words: int, expected: int | None
) -> None:
    module = lowered_as_far_as("convert-tileaa-to-tileas", program(1024))
    (kernel,) = (op for op in module.walk() if isinstance(op, FuncOp))
    assert loading_blocks(kernel, threads, row_bytes, words) == expected


def test_a_row_in_one_warp_needs_no_barrier() -> None:
    x = np.random.default_rng(1).random((64, 512), np.float32)
    y = np.zeros_like(x)
    text = program(512)
    ptx = compile(read_runnable(text, "k.mlir"), "sm_90", emit="ptx").ptx
    run_ptx(ptx, read_runnable(text, "k.mlir"), "k", (3, 1, 1), [x, y, 0], check=True)
    squares = x.astype(np.float64) ** 2
    np.testing.assert_allclose(y[:3], (squares / squares.sum(1, keepdims=True))[:3], rtol=1e-6)
    assert not y[3:].any()
    assert "bar.sync" not in ptx
