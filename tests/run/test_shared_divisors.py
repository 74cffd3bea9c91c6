"""Division of rows by a number each, compiled and run on the emulator, bit for bit as NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_once import compiled
from numpy.typing import NDArray
from row_divisions import COLUMNS, ROWS, program

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx

Array = NDArray[np.float32]


def floats(generator: np.random.Generator, count: int, exponent: int) -> Array:
    """Numbers of both signs whose exponents are at most `exponent` in magnitude."""
    mantissas = generator.uniform(1, 2, count) * generator.choice([-1, 1], count)
    return np.ldexp(mantissas, generator.integers(-exponent, exponent, count)).astype(np.float32)


def dividends(generator: np.random.Generator, kind: str) -> Array:
    """Rows that are divided with the common reciprocal, or of which some elements cannot be."""
    shape = ROWS, COLUMNS
    if kind == "common":
        return floats(generator, ROWS * COLUMNS, 99).reshape(shape)
    every = floats(generator, ROWS * COLUMNS, 127).reshape(shape)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3.4e38, 2.0**-126, 2.0**-101]
    mask = generator.random(shape) < 0.2
    every[mask] = generator.choice(np.array(special, np.float32), mask.sum())
    return every


@pytest.mark.parametrize("kind", ["common", "special"])
@pytest.mark.parametrize("divisors", ["rows", "one"])
def test_division_is_that_of_numpy(kind: str, divisors: str) -> None:
    generator = np.random.default_rng(7)
    x = dividends(generator, kind)
    y = floats(generator, ROWS, 24 if kind == "common" else 126)
    if kind == "special":
        y[1:7] = [0.0, -0.0, np.inf, np.nan, 1e-41, -3e38]
    results = np.zeros_like(x)
    text = program(divisors)
    module = read_runnable(text, "kernel.mlir")
    run_ptx(compiled(text).ptx, module, "k", (1, 1, 1), [x, y, results], check=True)
    with np.errstate(all="ignore"):
        expected = x / (y[:, None] if divisors == "rows" else y[0])
    assert np.array_equal(np.isnan(results), np.isnan(expected))
    numbers = ~np.isnan(expected)
    assert np.array_equal(results.view(np.int32)[numbers], expected.view(np.int32)[numbers])


def test_elements_share_the_reciprocal_of_their_divisor() -> None:
    """A thread has four elements of each of four rows."""
    ptx = compiled(program("rows")).ptx
    assert ptx.count("rcp.approx.ftz.f32") == 4
    assert ptx.count("div.rn.f32") == 16


def normalized(extra: str = "") -> str:
    """`w = exp(x)`, `s` the sum of each row, and `q = w / s` in f16; all three are stored."""
    tile, rows = f"tile<{ROWS}x{COLUMNS}xf32>", f"tile<{ROWS}xf32>"
    narrow = f"tile<{ROWS}x{COLUMNS}xf16>"
    steps = f"strides=[{COLUMNS},1]>"
    floats_view = f"tensor_view<{ROWS}x{COLUMNS}xf32, {steps}"
    narrow_view = f"tensor_view<{ROWS}x{COLUMNS}xf16, {steps}"
    column_view = f"tensor_view<{ROWS}xf32, strides=[1]>"
    matrix = f"partition_view<tile=({ROWS}x{COLUMNS}), {floats_view}>"
    narrow_matrix = f"partition_view<tile=({ROWS}x{COLUMNS}), {narrow_view}>"
    column = f"partition_view<tile=({ROWS}), {column_view}>"
    shape = f"shape = [{ROWS}, {COLUMNS}], strides = [{COLUMNS}, 1]"
    return f"""
cuda_tile.module @m {{
  entry @k(%x0: tile<ptr<f32>>, %w0: tile<ptr<f32>>, %s0: tile<ptr<f32>>, %q0: tile<ptr<f16>>) {{
    %xp = assume div_by<16>, %x0 : tile<ptr<f32>>
    %wp = assume div_by<16>, %w0 : tile<ptr<f32>>
    %qp = assume div_by<16>, %q0 : tile<ptr<f16>>
    %z = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %xp, {shape} : {floats_view}
    %wt = make_tensor_view %wp, {shape} : {floats_view}
    %qt = make_tensor_view %qp, {shape} : {narrow_view}
    %st = make_tensor_view %s0, shape = [{ROWS}], strides = [1] : {column_view}
    %xv = make_partition_view %xt : {matrix}
    %wv = make_partition_view %wt : {matrix}
    %qv = make_partition_view %qt : {narrow_matrix}
    %sv = make_partition_view %st : {column}
    %x, %t0 = load_view_tko weak %xv[%z, %z] : {matrix}, tile<i32> -> {tile}, token
    %w = exp %x : {tile}
    %s = reduce %w dim=1 identities=[0.0 : f32] : {tile} -> {rows}
    (%a: tile<f32>, %b: tile<f32>) {{
      %c = addf %a, %b : tile<f32>
      yield %c : tile<f32>
    }}
    %s1 = reshape %s : {rows} -> tile<{ROWS}x1xf32>
    %s2 = broadcast %s1 : tile<{ROWS}x1xf32> -> {tile}
    %d = divf %w, %s2 : {tile}
    %q = ftof %d : {tile} -> {narrow}
    %t1 = store_view_tko weak %w, %wv[%z, %z] : {tile}, {matrix}, tile<i32> -> token
    %t2 = store_view_tko weak %q, %qv[%z, %z] : {narrow}, {narrow_matrix}, tile<i32> -> token
    %t3 = store_view_tko weak %s, %sv[%z] : {rows}, {column}, tile<i32> -> token{extra}
    return
  }}
}}
"""


def test_weights_divided_by_their_sum_are_those_of_numpy() -> None:
    """Weights may be zero or subnormal; their sum, too, or large or infinite."""
    generator = np.random.default_rng(8)
    x = generator.uniform(-110, 0, (ROWS, COLUMNS)).astype(np.float32)
    x[: ROWS // 2] /= 16
    x[:, 0] = 0
    x[1, 5:9], x[2, :3], x[3, 7], x[4, 7] = -np.inf, 40, np.inf, np.nan
    x[ROWS - 1] -= 60
    weights, norms = np.zeros_like(x), np.zeros(ROWS, np.float32)
    results = np.zeros(x.shape, np.float16)
    arrays = [x, weights, norms, results]
    tilewright.execute(normalized(), "k", 1, arrays, "emulator", check=True, arch="sm_90")
    with np.errstate(all="ignore"):
        assert np.allclose(weights, np.exp(x), rtol=1e-6, atol=1e-44, equal_nan=True)
        expected = (weights / norms[:, None]).astype(np.float16)
    assert np.count_nonzero((0 < weights) & (weights < 2.0**-126)) > 20
    assert np.array_equal(np.isnan(results), np.isnan(expected))
    numbers = ~np.isnan(expected)
    assert np.array_equal(results.view(np.int16)[numbers], expected.view(np.int16)[numbers])


def test_only_the_sum_of_weights_for_f16_is_checked() -> None:
    """No minimum or maximum of weights is computed, unless results are stored in f32, too."""
    in_f16 = tilewright.compile(normalized(), "sm_90", emit="ptx").ptx
    tile = f"tile<{ROWS}x{COLUMNS}xf32>"
    view = f"partition_view<tile=({ROWS}x{COLUMNS}), tensor_view<{ROWS}x{COLUMNS}xf32, "
    stored = f"""
    %t4 = store_view_tko weak %d, %wv[%z, %z] token=%t1
        : {tile}, {view}strides=[{COLUMNS},1]>>, tile<i32> -> token"""
    in_f32 = tilewright.compile(normalized(stored), "sm_90", emit="ptx").ptx
    assert in_f16 is not None
    assert in_f32 is not None
    assert "rcp.approx.ftz.f32" in in_f16
    assert in_f16.count("max.f32") == 0 < in_f32.count("max.f32")
