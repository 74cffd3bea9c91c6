"""order-blocks: how bounds change with a block id, and that all blocks still run."""

from __future__ import annotations

import numpy as np
import pytest
from dialect_text import read

import tilewright
from tilewright.dialects.nv_tileaa.program import GetProgramIdOp
from tilewright.dialects.scf import ForOp
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx
from tilewright.transforms.nv_tileaa.order_blocks import Trend, Trends

BOUNDS = [
    ("%x", Trend.UP),
    ("%n", Trend.NONE),
    ("%y", Trend.NONE),
    ("nv_tileaa.addi %x, %n : i32", Trend.UP),
    ("nv_tileaa.subi %x, %n : i32", Trend.UP),
    ("nv_tileaa.subi %n, %x : i32", Trend.UNKNOWN),
    ("nv_tileaa.muli %x, %four : i32", Trend.UP),
    ("nv_tileaa.muli %minus, %x : i32", Trend.UNKNOWN),
    ("nv_tileaa.muli %x, %n : i32", Trend.UNKNOWN),
    ("nv_tileaa.divi %x, %four signed rounding<positive_inf> : i32", Trend.UP),
    ("nv_tileaa.divi %four, %x signed rounding<positive_inf> : i32", Trend.UNKNOWN),
    ("nv_tileaa.divi %x, %minus signed rounding<zero> : i32", Trend.UNKNOWN),
    ("arith.minsi %x, %n : i32", Trend.UP),
    ("arith.maxsi %n, %x : i32", Trend.UP),
    ("nv_tileaa.remi %x, %four signed : i32", Trend.UNKNOWN),
    ("nv_tileaa.muli %n, %four : i32", Trend.NONE),
]


@pytest.mark.parametrize(("bound", "trend"), BOUNDS)
def test_trends(bound: str, trend: Trend) -> None:
    named = bound if bound.startswith("%") else "%bound"
    computed = "" if bound.startswith("%") else f"%bound = {bound}"
    module = read(f"""gpu.module @kernels {{
      nv_tileaa.func @f(%n: i32) {{
        %four = arith.constant 4 : i32
        %minus = arith.constant -1 : i32
        %x, %y, %z = nv_tileaa.get_program_id : i32, i32, i32
        {computed}
        scf.for %i = %four to {named} step %four : i32 {{
        }}
        nv_tileaa.return
      }}
    }}""")
    (ids,) = [op for op in module.walk() if isinstance(op, GetProgramIdOp)]
    (loop,) = [op for op in module.walk() if isinstance(op, ForOp)]
    assert Trends(ids.x).of(loop.upper_bound) is trend


PREFIX_SUMS = """cuda_tile.module @kernels {
  entry @f(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %block, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %end = addi %block, %one : tile<i32>
    %sum = for %i in (%zero to %end, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
      %at = offset %x, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %v, %t = load_ptr_tko weak %at : tile<ptr<i32>> -> tile<i32>, token
      %next = addi %s, %v : tile<i32>
      continue %next : tile<i32>
    }
    %to = offset %out, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %done = store_ptr_tko weak %to, %sum : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}"""
"""Block i adds the first i + 1 elements."""


def test_each_block_runs_once() -> None:
    values = np.arange(1, 8, dtype=np.int32)
    out = np.zeros_like(values)
    program = read_runnable(PREFIX_SUMS, "f.mlir")
    ptx = tilewright.compile(program, "sm_90", emit="ptx").ptx
    assert "%nctaid.x" in ptx
    run_ptx(ptx, program, "f", 7, [values, out])
    np.testing.assert_array_equal(out, np.cumsum(values))
