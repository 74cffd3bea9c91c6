"""The order of two warpgroups: a named barrier for each, where it waits and the other arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import constant
from tilewright.conversion.nv_tileas_to_nvgpu.predication import predicated
from tilewright.conversion.nv_tileas_to_nvgpu.threads import (
    enclosing_function,
    thread_count,
    uniform_thread_id,
)
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.integer import AddIOp, ShRUIOp, XOrIOp
from tilewright.dialects.cute_nvgpu.threads import NamedBarrierArriveOp, NamedBarrierSyncOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp
from tilewright.dialects.nv_tileas.warpgroup_order import (
    ArriveInOrderOp,
    BeginOrderOp,
    EndOrderOp,
    OrderOp,
    WaitForOrderOp,
)
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.layout.linear import log2
from tilewright.support.diagnostics import Unsupported
from tilewright.target.arch import WARP_SIZE
from tilewright.target.resources import NAMED_BARRIERS
from tilewright.target.tensor_cores import WARPGROUP

if TYPE_CHECKING:
    from tilewright.ir.values import Value


@converts(BeginOrderOp)
def begin(op: BeginOrderOp, new: BeginOrderOp, build: ConversionBuilder) -> Result:
    """The second warpgroup arrives at the barrier of the first."""
    with predicated(build, _is_group(op, build, 1)):
        barrier = constant(build, _first_barrier(op))
        build.create(NamedBarrierArriveOp, barrier=barrier, threads=_threads(op, build))
    return []


@converts(WaitForOrderOp)
def wait(op: WaitForOrderOp, new: WaitForOrderOp, build: ConversionBuilder) -> Result:
    """A warpgroup waits at its own barrier."""
    barrier = _barrier(op, build, _group(op, build))
    build.create(NamedBarrierSyncOp, barrier=barrier, threads=_threads(op, build))
    return []


@converts(ArriveInOrderOp)
def arrive(op: ArriveInOrderOp, new: ArriveInOrderOp, build: ConversionBuilder) -> Result:
    """A warpgroup arrives at the barrier of the other one."""
    other = build.create(XOrIOp, lhs=_group(op, build), rhs=constant(build, 1)).result
    barrier = _barrier(op, build, other)
    build.create(NamedBarrierArriveOp, barrier=barrier, threads=_threads(op, build))
    return []


@converts(EndOrderOp)
def end(op: EndOrderOp, new: EndOrderOp, build: ConversionBuilder) -> Result:
    """The first warpgroup waits for the last arrival of the second."""
    with predicated(build, _is_group(op, build, 0)):
        barrier = constant(build, _first_barrier(op))
        build.create(NamedBarrierSyncOp, barrier=barrier, threads=_threads(op, build))
    return []


def _first_barrier(op: OrderOp) -> int:
    """The number of the barrier of the first warpgroup: after those of all agents."""
    agents = [each for each in enclosing_function(op).walk() if isinstance(each, AgentSwitchOp)]
    number = 1 + len(agents)
    if number + 1 >= NAMED_BARRIERS:
        raise Unsupported(f"an order of warpgroups beside {len(agents)} agents", op.location)
    return number


def _group(op: OrderOp, build: ConversionBuilder) -> Value:
    """The number of the warpgroup in its agent."""
    bits = constant(build, log2(WARPGROUP * WARP_SIZE))
    return build.create(ShRUIOp, lhs=uniform_thread_id(op, build), rhs=bits).result


def _is_group(op: OrderOp, build: ConversionBuilder, number: int) -> Value:
    group = _group(op, build)
    return build.create(
        CmpIOp, predicate=CmpIPredicate.EQ, lhs=group, rhs=constant(build, number)
    ).result


def _barrier(op: OrderOp, build: ConversionBuilder, group: Value) -> Value:
    return build.create(AddIOp, lhs=group, rhs=constant(build, _first_barrier(op))).result


def _threads(op: OrderOp, build: ConversionBuilder) -> Value:
    return constant(build, thread_count(op))


PATTERNS: Final[Patterns] = (begin, wait, arrive, end)
