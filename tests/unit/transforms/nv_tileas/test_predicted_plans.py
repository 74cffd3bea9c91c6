"""The facts of plans, predicted before pipelines are built, and as they are read afterwards."""

from typing import Any

import pytest
from attention_programs import Attention
from scheduled_loops import lowered_as_far_as, matmul
from specialized_programs import Gemm

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.schedule.cost_inputs import Plan, plan_of
from tilewright.transforms.nv_tileas.predicted_plans import PredictedPlans

REST = "specialize-warps,materialize-schedule,schedule-operations,allocate,synchronize"


def function_of(module: Operation) -> FuncOp:
    return next(op for op in module.walk() if isinstance(op, FuncOp))


def predicted_and_read(
    monkeypatch: pytest.MonkeyPatch, program: str, schedule: str
) -> tuple[list[Plan], Plan]:
    """The plans of all candidates in order, and what is read of the one that is chosen."""
    plans: list[Plan] = []
    threads, tma = PredictedPlans.by_threads, PredictedPlans.by_tma

    def by_threads(*arguments: Any) -> Plan:
        plans.append(threads(*arguments))
        return plans[-1]

    def by_tma(*arguments: Any) -> Plan:
        plans.append(tma(*arguments))
        return plans[-1]

    monkeypatch.setattr(PredictedPlans, "by_threads", by_threads)
    monkeypatch.setattr(PredictedPlans, "by_tma", by_tma)
    module = lowered_as_far_as("schedule-loops", program, schedule=schedule)
    parse_pipeline(REST).run(module)
    return plans, plan_of(function_of(module))


@pytest.mark.parametrize(("program", "schedule"), [
    (matmul(128, 128, 64), ""),
    (matmul(64, 64, 128), ""),
    (Gemm(tile=(128, 128, 64)).persistent(), ""),
    (Gemm("f8E4M3FN", (128, 128, 64), k_major=True).one_shot(), ""),
    (Attention(rows=128).program, "rotate=0"),
    (Attention(rows=128, rotated=True).program, ""),
], ids="matmul small persistent fp8 attention rotated".split())  # fmt: skip
def test_a_candidate_predicts_what_is_built(
    monkeypatch: pytest.MonkeyPatch, program: str, schedule: str
) -> None:
    plans, read = predicted_and_read(monkeypatch, program, schedule)
    known = {(plan.loop._replace(multiplications=0), plan.has_agents) for plan in plans}
    assert len(plans) > 1
    assert (read.loop._replace(multiplications=0), read.has_agents) in known
