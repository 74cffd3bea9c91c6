"""The order of the two warpgroups that consume, in loops whose dots overlap with other work.

In a loop that `rotate-dots` has rotated, each warpgroup issues two dots and computes while the
second is in flight. If both warpgroups issue at the same time, they also compute at the same time,
and the tensor cores wait for both. So a warpgroup issues its dots only after the other one has: it
computes while those of the other run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.warpgroup_order import (
    WARPGROUPS,
    ArriveInOrderOp,
    BeginOrderOp,
    EndOrderOp,
    WaitForOrderOp,
)
from tilewright.dialects.scf import ForOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.target.tensor_cores import WARPGROUP
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileas.shared_accesses import synchronizes

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Block
    from tilewright.support.diagnostics import Sink


class OrderWarpgroups(KernelPass):
    """Let two warpgroups issue dots that overlap with other work one after the other."""

    name = "order-warpgroups"
    change = Change.IMPROVE

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        for agent in [inner for inner in function.walk() if isinstance(inner, AgentSwitchOp)]:
            if agent.warps == WARPGROUPS * WARPGROUP:
                _order(agent)


def _order(agent: AgentSwitchOp) -> None:
    bodies = [op.body.block for op in agent.walk() if isinstance(op, ForOp)]
    overlapping = {body: dots for body in bodies if (dots := _overlapping_dots(body))}
    if not overlapping:
        return
    for dots in overlapping.values():
        Builder(InsertPoint.before(dots[0]), dots[0].location).create(WaitForOrderOp)
        Builder(InsertPoint.after(dots[-1]), dots[-1].location).create(ArriveInOrderOp)
    block, last = agent.body.block, agent.body.block.last
    assert last is not None
    Builder(InsertPoint.at_start(block), agent.location).create(BeginOrderOp)
    Builder(InsertPoint.before(last), agent.location).create(EndOrderOp)


def _overlapping_dots(body: Block) -> list[DotOp]:
    """The dots of a block that are waited for in the same iteration, if there are several.

    None if a barrier of both warpgroups lies between them, at which one would wait for ever.
    """
    ops = list(body)
    dots = [op for op in ops if isinstance(op, DotOp) and op.asynchronous]
    users = [user for dot in dots for user in dot.result.users]
    if len(dots) < 2 or not all(isinstance(op, DotWaitOp) and op.parent is body for op in users):
        return []
    between = ops[ops.index(dots[0]) : ops.index(dots[-1])]
    return [] if any(synchronizes(op) or op.regions for op in between) else dots
