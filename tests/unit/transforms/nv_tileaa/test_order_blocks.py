"""order-blocks: how bounds change with a block id, and that all blocks still run."""

from __future__ import annotations

import re

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
    %columns, %rows, %layers = get_num_tile_blocks : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %end = addi %block, %one : tile<i32>
    %sum = for %i in (%zero to %end, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
      %at = offset %x, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %v, %t = load_ptr_tko weak %at : tile<ptr<i32>> -> tile<i32>, token
      %next = addi %s, %v : tile<i32>
      continue %next : tile<i32>
    }
    ROW
    %begin = muli %row, %columns : tile<i32>
    %index = addi %begin, %block : tile<i32>
    %to = offset %out, %index : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %old, %u = load_ptr_tko weak %to : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %old, %sum : tile<i32>
    %done = store_ptr_tko weak %to, %new : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}"""
"""Block x of each row adds the first x + 1 elements, to what is in its result."""

IN_Y = "%row = addi %y, %zero : tile<i32>"
IN_Y_AND_Z = "%before = muli %z, %rows : tile<i32> %row = addi %y, %before : tile<i32>"


@pytest.mark.parametrize(
    ("row", "grid"),
    [
        (IN_Y, (7, 1, 1)),
        (IN_Y, (7, 40, 1)),
        (IN_Y_AND_Z, (7, 5, 8)),
        (IN_Y_AND_Z, (150, 2, 2)),
    ],
)
def test_each_block_runs_once(row: str, grid: tuple[int, int, int]) -> None:
    values = np.arange(1, grid[0] + 1, dtype=np.int32)
    out = np.zeros(grid[::-1], np.int32)
    program = read_runnable(PREFIX_SUMS.replace("ROW", row), "f.mlir")
    ptx = tilewright.compile(program, "sm_90", emit="ptx").ptx
    assert "%nctaid.x" in ptx
    assert "div.u32" in ptx
    run_ptx(ptx, program, "f", grid, [values, out])
    np.testing.assert_array_equal(out, np.broadcast_to(np.cumsum(values), out.shape))


BLOCK = """cuda_tile.module @kernels {
  entry @f(%out: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %at = offset %out, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %trips = for %i in (%zero to %x, step %one) : tile<i32> iter_values(%n = %zero) -> (tile<i32>) {
      %next = addi %n, %one : tile<i32>
      continue %next : tile<i32>
    }
    %t = store_ptr_tko weak %out, %trips : tile<ptr<i32>>, tile<i32> -> token
    %u = store_ptr_tko weak %at, %y : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}"""
"""A block stores its x, which is how many iterations it has, and y."""


@pytest.mark.parametrize(("columns", "rows"), [(3, 50), (64, 3), (200, 2)])
def test_the_last_blocks_of_a_group_start_first(columns: int, rows: int) -> None:
    size = -(-128 // columns)
    groups = [range(first, min(first + size, rows)) for first in range(0, rows, size)]
    expected = [[x, y] for group in groups for x in reversed(range(columns)) for y in group]
    program = read_runnable(BLOCK, "block.mlir")
    ptx = tilewright.compile(program, "sm_90", emit="ptx").ptx
    for number in (0, 1, columns, 2 * columns - 1, columns * (rows - 1), columns * rows - 1):
        registers = {"%ctaid.x": number % columns, "%ctaid.y": number // columns}
        registers |= {"%nctaid.x": columns, "%nctaid.y": rows}
        one_block = re.sub(r"%n?ctaid\.[xy]", lambda name, of=registers: str(of[name[0]]), ptx)
        out = np.zeros(2, np.int32)
        run_ptx(one_block, program, "f", 1, [out])
        assert out.tolist() == expected[number]
