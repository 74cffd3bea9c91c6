"""Run passes on small programs of Tile IR."""

from __future__ import annotations

from integrity import check_integrity

from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.assembly import parse_module
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.verifier import verify

SCALE = """\
cuda_tile.module @kernels {
  entry @scale(%x: tile<ptr<f32>>, %by: tile<f32>) {
    %b, %b1, %b2 = get_tile_block_id : tile<i32>
    %p = offset %x, %b : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %v, %t0 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %w = mulf %v, %by : tile<f32>
    %t1 = store_ptr_tko weak %p, %w token=%t0 : tile<ptr<f32>>, tile<f32> -> token
    %t2 = print_tko "%g\\0A", %w : tile<f32> -> token
    return
  }
}
"""
"""A kernel that multiplies an element for each block, and prints the result."""


def kernel(body: str, arguments: str = "") -> ModuleOp:
    """A module with one kernel of these operations."""
    module = parse_module(f"entry @kernel({arguments}) {{\n{body}\nreturn\n}}", "test.mlir")
    verify(module)
    return module


def run(module: ModuleOp, passes: str = "canonicalize") -> ModuleOp:
    """Run passes, and verify the program afterwards."""
    parse_pipeline(passes).run(module)
    verify(module)
    check_integrity(module)
    return module


def lines(module: ModuleOp) -> list[str]:
    """Return the lines of the first kernel, without its last `return`."""
    text = str(next(module.entries())).splitlines()[1:-2]
    return [line.strip() for line in text]


def simplified(body: str, arguments: str = "", passes: str = "canonicalize") -> list[str]:
    """Return the lines of a kernel after passes."""
    return lines(run(kernel(body, arguments), passes))


def same(body: str, expected: str, arguments: str = "", passes: str = "canonicalize") -> bool:
    """Return whether passes rewrite a kernel to another one."""
    return simplified(body, arguments, passes) == lines(kernel(expected, arguments))
