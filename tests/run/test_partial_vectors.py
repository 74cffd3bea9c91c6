"""Vectors of which only the first elements are in bounds: extents that nothing is known about.

Rows start at multiples of 16 bytes, but may end anywhere; what follows in memory is NaN.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from compiled_once import compiled
from repeats import keep_first

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx

Array = np.ndarray[Any, Any]
STRIDE = 88
"""Elements of a row in memory."""
UNTOUCHED = 77


def program(body: str) -> str:
    """A kernel with the matrices %a, %b and %c, of m x k, k x n and m x n elements."""

    def matrix(name: str, rows: str, columns: str, element: str, tile: str, padding: str) -> str:
        tensor = f"tensor_view<?x?x{element}, strides=[{STRIDE},1]>"
        view = f"partition_view<tile=({tile}),{padding} {tensor}>"
        return f"""
    %p{name} = assume div_by<16>, %{name} : tile<ptr<{element}>>
    %t{name} = make_tensor_view %p{name}, shape = [{rows}, {columns}], strides = [{STRIDE}, 1] :
      tile<i32> -> {tensor}
    %v{name} = make_partition_view %t{name} : {view}"""

    return f"""
cuda_tile.module @m {{
  entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>,
           %m0: tile<i32>, %n0: tile<i32>, %k0: tile<i32>, %steps: tile<i32>) {{
    %m = assume bounded<0, ?>, %m0 : tile<i32>
    %n = assume bounded<0, ?>, %n0 : tile<i32>
    %k = assume bounded<0, ?>, %k0 : tile<i32>
    {matrix("a", "%m", "%k", "f16", "64x32", " padding_value = zero,")}
    {matrix("b", "%k", "%n", "f16", "32x64", " padding_value = zero,")}
    {matrix("c", "%m", "%n", "f16", "64x64", "")}
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    {body}
    return
  }}
}}
"""


def view(tile: str, padding: bool = True) -> str:
    """The type of a view of A, B or C."""
    zero = " padding_value = zero," if padding else ""
    return f"partition_view<tile=({tile}),{zero} tensor_view<?x?xf16, strides=[{STRIDE},1]>>"


GEMM = program(f"""
    %none = constant <f32: 0.0> : tile<64x64xf32>
    %sum = for %i in (%zero to %steps, step %one) : tile<i32>
        iter_values(%s = %none) -> (tile<64x64xf32>) {{
      %p, %tp = load_view_tko weak %va[%x, %i] :
        {view("64x32")}, tile<i32> -> tile<64x32xf16>, token
      %q, %tq = load_view_tko weak %vb[%i, %y] :
        {view("32x64")}, tile<i32> -> tile<32x64xf16>, token
      %r = mmaf %p, %q, %s : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %r : tile<64x64xf32>
    }}
    %d = ftof %sum : tile<64x64xf32> -> tile<64x64xf16>
    %w = store_view_tko weak %d, %vc[%x, %y] :
      tile<64x64xf16>, {view("64x64", padding=False)}, tile<i32> -> token""")


def matrices(m: int, n: int, k: int) -> tuple[Array, Array, Array]:
    """A, B and C: small integers within the extents, NaN in the rest of each row of A and B."""
    numbers = np.random.default_rng(m * n * k)
    a, b = (np.full((rows, STRIDE), np.nan, np.float16) for rows in (m, k))
    a[:, :k] = numbers.integers(-3, 4, (m, k))
    b[:, :n] = numbers.integers(-3, 4, (k, n))
    return a, b, np.full((m, STRIDE), UNTOUCHED, np.float16)


EXTENTS = [(70, 65, 33), (64, 71, 63), (5, 3, 1), (128, 80, 72), (65, 79, 81)]


@pytest.mark.parametrize("schedule", keep_first(["", "agents=1", "stages=1", "agents=0"], 2))
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize(("m", "n", "k"), keep_first(EXTENTS, 2))
def test_gemms(m: int, n: int, k: int, arch: str, schedule: str) -> None:
    a, b, c = matrices(m, n, k)
    module = read_runnable(GEMM, "kernel.mlir")
    made = compiled(GEMM, arch, schedule)
    arguments = [a, b, c, m, n, k, -(-k // 32)]
    run_ptx(made.ptx, module, "k", (-(-m // 64), -(-n // 64), 1), arguments, check=True)
    expected = a[:, :k].astype(np.float32) @ b[:, :n].astype(np.float32)
    assert (c[:, :n] == expected).all()
    assert (c[:, n:] == UNTOUCHED).all()


def test_copies_of_16_bytes_fill_the_stages() -> None:
    made = tilewright.compile(GEMM, "sm_90", emit="ptx", schedule="agents=0")
    copies = re.findall(r"cp\.async\.c[ag]\.shared\.global \[[^]]*\], \[[^]]*\], (\d+)", made.ptx)
    assert copies
    assert set(copies) == {"16"}
    assert not re.search(r"ld\.global\S*\.[bu]16", made.ptx)


def test_tma_needs_no_divisors_of_extents() -> None:
    made = tilewright.compile(GEMM, "sm_90", emit="ptx", schedule="agents=1")
    assert "cp.async.bulk.tensor.2d" in made.ptx


COPY = program(f"""
    %p, %tp = load_view_tko weak %va[%x, %y] :
      {view("64x32")}, tile<i32> -> tile<64x32xf16>, token
    %q = addf %p, %p : tile<64x32xf16>
    %tc2 = make_partition_view %tc : {view("64x32", padding=False)}
    %w = store_view_tko weak %q, %tc2[%x, %y] :
      tile<64x32xf16>, {view("64x32", padding=False)}, tile<i32> -> token""")


@pytest.mark.parametrize("columns", keep_first([1, 7, 8, 31, 40, 63, 64, 65, 80], 5))
def test_loads_and_stores(columns: int) -> None:
    a, b, c = matrices(70, columns, columns)
    module = read_runnable(COPY, "kernel.mlir")
    made = compiled(COPY)
    assert re.search(r"ld\.global\S*\.v\d", made.ptx)
    assert re.search(r"st\.global\S*\.v\d", made.ptx)
    run_ptx(made.ptx, module, "k", (2, 3, 1), [a, b, c, 70, columns, columns, 1], check=True)
    assert (c[:, :columns] == 2 * a[:, :columns]).all()
    assert (c[:, columns:] == UNTOUCHED).all()
