"""Warp specialization: one warp copies tiles by TMA, the others compute.

A function whose scheduled loops copy by TMA is split into two agents. The producer, a warp after
those that compute, repeats these loops with the loops and branches around them, and fills a stage
for each group of loads. The consumers do everything else: they wait for each stage, read it and
release it. There is a pipeline for each kind of stage, in whatever loop or straight-line code it is
used. Both agents execute the same groups in the same order, so each stage that is filled is
consumed. As the iterators of the pipelines pass through outer loops, the producer of a persistent
kernel fills stages of the next tile while the consumers still store the one before.

Stores by TMA have their tensor maps from another warp beside the producer.

Each agent computes the scalars that it needs. Only pipelines, and the views that tensor maps are
made of, are created before the agents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp, YieldOp
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp
from tilewright.dialects.nv_tileas.types import PipelineType
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block
from tilewright.ir.passes import Pass
from tilewright.layout.tma_boxes import NoBoxes
from tilewright.schedule.registers import PRODUCER_REGISTERS, consumer_registers
from tilewright.support.diagnostics import fail
from tilewright.target.tensor_cores import WARPGROUP
from tilewright.transforms.generic.dce import erase_dead_code
from tilewright.transforms.nv_tileas.agent_scalars import repeat_scalars
from tilewright.transforms.nv_tileas.choose_multicast import multicast_problem
from tilewright.transforms.nv_tileas.consumer_agent import ConsumerAgent
from tilewright.transforms.nv_tileas.copy_groups import held_stages
from tilewright.transforms.nv_tileas.producer_agent import (
    ProducerAgent,
    create_iterators,
    multicast_of,
)
from tilewright.transforms.nv_tileas.producer_slice import ProducerSlice
from tilewright.transforms.nv_tileas.specialized_copies import SpecializedCopies
from tilewright.transforms.nv_tileas.specialized_stores import SpecializedStores, stores_by_tma
from tilewright.transforms.nv_tileas.tma_stores import store_boxes

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
            copies = SpecializedCopies(function)
            if copies.groups:
                _check(function, copies)
                copies.prepare()
                _specialize(function)


def _check(function: FuncOp, copies: SpecializedCopies) -> None:
    """Check that a function can be split, before anything is changed."""
    first, *others = copies.loops
    for other in others:
        if copies.loops[other] != copies.loops[first]:
            fail("expected all loops to have the same stages", other.location)
    for store in stores_by_tma(function):
        try:
            store_boxes(store)
        except NoBoxes as reason:
            fail(f"expected a store that TMA can execute: {reason}", store.location)
    views = [store.view for store in stores_by_tma(function)]
    slice = ProducerSlice(function, copies.loops, copies.loads, views)
    if slice.problem is not None:
        fail(f"expected copies that a producer can start: {slice.problem}", first.location)
    _check_groups(function, copies, slice)
    multicasts = any(multicast_of(load) for load in copies.loads)
    problem = multicast_problem(function, copies.loops) if multicasts else None
    if problem is not None:
        fail(f"expected stages that CTAs can share: {problem}", first.location)


def _check_groups(function: FuncOp, copies: SpecializedCopies, slice: ProducerSlice) -> None:
    """Check that consumers can wait for all stages, and release them in time."""
    enclosing = {function, *slice.enclosing, *copies.loops}
    for group in copies.groups:
        problem = group.problem
        if group.block.parent_op not in enclosing:
            problem = "it is in a region that the producer does not enter"
        elif any(group.spans(op) for op in group.block if op in enclosing):
            problem = "its stage is in use during a loop or branch with other copies"
        if problem is not None:
            fail(f"expected a load that can be copied: {problem}", group.loads[0].location)
    stages = next(iter(copies.loops.values())).stages
    needed = max(held_stages(copies.groups).values(), default=1)
    if needed > stages:
        first = next(iter(copies.loops))
        fail(f"expected {needed} stages, which are in use at once, got {stages}", first.location)


def _specialize(function: FuncOp) -> None:
    # Hoists the views of stores, which groups must not begin with.
    stores = SpecializedStores(function)
    copies, body = SpecializedCopies(function), function.body.block
    slice = ProducerSlice(function, copies.loops, copies.loads, stores.views)
    build = Builder(InsertPoint.at_start(body), function.location)
    stages = next(iter(copies.loops.values())).stages
    pipelines = {
        stage: build.create(
            CreatePipelineOp, drained=True, types=[PipelineType(stages, stage)]
        ).result
        for stage in copies.stages
    }
    stores.create_pipeline(build)
    producer, consumer = ProducerAgent(function, copies, slice, pipelines).build(), Block()
    inside = Builder(InsertPoint.at_end(consumer), function.location)
    iterators = create_iterators(inside, pipelines.values())
    enclosing = {*slice.enclosing, *copies.loops}
    ConsumerAgent(copies, enclosing, pipelines).consume(body, iterators)
    for op in list(body):
        is_consumed = any(operand.parent_block is consumer for operand in op.operands)
        is_before = isinstance(op, CreatePipelineOp) or op.is_terminator
        if not is_before and (is_consumed or not slice.needs(op)):
            consumer.append(op.detach())
    stores.store(consumer)
    repeat_scalars(body, consumer)
    inside.create(YieldOp)
    _add_agents(function, producer, stores.encode(), consumer)
    erase_dead_code(function.body)


def _add_agents(function: FuncOp, producer: Block, maps: Block | None, consumer: Block) -> None:
    """Let the last warpgroup of a larger block produce, and the warps before it consume.

    Another warp of the last one encodes the maps of stores, if there are any.
    """
    spec, end = function.kernel_spec, function.body.block.last
    assert spec is not None
    assert spec.num_warps is not None
    assert end is not None
    build = Builder(InsertPoint.before(end), function.location)
    _add_agent(build, producer, spec.num_warps, PRODUCER_WARPS, PRODUCER_REGISTERS)
    if maps is not None:
        # The producer has set the registers of the warpgroup.
        _add_agent(build, maps, spec.num_warps + PRODUCER_WARPS, 1, 0)
    registers = consumer_registers(spec.num_warps, spec.occupancy)
    _add_agent(build, consumer, 0, spec.num_warps, registers.changed)
    # setmaxnreg applies to whole warpgroups.
    warps = spec.num_warps + WARPGROUP
    function.attributes["kernel_spec"] = KernelSpecAttr(spec.num_ctas, warps, spec.occupancy)


def _add_agent(build: Builder, body: Block, first: int, warps: int, registers: int) -> None:
    build.create(
        AgentSwitchOp, first=first, warps=warps, max_registers=registers, body=body, types=[]
    )
