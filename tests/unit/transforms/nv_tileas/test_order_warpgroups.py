"""order-warpgroups: where two warpgroups wait for each other, and where they must not."""

from __future__ import annotations

import pytest
from attention_programs import Attention
from dialect_text import read

from tilewright.dialects.nv_tileas.agents import AgentSwitchOp
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.sync import BarrierOp
from tilewright.dialects.nv_tileas.warpgroup_order import (
    ArriveInOrderOp,
    BeginOrderOp,
    EndOrderOp,
    OrderOp,
    WaitForOrderOp,
)
from tilewright.dialects.scf import ForOp
from tilewright.driver.api import read_level
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import levels_between, parse_pipeline, passes_to
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError


def lowered(attention: Attention, schedule: str = "agents=1") -> Operation:
    """An attention kernel at the level of nv_tileas."""
    module = wrap_in_module(read_level(attention.program, "attention.mlir"))
    for level in levels_between("cuda_tile", "nv_tileas"):
        parse_pipeline(passes_to(level, "sm_90", schedule=schedule)).run(module)
    verify(module)
    return module


def consumer_of(module: Operation) -> AgentSwitchOp:
    return next(op for op in module.walk() if isinstance(op, AgentSwitchOp) and op.warps > 1)


def orders(op: Operation) -> list[OrderOp]:
    return [inner for inner in op.walk() if isinstance(inner, OrderOp)]


ROTATED = Attention(rows=128, keys=128, dim=64)


def test_dots_are_issued_between_the_wait_and_the_arrival() -> None:
    agent = consumer_of(lowered(ROTATED))
    body = agent.body.block
    assert isinstance(body.first, BeginOrderOp)
    assert body.last is not None
    assert isinstance(body.last.prev, EndOrderOp)
    loops = [op for op in agent.walk() if isinstance(op, ForOp)]
    assert len(loops) == 2
    for loop in loops:
        first, second = [op for op in loop.body.block if isinstance(op, DotOp)]
        assert isinstance(first.prev, WaitForOrderOp)
        assert isinstance(second.next, ArriveInOrderOp)
        assert len(orders(loop)) == 2


def test_one_warpgroup_has_no_order() -> None:
    assert not orders(lowered(Attention(rows=64, keys=128, dim=64)))


def test_dots_that_are_waited_for_at_once_have_no_order() -> None:
    assert not orders(lowered(ROTATED, "agents=1 rotate=0"))


def test_no_barrier_of_both_is_between() -> None:
    """The second warpgroup would wait for the first, which waits for it at the barrier."""
    module = lowered(ROTATED)
    for op in orders(module):
        op.erase()
    for loop in [op for op in consumer_of(module).walk() if isinstance(op, ForOp)]:
        first, _ = [op for op in loop.body.block if isinstance(op, DotOp)]
        create_op(BarrierOp, location=first.location).insert_after(first)
    parse_pipeline("order-warpgroups").run(module)
    assert not orders(module)


@pytest.mark.parametrize("warps", [4, 12])
def test_only_two_warpgroups_have_an_order(warps: int) -> None:
    text = f"""gpu.module @kernels {{
      nv_tileaa.func @f() attributes {{kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12>}} {{
        nv_tileas.async.pipeline.agent_switch attributes {{warps = {warps} : i32}} {{
          nv_tileas.async.order.begin
          nv_tileas.async.pipeline.yield
        }}
        nv_tileaa.return
      }}
    }}"""
    with pytest.raises(UserError, match="expected an agent of 8 warps around it"):
        read(text)
