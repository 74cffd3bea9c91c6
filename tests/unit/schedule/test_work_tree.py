"""The work of a kernel as a tree of loops, against counts by hand."""

from __future__ import annotations

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.api import read_level
from tilewright.schedule.work_tree import LaunchArguments, LaunchedBlock, tree_of

TEXT = """
nv_tileaa.func @kernel(%n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %zero = arith.constant 0.0 : f32
  %x = nv_tileaa.splat %zero : f32 -> tensor<256xf32>
  %id:3 = nv_tileaa.get_program_id : i32, i32, i32
  %end = nv_tileaa.addi %id#0, %n : i32
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> (tensor<256xf32>) : i32 {
    %first = nv_tileaa.cmpi slt, %i, %c3 : i32
    %b = scf.if %first -> (tensor<256xf32>) {
      %e = nv_tileaa.exp2 %a : tensor<256xf32>
      scf.yield %e : tensor<256xf32>
    } else {
      scf.yield %a : tensor<256xf32>
    }
    %s = nv_tileaa.addf %b, %b : tensor<256xf32>
    scf.yield %s : tensor<256xf32>
  }
  nv_tileaa.return
}
"""


def function_of() -> FuncOp:
    module = read_level(TEXT.encode(), "kernel")
    return next(op for op in module.walk() if isinstance(op, FuncOp))


def test_a_launch_knows_trips_and_branches() -> None:
    """Block 2 and n = 10: 12 iterations, of which 3 take an exponential."""
    (loop,) = tree_of(
        function_of(), LaunchedBlock(LaunchArguments([10]), (2, 0, 0), (4, 1, 1))
    ).root.loops
    assert (loop.trips, loop.entries, loop.number) == (12, 1, 1)
    assert loop.work.special == ((256, 3 / 12),)


def test_a_program_alone_does_not() -> None:
    """Half of the iterations are assumed to take a branch of unknown condition."""
    (loop,) = tree_of(function_of()).root.loops
    assert loop.trips is None
    assert loop.work.special == ((256, 0.5),)
