"""Patterns of queue lowering: `put` fills a stage of a pipeline, `get` drains one.

The region of `queue.put` goes between the acquire of a stage and its commit, that of `queue.get`
between the wait for a stage and its release. Loops and branches around them carry the iterators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.queues_to_pipelines.pipeline_iterators import (
    PipelineState,
    PipelineStates,
)
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp
from tilewright.dialects.nv_tileaa.queue import (
    CreateQueueOp,
    QueueGetOp,
    QueuePutOp,
    QueueYieldOp,
    queue,
)
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN, QueueType
from tilewright.dialects.nv_tileas import pipeline as tileas
from tilewright.dialects.nv_tileas.types import (
    CONSUMER_TOKEN,
    PRODUCER_TOKEN,
    IteratorType,
    PipelineType,
)
from tilewright.dialects.scf import ForOp, IfOp, YieldOp
from tilewright.ir.attributes import Type
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import Conversion, Patterns
from tilewright.ir.conversion_pattern import ConversionPattern
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.operation import Block, Region
from tilewright.ir.type_converter import TypeConverter
from tilewright.support.diagnostics import fail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.conversion.queues_to_pipelines.checks import QueueUses
    from tilewright.ir.conversion import ConversionBuilder, Result
    from tilewright.ir.type_converter import Converted
    from tilewright.ir.values import Value


def queue_conversion(uses: QueueUses) -> Conversion:
    """The conversion of a kernel with queues."""
    return Conversion(uses.kernel, _target(uses), queue_patterns(uses), _types(uses))


def _target(uses: QueueUses) -> ConversionTarget:
    """Queue operations are illegal, and so are loops and branches that lack the iterators."""

    def carries_iterators(op: ForOp | IfOp) -> bool:
        return not uses.queues_in(op)

    return ConversionTarget(
        illegal=(CreateQueueOp, QueuePutOp, QueueGetOp, QueueYieldOp),
        dynamic={ForOp: carries_iterators, IfOp: carries_iterators},
        unknown=lambda _: True,
    )


def _types(uses: QueueUses) -> TypeConverter:
    """A queue becomes a pipeline with as many stages as its creation asks for."""

    def pipeline_type(value: Value) -> Converted:
        created = uses.created.get(value)
        return None if created is None else PipelineType(created.depth, queue(value).elements)

    types = TypeConverter()
    types.keep(Type)
    types.add_for_values(QueueType, pipeline_type)
    return types


def queue_patterns(uses: QueueUses) -> Patterns:
    """The patterns for a kernel; they track the state of its pipelines in program order."""
    patterns = _QueuePatterns(uses)
    return (
        ConversionPattern((CreateQueueOp,), patterns.create_queue, "create_queue"),
        ConversionPattern((QueuePutOp,), patterns.put, "put"),
        ConversionPattern((QueueGetOp,), patterns.get, "get"),
        ConversionPattern((ForOp,), patterns.loop, "loop"),
        ConversionPattern((IfOp,), patterns.branches, "branches"),
    )


class _QueuePatterns:
    """The patterns, and the state of each pipeline that they share."""

    __slots__ = ("_states", "_uses")

    def __init__(self, uses: QueueUses) -> None:
        self._uses = uses
        self._states = PipelineStates()

    def create_queue(
        self, op: CreateQueueOp, new: CreateQueueOp, build: ConversionBuilder
    ) -> Result:
        """create_queue = create_pipeline, create_iterator."""
        type = PipelineType(op.depth, queue(op.result).elements)
        pipeline = build.create(tileas.CreatePipelineOp, types=[type]).result
        iterator = build.create(
            tileas.CreateIteratorOp, pipeline=pipeline, types=[IteratorType(op.depth)]
        ).result
        self._states[op.result] = PipelineState(iterator, iterator, op.depth, 0)
        return pipeline

    def put(self, op: QueuePutOp, new: QueuePutOp, build: ConversionBuilder) -> Result:
        """put { yield x } = acquire, write x, commit."""
        pipeline, iterator = new.queue, self._states.acquire(op.queue, op.location)
        stage = build.create(
            tileas.ProducerAcquireOp, pipeline=pipeline, iterator=iterator, types=[PRODUCER_TOKEN]
        ).token
        following = build.create(tileas.IncIterOp, iterator=iterator).result
        self._states[op.queue] = self._states[op.queue]._replace(producer=following)
        yielded = build.inline_block(op.body.block, ())
        values = [_pipeline_token(value, build) for value in yielded]
        build.create(tileas.ProducerWriteOp, pipeline=pipeline, token=stage, values=values)
        build.create(tileas.ProducerCommitOp, pipeline=pipeline, token=stage)
        self._states.commit(op.queue)
        return ()

    def get(self, op: QueueGetOp, new: QueueGetOp, build: ConversionBuilder) -> Result:
        """get { (x): yield y } = wait, read x, y, release."""
        pipeline, iterator = new.queue, self._states.wait(op.queue, op.location)
        stage = build.create(
            tileas.ConsumerWaitOp, pipeline=pipeline, iterator=iterator, types=[CONSUMER_TOKEN]
        ).token
        following = build.create(tileas.IncIterOp, iterator=iterator).result
        self._states[op.queue] = self._states[op.queue]._replace(consumer=following)
        read = build.create(
            tileas.ConsumerReadOp,
            pipeline=pipeline,
            token=stage,
            types=list(queue(op.queue).elements),
        )
        outputs = build.inline_block(op.body.block, read.values)
        build.create(tileas.ConsumerReleaseOp, pipeline=pipeline, token=stage)
        self._states.release(op.queue)
        return outputs

    def loop(self, op: ForOp, new: ForOp, build: ConversionBuilder) -> Result:
        """Carry the iterators; each iteration leaves as many stages full as it starts with."""
        queues, states = self._uses.queues_in(op), self._states
        before = dict(states)
        iterators = states.iterators(queues)
        carried = [value.type for value in (*op.results, *iterators)]
        made = ForOp(
            (*new.operands, *iterators), carried, op.attributes.copy(), [Region()], op.location
        )
        build.insert(made)
        old = op.body.block
        locations = [
            *(argument.location for argument in old.args),
            *(op.location for _ in iterators),
        ]
        block = Block([old.args[0].type, *carried], locations)
        made.body.append(block)
        states.set_iterators(queues, block.args[len(old.args) :])
        self._fill(block, old, queues, build)
        for each in queues:
            if states[each].counts != before[each].counts:
                expected = f"{before[each].full} full slots of the pipeline after each iteration"
                fail(f"expected {expected}, got {states[each].full}", op.location)
        states.set_iterators(queues, made.results[len(op.results) :])
        return made.results[: len(op.results)]

    def branches(self, op: IfOp, new: IfOp, build: ConversionBuilder) -> Result:
        """Pass on the iterators; both branches leave as many stages full."""
        queues, states = self._uses.queues_in(op), self._states
        before = dict(states)
        types = [value.type for value in (*op.results, *states.iterators(queues))]
        made = IfOp(new.operands, types, op.attributes.copy(), [Region(), Region()], op.location)
        build.insert(made)
        counts: list[list[tuple[int, int]]] = []
        for old, region in zip(op.regions, made.regions, strict=True):
            states.update(before)
            block = Block()
            region.append(block)
            self._fill(block, old.block if old.blocks else None, queues, build)
            counts.append([states[each].counts for each in queues])
        for (_, then_full), (_, else_full) in zip(*counts, strict=True):
            if then_full != else_full:
                pair = f"{then_full} and {else_full}"
                fail(f"expected as many full slots after both branches, got {pair}", op.location)
        states.set_iterators(queues, made.results[len(op.results) :])
        return made.results[: len(op.results)]

    def _fill(
        self, block: Block, old: Block | None, queues: Sequence[Value], build: ConversionBuilder
    ) -> None:
        """Convert a block into another, whose terminator yields the iterators as well."""
        with build.at(InsertPoint.at_end(block)):
            yielded: list[Value] = []
            location = build.location
            if old is not None:
                yielded = build.inline_block(old, block.args[: len(old.args)])
                assert old.terminator is not None
                location = old.terminator.location
            values = [*yielded, *self._states.iterators(queues)]
            build.create(YieldOp, values=values, location=location)


def _pipeline_token(value: Value, build: ConversionBuilder) -> Value:
    """A value to write: the pipeline's null token in place of one that orders nothing."""
    if value.type is not MEM_TOKEN or value.defined_by(CreateMemTokenOp) is None:
        return value
    return build.create(tileas.CreateNullTokenOp, types=[MEM_TOKEN]).result
