"""Queues become pipelines: who puts something in fills a stage, who takes it out empties one.

The region of `queue.put` comes between the acquiring of a stage and its commit, that of
`queue.get` between the wait for a stage and its release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileaa_to_nv_tileas.turns import Turns
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp
from tilewright.dialects.nv_tileaa.queue import CreateQueueOp, QueueGetOp, QueuePutOp, queue
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.nv_tileas import pipeline as tileas
from tilewright.dialects.nv_tileas.types import (
    CONSUMER_TOKEN,
    PRODUCER_TOKEN,
    IteratorType,
    PipelineType,
)
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.support.diagnostics import fail

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Block
    from tilewright.ir.values import Value


def convert_queues(function: FuncOp) -> None:
    """Put pipelines in place of all queues of a function."""
    ops = list(function.walk())
    created: dict[Value, CreateQueueOp] = {
        op.result: op for op in ops if isinstance(op, CreateQueueOp)
    }
    ends = [op for op in ops if isinstance(op, QueuePutOp | QueueGetOp)]
    for end in ends:
        if end.queue not in created:
            fail(
                "expected a queue straight from its creation, to have a pipeline slot", end.location
            )
    pipelines = {queue: _Pipeline(op, function) for queue, op in created.items()}
    for end in ends:
        pipelines[end.queue].convert(end)
    for op in created.values():
        for user in op.result.users:
            fail(f"expected a pipeline slot for what '{user.name}' does to a queue", user.location)
        op.erase()
    for made in pipelines.values():
        Turns(made.created, made.iterator).follow(function.body.block)


class _Pipeline:
    """The pipeline in place of a queue."""

    __slots__ = ("created", "iterator")

    def __init__(self, op: CreateQueueOp, function: FuncOp) -> None:
        if op.parent_op is not function:
            fail("expected a queue outside of loops and branches, to have a pipeline", op.location)
        type = PipelineType(op.depth, queue(op.result).elements)
        build = Builder(InsertPoint.before(op), op.location)
        self.created = build.create(tileas.CreatePipelineOp, types=[type])
        self.iterator = build.create(
            tileas.CreateIteratorOp,
            pipeline=self.created.result,
            types=[IteratorType(op.depth)],
        )

    def convert(self, op: QueuePutOp | QueueGetOp) -> None:
        """Put what works on a stage in place of one end of the queue."""
        build = Builder(InsertPoint.before(op), op.location)
        if isinstance(op, QueuePutOp):
            self._put(op, build)
        else:
            self._get(op, build)
        op.erase()

    def _put(self, op: QueuePutOp, build: Builder) -> None:
        """put { yield x } = acquire, write x, commit."""
        pipeline = self.created.result
        stage = build.create(
            tileas.ProducerAcquireOp,
            pipeline=pipeline,
            iterator=self.iterator.result,
            types=[PRODUCER_TOKEN],
        ).token
        values = [_carried(value, build) for value in _inlined(op.body.block, build)]
        build.create(tileas.ProducerWriteOp, pipeline=pipeline, token=stage, values=values)
        build.create(tileas.ProducerCommitOp, pipeline=pipeline, token=stage)

    def _get(self, op: QueueGetOp, build: Builder) -> None:
        """get { (x): yield y } = wait, read x, y, release."""
        pipeline = self.created.result
        stage = build.create(
            tileas.ConsumerWaitOp,
            pipeline=pipeline,
            iterator=self.iterator.result,
            types=[CONSUMER_TOKEN],
        ).token
        read = build.create(
            tileas.ConsumerReadOp,
            pipeline=pipeline,
            token=stage,
            types=list(queue(op.queue).elements),
        )
        for argument, value in zip(op.body.block.args, read.values, strict=True):
            argument.replace_all_uses_with(value)
        results = _inlined(op.body.block, build)
        build.create(tileas.ConsumerReleaseOp, pipeline=pipeline, token=stage)
        for result, value in zip(op.outputs, results, strict=True):
            result.replace_all_uses_with(value)


def _inlined(block: Block, build: Builder) -> tuple[Value, ...]:
    """Move what a block does to the place of the builder; gives what the block ends with."""
    end = block.terminator
    assert end is not None
    for op in list(block):
        if op is not end:
            build.point.insert(op.detach())
    return end.operands


def _carried(value: Value, build: Builder) -> Value:
    """A token that stands for nothing is the pipeline's own."""
    if value.type is not MEM_TOKEN or value.defined_by(CreateMemTokenOp) is None:
        return value
    return build.create(tileas.CreateNullTokenOp, types=[MEM_TOKEN]).result
