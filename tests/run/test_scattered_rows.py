"""GEMMs whose epilogue scales rows and scatters them, as those of a mixture of experts."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_once import compiled

from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx

ROWS, COLUMNS, STEP, LENGTH = 128, 128, 64, 192


def program() -> str:
    """`c[order[i]] = scale[i] * (a @ b)[i]` for the rows of a tile."""
    a_view = f"tensor_view<{ROWS}x{LENGTH}xf16, strides=[{LENGTH},1]>"
    b_view = f"tensor_view<{LENGTH}x{COLUMNS}xf16, strides=[{COLUMNS},1]>"
    row_tile, wide = f"tile<{ROWS}xptr<f16>>", f"tile<{ROWS}x{COLUMNS}xf32>"
    pointers = f"tile<{ROWS}x{COLUMNS}xptr<f16>>"
    indices = f"tile<{ROWS}x{COLUMNS}xi32>"
    at, bt = f"tile<{ROWS}x{STEP}xf16>", f"tile<{STEP}x{COLUMNS}xf16>"
    av = f"partition_view<tile=({ROWS}x{STEP}), {a_view}>"
    bv = f"partition_view<tile=({STEP}x{COLUMNS}), {b_view}>"
    return f"""
cuda_tile.module @m {{
  entry @k(%a0: tile<ptr<f16>>, %b0: tile<ptr<f16>>, %order: tile<ptr<i32>>,
           %scale: tile<ptr<f16>>, %c0: tile<ptr<f16>>, %count: tile<i32>) {{
    %ap = assume div_by<16>, %a0 : tile<ptr<f16>>
    %bp = assume div_by<16>, %b0 : tile<ptr<f16>>
    %cp = assume div_by<16>, %c0 : tile<ptr<f16>>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %at = make_tensor_view %ap, shape = [{ROWS}, {LENGTH}], strides = [{LENGTH}, 1] : {a_view}
    %bt = make_tensor_view %bp, shape = [{LENGTH}, {COLUMNS}], strides = [{COLUMNS}, 1] : {b_view}
    %av = make_partition_view %at : {av}
    %bv = make_partition_view %bt : {bv}
    %rows = iota : tile<{ROWS}xi32>
    %o1 = reshape %order : tile<ptr<i32>> -> tile<1xptr<i32>>
    %o2 = broadcast %o1 : tile<1xptr<i32>> -> tile<{ROWS}xptr<i32>>
    %o3 = offset %o2, %rows : tile<{ROWS}xptr<i32>>, tile<{ROWS}xi32> -> tile<{ROWS}xptr<i32>>
    %to, %t0 = load_ptr_tko weak %o3 : tile<{ROWS}xptr<i32>> -> tile<{ROWS}xi32>, token
    %none = constant <f32: 0.0> : {wide}
    %dots = for %k in (%zero to %count, step %one) : tile<i32>
        iter_values(%sum = %none) -> ({wide}) {{
      %x, %t1 = load_view_tko weak %av[%zero, %k] : {av}, tile<i32> -> {at}, token
      %y, %t2 = load_view_tko weak %bv[%k, %zero] : {bv}, tile<i32> -> {bt}, token
      %next = mmaf %x, %y, %sum : {at}, {bt}, {wide}
      continue %next : {wide}
    }}
    %s1 = reshape %scale : tile<ptr<f16>> -> tile<1xptr<f16>>
    %s2 = broadcast %s1 : tile<1xptr<f16>> -> {row_tile}
    %s3 = offset %s2, %to : {row_tile}, tile<{ROWS}xi32> -> {row_tile}
    %s4, %t3 = load_ptr_tko weak %s3 : {row_tile} -> tile<{ROWS}xf16>, token
    %s5 = ftof %s4 : tile<{ROWS}xf16> -> tile<{ROWS}xf32>
    %s6 = reshape %s5 : tile<{ROWS}xf32> -> tile<{ROWS}x1xf32>
    %s7 = broadcast %s6 : tile<{ROWS}x1xf32> -> {wide}
    %scaled = mulf %dots, %s7 : {wide}
    %result = ftof %scaled : {wide} -> tile<{ROWS}x{COLUMNS}xf16>
    %width = constant <i32: {COLUMNS}> : tile<{ROWS}xi32>
    %starts = muli %to, %width : tile<{ROWS}xi32>
    %r1 = reshape %starts : tile<{ROWS}xi32> -> tile<{ROWS}x1xi32>
    %r2 = broadcast %r1 : tile<{ROWS}x1xi32> -> {indices}
    %columns = iota : tile<{COLUMNS}xi32>
    %c1 = reshape %columns : tile<{COLUMNS}xi32> -> tile<1x{COLUMNS}xi32>
    %c2 = broadcast %c1 : tile<1x{COLUMNS}xi32> -> {indices}
    %index = addi %r2, %c2 : {indices}
    %p1 = reshape %cp : tile<ptr<f16>> -> tile<1x1xptr<f16>>
    %p2 = broadcast %p1 : tile<1x1xptr<f16>> -> {pointers}
    %p3 = offset %p2, %index : {pointers}, {indices} -> {pointers}
    %t4 = store_ptr_tko weak %p3, %result : {pointers}, tile<{ROWS}x{COLUMNS}xf16> -> token
    return
  }}
}}
"""


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_rows_are_scaled_and_scattered(steps: int) -> None:
    generator = np.random.default_rng(9)
    a = generator.integers(-3, 4, (ROWS, LENGTH)).astype(np.float16)
    b = generator.integers(-3, 4, (LENGTH, COLUMNS)).astype(np.float16)
    order = generator.permutation(ROWS).astype(np.int32)
    scale = generator.choice([0.5, 1.0, 2.0], ROWS).astype(np.float16)
    result = np.full((ROWS, COLUMNS), 99, np.float16)
    arrays = [a, b, order, scale, result, steps]
    text = program()
    module = read_runnable(text, "kernel.mlir")
    run_ptx(compiled(text).ptx, module, "k", (1, 1, 1), arrays, check=True)
    used = steps * STEP
    dots = a[:, :used].astype(np.float32) @ b[:used].astype(np.float32)
    expected = np.empty_like(result)
    expected[order] = dots * scale[order].astype(np.float32)[:, None]
    assert np.array_equal(result, expected)


def test_accumulators_are_stored_as_matrices_and_scales_loaded_before_the_loop() -> None:
    """Half of the warps write a piece of the tile at a time; a thread stores rows of 16 bytes."""
    ptx = compiled(program()).ptx
    assert ptx.count("stmatrix.sync.aligned.m8n8.x4") == 16
    assert "st.shared.b16" not in ptx
    assert ptx.index("ld.global.b16") < ptx.index("wgmma.mma_async")
