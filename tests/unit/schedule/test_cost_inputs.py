"""Facts of plans, as the cost model reads them from lowered kernels."""

from __future__ import annotations

from scheduled_loops import lowered_as_far_as, matmul, optimized

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.schedule.cost_inputs import plan_of


def test_the_barrier_of_a_wait_for_copies_counts_once() -> None:
    """An iteration of a pipeline that threads copy to has one barrier: after its wait."""
    module = lowered_as_far_as("synchronize", optimized(matmul(128, 128, 32)), "sm_80")
    (kernel,) = (op for op in module.walk() if isinstance(op, FuncOp))
    plan = plan_of(kernel)
    assert plan.loop.stages > 1
    assert plan.loop.barriers == 1
