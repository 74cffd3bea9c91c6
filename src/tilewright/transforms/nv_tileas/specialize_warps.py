"""Warp specialization: one warp copies tiles by TMA, the others compute.

A function whose scheduled loops copy by TMA is split into two agents. The producer, a warp after
those that compute, fills a stage for each group of loads; the consumers wait for each stage, read
it and release it. There is a pipeline for each kind of stage, in whatever loop or straight-line
code it is used. Both agents execute the same groups in the same order, so each stage that is filled
is consumed. As the iterators of the pipelines pass through outer loops, the producer of a
persistent kernel fills stages of the next tile while the consumers still store the one before.

Each agent computes the scalars that it needs. Only pipelines, and the views that tensor maps are
made of, are created before the agents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp, YieldOp
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import CopyEngine, ScheduleAttr
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp
from tilewright.dialects.nv_tileas.types import PipelineType
from tilewright.dialects.scf import ForOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_effect_free
from tilewright.ir.operation import Block
from tilewright.ir.passes import Pass
from tilewright.layout.tma_boxes import NoBoxes
from tilewright.schedule.registers import PRODUCER_REGISTERS, consumer_registers
from tilewright.support.diagnostics import fail
from tilewright.target.tensor_cores import WARPGROUP
from tilewright.transforms.generic.dce import erase_dead_code
from tilewright.transforms.nv_tileas.agents import (
    ConsumerAgent,
    ProducerAgent,
    SpecializedStores,
    create_iterators,
)
from tilewright.transforms.nv_tileas.copy_groups import ProducerCopies, held_stages
from tilewright.transforms.nv_tileas.producer_slice import multicast_problem
from tilewright.transforms.nv_tileas.rounded_loads import is_only_rounded, round_while_copying
from tilewright.transforms.nv_tileas.tma_loads import hoist_view, multicast_of
from tilewright.transforms.nv_tileas.tma_stores import store_boxes, stores_by_tma

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink

PRODUCER_WARPS: Final = 1


class SpecializeWarps(Pass):
    """Split functions whose loops copy by TMA into a producer and consumers."""

    name = "specialize-warps"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            copies = _copies(function)
            if copies.groups:
                _check(function, copies)
                _prepare(function, copies)
                _specialize(function)


def _copies(function: FuncOp) -> ProducerCopies:
    """The loads that are copied by TMA, if there are any in scheduled loops."""
    by_block: dict[Block, list[TiledLoadOp]] = {}
    for op in function.walk():
        is_copied = isinstance(op, TiledLoadOp) and op.attributes.get(ENGINE) is CopyEngine.TMA
        if is_copied and op.parent is not None:
            by_block.setdefault(op.parent, []).append(op)
    owners = [block.parent_op for block in by_block]
    loops = [each for each in owners if isinstance(each, ForOp) and SCHEDULE in each.attributes]
    views = [store.view for store in stores_by_tma(function)]
    return ProducerCopies(function, loops, by_block if loops else {}, views)


def _schedule(loop: ForOp) -> ScheduleAttr:
    schedule = loop.attributes[SCHEDULE]
    assert isinstance(schedule, ScheduleAttr)
    return schedule


def _check(function: FuncOp, copies: ProducerCopies) -> None:
    """Check that a function can be split, before anything is changed."""
    first, *others = copies.loops
    for other in others:
        if _schedule(other) != _schedule(first):
            fail("expected all loops to have the same stages", other.location)
    for store in stores_by_tma(function):
        try:
            store_boxes(store)
        except NoBoxes as reason:
            fail(f"expected a store that TMA can execute: {reason}", store.location)
    if copies.slice.problem is not None:
        fail(f"expected copies that a producer can start: {copies.slice.problem}", first.location)
    for group in copies.groups:
        if (problem := copies.problem(group)) is not None:
            fail(f"expected a load that can be copied: {problem}", group.loads[0].location)
    stages, needed = _schedule(first).stages, held_stages(copies.groups)
    if needed > stages:
        fail(f"expected {needed} stages, which are in use at once, got {stages}", first.location)
    multicasts = any(map(multicast_of, copies.loads))
    problem = multicast_problem(function, copies.loops) if multicasts else None
    if problem is not None:
        fail(f"expected stages that CTAs can share: {problem}", first.location)


def _prepare(function: FuncOp, copies: ProducerCopies) -> None:
    """Create the views that TMA accesses before all loops, and let it round f32 to tf32."""
    for load in copies.loads:
        hoist_view(load)
        if is_only_rounded(load.tile):
            round_while_copying(load)
    for store in stores_by_tma(function):
        hoist_view(store)


def _specialize(function: FuncOp) -> None:
    copies, body = _copies(function), function.body.block
    build = Builder(InsertPoint.at_start(body), function.location)
    stages = _schedule(next(iter(copies.loops))).stages
    pipelines = {
        stage: build.create(
            CreatePipelineOp, drained=True, types=[PipelineType(stages, stage)]
        ).result
        for stage in copies.pipelines
    }
    stores = SpecializedStores(function, build)
    producer, consumer = ProducerAgent(function, copies, pipelines).build(), Block()
    inside = Builder(InsertPoint.at_end(consumer), function.location)
    iterators = create_iterators(inside, pipelines)
    ConsumerAgent(copies, pipelines).consume(body, iterators)
    for op in list(body):
        is_consumed = any(operand.parent_block is consumer for operand in op.operands)
        is_before = isinstance(op, CreatePipelineOp) or op.is_terminator
        if not is_before and (is_consumed or not copies.slice.needs(op)):
            consumer.append(op.detach())
    stores.store(consumer)
    _repeat_scalars(body, consumer)
    inside.create(YieldOp)
    _add_agents(function, producer, stores.encode(), consumer)
    erase_dead_code(function.body)


def _repeat_scalars(before: Block, agent: Block) -> None:
    """Repeat at the start of an agent what it takes from the block before it.

    A scalar from before the agents would be in a register of every thread, for as long as one of
    them needs it. The trip count of a main loop, for instance, would leave one register less for
    accumulators.
    """
    inside = {op for each in agent for op in each.walk()}
    for op in reversed(list(before)):
        users = [user for result in op.results for user in result.users]
        if inside.isdisjoint(users) or not is_effect_free(op):
            continue
        repeated = op.clone()
        agent.prepend(repeated)
        inside.update(repeated.walk())
        for old, new in zip(op.results, repeated.results, strict=True):
            for user in [user for user in old.users if user in inside]:
                user.replace_operand(old, new)


def _add_agents(function: FuncOp, producer: Block, maps: Block | None, consumer: Block) -> None:
    """Let the last warpgroup of a larger block produce, and the warps before it consume.

    Another warp of the last one encodes the maps of stores, if there are any.
    """
    spec, end = function.kernel_spec, function.body.block.last
    assert spec is not None
    assert spec.num_warps is not None
    assert end is not None
    build = Builder(InsertPoint.before(end), function.location)
    registers = consumer_registers(spec.num_warps, spec.occupancy).changed
    for body, first, count, most in (
        (producer, spec.num_warps, PRODUCER_WARPS, PRODUCER_REGISTERS),
        # The producer has set the registers of the warpgroup.
        (maps, spec.num_warps + PRODUCER_WARPS, 1, 0),
        (consumer, 0, spec.num_warps, registers),
    ):
        if body is not None:
            build.create(
                AgentSwitchOp, first=first, warps=count, max_registers=most, body=body, types=[]
            )
    # setmaxnreg applies to whole warpgroups.
    warps = spec.num_warps + WARPGROUP
    function.attributes["kernel_spec"] = KernelSpecAttr(spec.num_ctas, warps, spec.occupancy)
