"""The number of CTAs of a cluster: from a hint to a launch configuration."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.assembly import parse_any
from tilewright.driver.pipelines import parse_pipeline
from tilewright.support.diagnostics import Sink
from tilewright.support.remarks import Remark

PROGRAM: Final = """
gpu.module @kernels attributes {
  nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>
} {
  nv_tileaa.func @kernel(%p: !nv_tileaa.ptr<i32>) attributes {
    kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 4>
  } {
    NUMBER
    %t = nv_tileaa.store weak %p, %number : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
}
"""


def converted(number: str) -> tuple[FuncOp, list[Remark]]:
    """Convert a kernel that stores a number."""
    module = parse_any(PROGRAM.replace("NUMBER", f"%number = {number} : i32"), "kernel.mlir")
    sink = Sink(remarks=True)
    parse_pipeline("record-requests,convert-tileaa-to-tileas").run(module, sink)
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    return function, [each for each in sink.remarks if each.name == "RemarkCluster"]


def test_ctas_that_share_tiles_are_launched_as_a_cluster() -> None:
    function, remarks = converted("nv_tileaa.get_cta_rank")
    assert function.cluster_size == 4
    assert not remarks


def test_a_hint_that_is_not_met_is_dropped_with_a_remark() -> None:
    function, remarks = converted("arith.constant 7")
    assert function.cluster_size == 1
    (remark,) = remarks
    assert remark.kind == "missed"
    assert remark.message == "num_ctas 4 is not used: each CTA computes tiles of its own"
