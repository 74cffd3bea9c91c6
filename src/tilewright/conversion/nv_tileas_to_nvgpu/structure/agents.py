"""Agents: warp specialization, in which each range of warps executes its own region."""

from __future__ import annotations

from itertools import dropwhile, islice, takewhile
from typing import TYPE_CHECKING, Final

from tilewright.analysis.targets import target_or_baseline
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import constant
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.mbarriers import invalidate_drained
from tilewright.conversion.nv_tileas_to_nvgpu.predication import predicated
from tilewright.conversion.nv_tileas_to_nvgpu.threads import (
    define_agent_thread_id,
    enclosing_function,
    thread_count,
    uniform_agent_thread_id,
    warp_count,
)
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.cute_nvgpu.attributes import RegisterAction
from tilewright.dialects.cute_nvgpu.threads import SetMaxRegistersOp
from tilewright.dialects.nv_tileaa.queue import PluginOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp, ExecuteOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.schedule.registers import launch_registers
from tilewright.support.diagnostics import Unsupported
from tilewright.target.arch import REGISTER_STEP, WARP_SIZE
from tilewright.target.resources import REALLOCATED
from tilewright.target.tensor_cores import WARPGROUP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.values import Value


@converts(AgentSwitchOp)
def agent_switch(op: AgentSwitchOp, new: AgentSwitchOp, build: ConversionBuilder) -> Result:
    """A branch on the thread id, which counts from the agent's first thread inside."""
    if any(op in _sharing(other) for other in _agents_beside(op)):
        return []
    define_agent_thread_id(op, build)
    if op.warps == warp_count(enclosing_function(op)):
        return _run(op, build)
    if not _sets_registers(op):
        _branch(op, build)
        return []
    chosen = _set_warps(op)
    with predicated(build, _is_member(op, build, chosen)):
        _set_registers(op, build)
        if chosen == op.warps:
            _run(op, build)
            return []
        _branch(op, build)
        # In the branch of the warpgroup, ptxas knows how many registers they have.
        for other in _sharing(op):
            define_agent_thread_id(other, build)
            _branch(other, build)
    return []


def _branch(op: AgentSwitchOp, build: ConversionBuilder) -> None:
    with predicated(build, _is_member(op, build, op.warps)):
        _run(op, build)


def _run(op: AgentSwitchOp, build: ConversionBuilder) -> Sequence[Value]:
    """The code of an agent, at the end of which the barriers of its drained pipelines end."""
    values = build.inline_block(op.body.block, [])
    invalidate_drained(op, build)
    return values


def _sets_registers(op: AgentSwitchOp) -> bool:
    return bool(op.max_registers) and target_or_baseline(op).reallocates_registers


def _set_warps(op: AgentSwitchOp) -> int:
    """The warps from an agent's first on that execute setmaxnreg: all of a warpgroup do."""
    return -(-op.warps // WARPGROUP) * WARPGROUP


def _agents_beside(op: AgentSwitchOp) -> list[AgentSwitchOp]:
    """All agents of the block that an agent is in."""
    assert op.parent is not None
    return [other for other in op.parent if isinstance(other, AgentSwitchOp)]


def _sharing(op: AgentSwitchOp) -> list[AgentSwitchOp]:
    """The agents right after one whose warps have their registers set by it."""
    if not _sets_registers(op):
        return []
    assert op.parent is not None
    following = islice(dropwhile(lambda other: other is not op, op.parent), 1, None)
    agents = takewhile(lambda other: isinstance(other, AgentSwitchOp), following)
    end = op.first + _set_warps(op)
    return [
        other
        for other in agents
        if isinstance(other, AgentSwitchOp)
        and not other.max_registers
        and op.first <= other.first
        and other.first + other.warps <= end
    ]


def _is_member(op: AgentSwitchOp, build: ConversionBuilder, warps: int) -> Value:
    """Whether the thread is in one of some warps from the agent's first on."""
    number, bound = uniform_agent_thread_id(op, build), constant(build, warps * WARP_SIZE)
    return build.create(CmpIOp, predicate=CmpIPredicate.ULT, lhs=number, rhs=bound).result


def _set_registers(op: AgentSwitchOp, build: ConversionBuilder) -> None:
    """Release registers, or wait for those that other agents release."""
    function = enclosing_function(op)
    spec = function.kernel_spec
    assert spec is not None
    at_launch = launch_registers(thread_count(function), spec.occupancy)
    wanted = max(op.max_registers // REGISTER_STEP * REGISTER_STEP, REALLOCATED[0])
    if wanted != at_launch:
        action = RegisterAction.INCREASE if wanted > at_launch else RegisterAction.DECREASE
        build.create(SetMaxRegistersOp, action=action, count=wanted)


@converts(ExecuteOp)
def execute(op: ExecuteOp, new: ExecuteOp, build: ConversionBuilder) -> Result:
    """The code of a plugin is not part of the program."""
    raise Unsupported(f"the code of the plugin '@{op.plugin}'", op.location)


@converts(PluginOp)
def plugin(op: PluginOp, new: PluginOp, build: ConversionBuilder) -> Result:
    """Drop plugins: their resources have been granted."""
    return []


PATTERNS: Final[Patterns] = (
    agent_switch,
    execute,
    plugin,
)
