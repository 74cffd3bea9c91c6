"""The code of the two agents of a warp-specialized function: a producer, and consumers.

The iterators of all pipelines pass through the loops and branches with copies in both. The producer
repeats these in a block of its own, with what `ProducerSlice` says it needs, and fills the stages
in the order in which consumers wait for them. The consumers have the code of the function: before
its first use, they wait for the stage of a copy group, read it in place of the loads, and release
it after the last one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.dialects.nv_tileas.agents import YieldOp
from tilewright.dialects.nv_tileas.attribute_names import EVICT_FIRST, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import CopyEngine
from tilewright.dialects.nv_tileas.matrix import DotWaitOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreateIteratorOp,
    IncIterOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    ProducerCopyOp,
    ranks_within,
)
from tilewright.dialects.nv_tileas.tensor_map import CreateTensorMapsOp, ReleaseTensorMapsOp
from tilewright.dialects.nv_tileas.types import IteratorType, TensorMapType, pipeline
from tilewright.dialects.scf import ForOp, IfOp
from tilewright.dialects.scf import YieldOp as ScfYieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.transforms.nv_tileaa.prefetchable_loads import add_iter_args
from tilewright.transforms.nv_tileas.copy_groups import Stage
from tilewright.transforms.nv_tileas.stage_reads import read_late, read_stage
from tilewright.transforms.nv_tileas.tma_loads import multicast_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.nv_tileas.memory import TiledLoadOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.types import TensorType
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileas.copy_groups import CopyGroup, ProducerCopies

ByStage: TypeAlias = "Mapping[Stage, Value]"
"""The pipeline of each kind of stage, or its iterator."""


class ProducerAgent:
    """Builds the code of the producer, beside the code that it is made from."""

    __slots__ = ("_copies", "_function", "_maps", "_pipelines")

    def __init__(self, function: FuncOp, copies: ProducerCopies, pipelines: ByStage) -> None:
        self._function, self._copies, self._pipelines = function, copies, pipelines
        self._maps: Mapping[tuple[Value, TensorMapType], Value] = {}

    def build(self) -> Block:
        """The body of the agent."""
        block = Block()
        build = Builder(InsertPoint.at_end(block), self._function.location)
        # A tensor map for each view and tile that is copied.
        copied = dict.fromkeys(
            (load.view, _map_type(load, tile))
            for group in self._copies.groups
            for load, tile in group.tiles
        )
        views, types = zip(*copied, strict=True)
        maps = build.create(CreateTensorMapsOp, views=list(views), types=list(types)).maps
        self._maps = dict(zip(copied, maps, strict=True))
        iterators = create_iterators(build, self._pipelines)
        iterators = self._produce(self._function.body.block, build, {}, iterators)
        self._wait_for_consumers(build, iterators)
        build.create(ReleaseTensorMapsOp, maps=list(maps))
        build.create(YieldOp)
        return block

    def _wait_for_consumers(self, build: Builder, iterators: ByStage) -> None:
        """Wait until all stages are released.

        Until then copies may read the maps; and where copies multicast, other CTAs of the cluster
        access the shared memory of this one, which must not have exited.
        """
        for stage, ring in self._pipelines.items():
            iterator = iterators[stage]
            for _ in range(pipeline(ring).stages):
                build.create(ProducerAcquireOp, pipeline=ring, iterator=iterator)
                iterator = build.create(IncIterOp, iterator=iterator).result

    def _produce(
        self, block: Block, build: Builder, values: dict[Value, Value], iterators: ByStage
    ) -> ByStage:
        """Repeat what is needed of a block, and fill its stages; returns the iterators after it."""
        groups, current = self._copies.by_block.get(block, ()), dict(iterators)
        for op in block:
            for group in groups:
                if op.is_terminator if group.is_whole else op is group.first:
                    iterator = current[group.stage]
                    current[group.stage] = self._fill_stage(group, build, values, iterator)
            if isinstance(op, ForOp | IfOp) and op in self._copies.entered:
                current = dict(self._produce_inside(op, build, values, current))
            elif self._copies.slice.needs(op):
                build.insert(op.clone(values))
        return current

    def _produce_inside(
        self, op: ForOp | IfOp, build: Builder, values: dict[Value, Value], iterators: ByStage
    ) -> ByStage:
        """Repeat a loop or branch, with the values that it passes on and that are needed."""
        passed = op.carried if isinstance(op, ForOp) else op.results
        kept = [n for n, value in enumerate(passed) if value in self._copies.slice.values]
        results = [op.results[number] for number in kept]
        types = [each.type for each in (*results, *iterators.values())]
        regions = [
            self._repeat(region, kept, types, dict(values), iterators) for region in op.regions
        ]
        # The bounds of a loop, or the condition of a branch.
        operands = [_mapped(values, operand) for operand in op.operands[:3]]
        if isinstance(op, ForOp):
            operands += [_mapped(values, op.init_args[number]) for number in kept]
            operands += iterators.values()
        attributes = {k: v for k, v in op.attributes.items() if k != SCHEDULE}
        new = build.insert(type(op)(operands, types, attributes, regions, op.location))
        values.update(zip(results, new.results, strict=False))
        return dict(zip(iterators, new.results[len(kept) :], strict=True))

    def _repeat(
        self,
        region: Region,
        kept: Sequence[int],
        types: Sequence[Type],
        values: dict[Value, Value],
        iterators: ByStage,
    ) -> Region:
        """Repeat a body or branch, which yields what is kept of its values, and the iterators."""
        op, block = region.parent, Block()
        assert op is not None
        if isinstance(op, ForOp):
            block = Block([op.lower_bound.type, *types], [op.location] * (len(types) + 1))
            arguments = [op.induction_variable, *[op.carried[number] for number in kept]]
            values.update(zip(arguments, block.args, strict=False))
            iterators = dict(zip(iterators, block.args[len(arguments) :], strict=True))
        inside = Builder(InsertPoint.at_end(block), op.location)
        yielded: list[Value] = []
        if region.blocks:
            iterators = self._produce(region.block, inside, values, iterators)
            last = region.block.last
            assert last is not None
            yielded = [_mapped(values, last.operands[number]) for number in kept]
        inside.create(ScfYieldOp, values=[*yielded, *iterators.values()])
        return Region([block])

    def _fill_stage(
        self, group: CopyGroup, build: Builder, values: Mapping[Value, Value], iterator: Value
    ) -> Value:
        """Fill the stage of a group; returns the next iterator of its pipeline."""
        ring = self._pipelines[group.stage]
        token = build.create(ProducerAcquireOp, pipeline=ring, iterator=iterator).token
        for number, (load, tile) in enumerate(group.tiles):
            build.create(
                ProducerCopyOp,
                pipeline=ring,
                token=token,
                source=self._maps[load.view, _map_type(load, tile)],
                indices=[_mapped(values, index) for index in load.indices],
                number=number,
                engine=CopyEngine.TMA,
                multicast=multicast_of(load),
                evict_first=EVICT_FIRST in load.attributes,
                location=load.location,
            )
        build.create(ProducerCommitOp, pipeline=ring, token=token)
        return build.create(IncIterOp, iterator=iterator).result


class ConsumerAgent:
    """Lets a function read stages, in place of the loads that are copied to them."""

    __slots__ = ("_copies", "_pipelines")

    def __init__(self, copies: ProducerCopies, pipelines: ByStage) -> None:
        self._copies, self._pipelines = copies, pipelines

    def consume(self, block: Block, iterators: ByStage) -> ByStage:
        """Let a block read stages; returns the iterators after it."""
        groups, current = self._copies.by_block.get(block, ()), dict(iterators)
        for op in list(block):
            for group in groups:
                if group.first is op:
                    current[group.stage] = self._wait(group, current[group.stage])
            if isinstance(op, ForOp | IfOp) and op in self._copies.entered:
                current = dict(self._consume_inside(op, current))
        return current

    def _wait(self, group: CopyGroup, iterator: Value) -> Value:
        """Wait for the stage of a group, read it and release it; returns the next iterator."""
        ring = self._pipelines[group.stage]
        build = Builder(InsertPoint.before(group.first), group.location)
        wait = build.create(ConsumerWaitOp, pipeline=ring, iterator=iterator)
        replaced = read_stage(build, ring, wait.token, group.loads, list(group.plans.values()))
        step = build.create(IncIterOp, iterator=iterator)
        for op in replaced:
            op.erase()
        _pin(group, ring, iterator)
        last = group.last
        point = InsertPoint.before(last) if last.is_terminator else InsertPoint.after(last)
        end = Builder(point, group.location)
        end.create(ConsumerReleaseOp, pipeline=ring, token=wait.token)
        if group.is_whole:
            read_late(wait)
            end.insert(step.detach())
        return step.result

    def _consume_inside(self, op: ForOp | IfOp, iterators: ByStage) -> ByStage:
        """Let a loop or a branch read stages; returns the iterators after it."""
        if isinstance(op, ForOp):
            op.attributes.pop(SCHEDULE, None)
            body = op.body.block
            arguments = [body.add_argument(each.type, op.location) for each in iterators.values()]
            _yield(body, self.consume(body, dict(zip(iterators, arguments, strict=True))))
            new = add_iter_args(op, list(iterators.values()))
        else:
            new = self._consume_branches(op, iterators)
        return dict(zip(iterators, new.results[-len(iterators) :], strict=True))

    def _consume_branches(self, op: IfOp, iterators: ByStage) -> IfOp:
        for region in op.regions:
            if not region.blocks:
                region.append(Block())
                Builder(InsertPoint.at_end(region.block), op.location).create(ScfYieldOp, values=[])
            _yield(region.block, self.consume(region.block, iterators))
        new = op.like(op.operands, [each.type for each in (*op.results, *iterators.values())])
        new.insert_before(op)
        new.set_regions(op.regions)
        op.regions = ()
        for old, result in zip(op.results, new.results, strict=False):
            old.replace_all_uses_with(result)
        op.erase()
        return new


def _pin(group: CopyGroup, pipeline: Value, iterator: Value) -> None:
    """Keep ptxas from hoisting a late wait for a dot: it does not across a wait for the stage.

    It is `hoisted-wait` of docs/ptxas-defects.md.
    """
    wait = group.last
    if isinstance(wait, DotWaitOp) and wait.late:
        build = Builder(InsertPoint.before(wait), group.location)
        build.create(ConsumerWaitOp, pipeline=pipeline, iterator=iterator)
        wait.late = False


def create_iterators(build: Builder, pipelines: ByStage) -> ByStage:
    """The first iterator of each pipeline."""
    iterators: dict[Stage, Value] = {}
    for stage, ring in pipelines.items():
        types = [IteratorType(pipeline(ring).stages)]
        iterators[stage] = build.create(CreateIteratorOp, pipeline=ring, types=types).result
    return iterators


def _map_type(load: TiledLoadOp, tile: TensorType) -> TensorMapType:
    """The tensor map by which a load is copied."""
    return TensorMapType(tiled_view(load.view), tile, len(ranks_within(multicast_of(load))))


def _mapped(values: Mapping[Value, Value], value: Value) -> Value:
    return values.get(value, value)


def _yield(block: Block, iterators: ByStage) -> None:
    """Let a block yield iterators as well."""
    last = block.last
    assert last is not None
    last.set_operands([*last.operands, *iterators.values()])
