"""specialize-warps: a function that cannot be split stays as it is; what agents share."""

from __future__ import annotations

import pytest
from attention_programs import Attention
from scheduled_loops import scheduled
from specialized_programs import Gemm

import tilewright
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import CopyEngine, ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.tensor_map import CreateTensorMapsOp
from tilewright.dialects.nv_tileas.types import PipelineType
from tilewright.dialects.scf import ForOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Operation
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


def rotated(*, k_major: bool = True) -> tuple[Operation, list[DotOp]]:
    """A scheduled kernel with rotated loops, and the dots of the last loop."""
    program = Attention(rotated=True, k_major=k_major).program
    module = scheduled(program, schedule="agents=1,stages=3")
    *_, loop = [op for op in module.walk() if isinstance(op, ForOp)]
    return module, [op for op in loop.body.block if isinstance(op, DotOp)]


def rejected(module: Operation) -> str:
    """Why a function cannot be split; it is left untouched."""
    before = print_op(module)
    with pytest.raises(tilewright.UserError) as error:
        parse_pipeline("specialize-warps").run(module)
    assert print_op(module) == before
    return str(error.value)


def test_a_dot_must_not_be_in_flight_at_the_end_of_its_block() -> None:
    module, dots = rotated()
    for dot in dots:
        (wait,) = dot.result.users
        assert isinstance(wait, DotWaitOp)
        wait.result.replace_all_uses_with(dot.result)
        wait.erase()
    expected = "a dot is in flight at the end of the block that copies its operands"
    assert expected in rejected(module)


def test_stages_that_are_in_use_at_once_must_exist() -> None:
    """With one stage, the producer would wait for K to be released, and consumers for V."""
    module, (scores, output) = rotated(k_major=False)
    scores.asynchronous = True
    build = Builder(InsertPoint.after(output), output.location)
    build.create(DotWaitOp, accumulator=scores.result, pending=0)
    for op in module.walk():
        if SCHEDULE in op.attributes:
            op.attributes[SCHEDULE] = ScheduleAttr(1, 1)
    assert "expected 2 stages, which are in use at once, got 1" in rejected(module)


def test_a_stage_must_not_be_in_use_during_a_loop_with_other_copies() -> None:
    """A tile of Q would keep its stage as long as the loops run, while V needs it."""
    module = scheduled(Attention(rotated=True).program, schedule="agents=1")
    query = next(op for op in module.walk() if isinstance(op, TiledLoadOp))
    assert ENGINE not in query.attributes
    query.attributes[ENGINE] = CopyEngine.TMA
    expected = "its stage is in use during a loop or branch with other copies"
    assert expected in rejected(module)


def test_copies_must_be_in_regions_that_the_producer_enters() -> None:
    """A tile that is loaded in a branch without a pipelined loop stays with the consumers."""
    gemm = Gemm()
    a, b = f"tile<{gemm.tile[0]}x{gemm.tile[2]}xf16>", f"tile<{gemm.tile[2]}x{gemm.tile[1]}xf16>"
    text = gemm.program(f"""
    {gemm.k_loop("sum", row="%zero")}
    %some = cmpi less_than %zero, %tiles, signed : tile<i32> -> tile<i1>
    %more = if %some -> ({gemm.c}) {{
      %x, %tx = load_view_tko weak %av[%one, %one] : {gemm.view("a")}, tile<i32> -> {a}, token
      %y, %ty = load_view_tko weak %bv[%one, %one] : {gemm.view("b")}, tile<i32> -> {b}, token
      %d = mmaf %x, %y, %sum : {a}, {b}, {gemm.c}
      yield %d : {gemm.c}
    }} else {{
      yield %sum : {gemm.c}
    }}
    {gemm.store("%more", row="%zero")}""")
    module = scheduled(text, schedule="agents=1")
    loads = [op for op in module.walk() if isinstance(op, TiledLoadOp)]
    assert [ENGINE in load.attributes for load in loads] == [True, True, False, False]
    for load in loads:
        load.attributes[ENGINE] = CopyEngine.TMA
    assert "it is in a region that the producer does not enter" in rejected(module)
