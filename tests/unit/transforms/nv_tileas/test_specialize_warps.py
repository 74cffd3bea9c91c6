"""specialize-warps: a function that cannot be split stays as it is; what agents share."""

from __future__ import annotations

import pytest
from scheduled_loops import scheduled
from specialized_programs import Gemm

import tilewright
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp
from tilewright.dialects.nv_tileas.attribute_names import SCHEDULE
from tilewright.dialects.nv_tileas.attributes import ScheduleAttr
from tilewright.dialects.nv_tileas.tensor_map import CreateTensorMapsOp
from tilewright.dialects.nv_tileas.types import PipelineType
from tilewright.driver.pipelines import parse_pipeline
from tilewright.text.printer import print_op


def test_a_function_whose_loops_have_different_stages_is_left_untouched() -> None:
    """Loads of tf32 would be replaced first, by loads of the rounded tile."""
    gemm = Gemm("f32", precision="tf32")
    loops = gemm.k_loop("first", "%zero") + gemm.k_loop("sum", "%zero", start="%first")
    module = scheduled(gemm.program(loops + gemm.store(row="%zero")), schedule="agents=1")
    *_, last = [op for op in module.walk() if SCHEDULE in op.attributes]
    schedule = last.attributes[SCHEDULE]
    assert isinstance(schedule, ScheduleAttr)
    last.attributes[SCHEDULE] = ScheduleAttr(schedule.stages - 1, schedule.distance - 1)
    before = print_op(module)
    with pytest.raises(tilewright.UserError, match="expected all loops to have the same stages"):
        parse_pipeline("specialize-warps").run(module)
    assert print_op(module) == before


def test_each_agent_computes_its_own_scalars() -> None:
    """A scalar from before the agents would take a register of every thread in both."""
    module = scheduled(Gemm().persistent(), schedule="agents=1")
    parse_pipeline("specialize-warps").run(module)
    agents = [op for op in module.walk() if isinstance(op, AgentSwitchOp)]
    producer, consumer = agents
    for agent in agents:
        inside = set(agent.walk())
        taken = {
            operand
            for op in inside
            for operand in op.operands
            if (source := operand.defining_op()) is not None and source not in inside
        }
        views = {
            operand for op in inside if isinstance(op, CreateTensorMapsOp) for operand in op.views
        }
        others = [value for value in taken - views if not isinstance(value.type, PipelineType)]
        assert not others, agent
    assert any(isinstance(op, CreateTensorMapsOp) for op in producer.walk())
    assert not any(isinstance(op, CreateTensorMapsOp) for op in consumer.walk())
