"""Warp specialization: one warp copies tiles by TMA, the others compute.

A function whose scheduled loops copy by TMA is split into two agents. The producer, a warp after
those that compute, repeats the loops and branches around the pipelined loops, and fills a stage in
each of their iterations. The consumers do everything else: in each iteration they wait for a stage,
read it and release it. Both count the same iterations, so each stage that is filled is consumed. As
the iterators of the pipeline pass through outer loops, the producer of a persistent kernel fills
stages of the next tile while the consumers still store the one before.

Stores by TMA have their tensor maps from another warp beside the producer.

Each agent computes the scalars that it needs. Only pipelines, and the views that tensor maps are
made of, are created before the agents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp, YieldOp
from tilewright.dialects.nv_tileas.pipeline import CreateIteratorOp, CreatePipelineOp
from tilewright.dialects.nv_tileas.types import IteratorType, PipelineType
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block
from tilewright.ir.passes import Pass
from tilewright.layout.tma_boxes import NoBoxes
from tilewright.support.diagnostics import fail
from tilewright.target.tensor_cores import WARPGROUP
from tilewright.transforms.generic.dce import erase_dead_code
from tilewright.transforms.nv_tileas.agent_registers import PRODUCER_REGISTERS, consumer_registers
from tilewright.transforms.nv_tileas.agent_scalars import repeat_scalars
from tilewright.transforms.nv_tileas.choose_multicast import multicast_problem
from tilewright.transforms.nv_tileas.choose_specialization import stage_types
from tilewright.transforms.nv_tileas.consumer_agent import ConsumerAgent
from tilewright.transforms.nv_tileas.producer_agent import ProducerAgent, multicast_of
from tilewright.transforms.nv_tileas.producer_slice import ProducerSlice
from tilewright.transforms.nv_tileas.specialized_loops import prepare_loads, specialized_loops
from tilewright.transforms.nv_tileas.specialized_stores import SpecializedStores, stores_by_tma
from tilewright.transforms.nv_tileas.tma_stores import store_boxes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink
    from tilewright.transforms.nv_tileas.specialized_loops import SpecializedLoop

PRODUCER_WARPS: Final = 1


class SpecializeWarps(Pass):
    """Split functions whose loops copy by TMA into a producer and consumers."""

    name = "specialize-warps"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            loops = specialized_loops(function)
            if loops:
                _check(function, loops)
                prepare_loads(loops)
                _specialize(function)


def _check(function: FuncOp, loops: Sequence[SpecializedLoop]) -> None:
    """Check that a function can be split, before anything is changed."""
    first = loops[0]
    for other in loops[1:]:
        same = stage_types(other.loads) == stage_types(first.loads)
        if not same or other.schedule != first.schedule:
            fail("expected all loops to have the same stages", other.loop.location)
    for store in stores_by_tma(function):
        try:
            store_boxes(store)
        except NoBoxes as reason:
            fail(f"expected a store that TMA can execute: {reason}", store.location)
    views = [store.view for store in stores_by_tma(function)]
    problem = _producer_slice(function, loops, views).problem
    if problem is not None:
        fail(f"expected copies that a producer can start: {problem}", first.loop.location)
    multicasts = any(multicast_of(load) for each in loops for load in each.loads)
    problem = multicast_problem(function, [each.loop for each in loops]) if multicasts else None
    if problem is not None:
        fail(f"expected stages that CTAs can share: {problem}", first.loop.location)


def _producer_slice(
    function: FuncOp, loops: Sequence[SpecializedLoop], views: Sequence[Value]
) -> ProducerSlice:
    return ProducerSlice(function, {each.loop: each.loads for each in loops}, views)


def _specialize(function: FuncOp) -> None:
    loops, stores = specialized_loops(function), SpecializedStores(function)
    first, body = loops[0], function.body.block
    slice = _producer_slice(function, loops, stores.views)
    build = Builder(InsertPoint.at_start(body), function.location)
    stages = first.schedule.stages
    type = PipelineType(stages, first.copies.stage)
    created = build.create(CreatePipelineOp, types=[type])
    stores.create_pipeline(build)
    producer, consumer = ProducerAgent(function, loops, slice, created.result).build(), Block()
    inside = Builder(InsertPoint.at_end(consumer), function.location)
    iterator = inside.create(
        CreateIteratorOp, pipeline=created.result, types=[IteratorType(stages)]
    ).result
    ConsumerAgent(loops, slice.enclosing, created.result).consume(body, iterator)
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
    registers = consumer_registers(spec.num_warps, spec.occupancy or 1)
    _add_agent(build, consumer, 0, spec.num_warps, registers.changed)
    # setmaxnreg applies to whole warpgroups.
    warps = spec.num_warps + WARPGROUP
    function.attributes["kernel_spec"] = KernelSpecAttr(spec.num_ctas, warps, spec.occupancy)


def _add_agent(build: Builder, body: Block, first: int, warps: int, registers: int) -> None:
    build.create(
        AgentSwitchOp, first=first, warps=warps, max_registers=registers, body=body, types=[]
    )
