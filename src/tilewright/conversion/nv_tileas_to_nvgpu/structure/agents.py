"""Agents: warp specialization, in which each range of warps executes its own region."""

from __future__ import annotations

from typing import Final

from tilewright.conversion.nv_tileas_to_nvgpu.context import lowering_context
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import constant
from tilewright.conversion.nv_tileas_to_nvgpu.predication import predicated
from tilewright.conversion.nv_tileas_to_nvgpu.threads import (
    enclosing_function,
    thread_count,
    thread_id,
)
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.integer import SubIOp
from tilewright.dialects.nv_tileaa.queue import PluginOp
from tilewright.dialects.nv_tileas.attribute_names import SCRATCH_OFFSET
from tilewright.dialects.nv_tileas.pipeline import AgentSwitchOp, ExecuteOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.support.diagnostics import Unsupported
from tilewright.target.arch import WARP_SIZE


@converts(AgentSwitchOp)
def agent_switch(op: AgentSwitchOp, new: AgentSwitchOp, build: ConversionBuilder) -> Result:
    """A branch on the thread id, which counts from the agent's first thread inside."""
    for inner in op.walk():
        if SCRATCH_OFFSET in inner.attributes:
            raise Unsupported(f"'{inner.name}' through shared memory in an agent", inner.location)
    all_threads = thread_count(enclosing_function(op))
    first, count = op.first * WARP_SIZE, op.warps * WARP_SIZE
    number = thread_id(op, build)
    if first:
        number = build.create(SubIOp, lhs=number, rhs=constant(build, first)).result
    lowering_context(build).agent_thread_ids[op] = number
    if count == all_threads:
        return build.inline_block(op.body.block, [])
    bound = constant(build, count)
    is_member = build.create(CmpIOp, predicate=CmpIPredicate.ULT, lhs=number, rhs=bound).result
    with predicated(build, is_member):
        build.inline_block(op.body.block, [])
    return []


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
