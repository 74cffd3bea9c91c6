"""The code of the agents of a warp-specialized function: a producer, and consumers.

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
from tilewright.dialects.nv_tileas.async_copy import AllocTensorOp
from tilewright.dialects.nv_tileas.async_store import AsyncTiledStoreOp, StoreWaitOp
from tilewright.dialects.nv_tileas.attribute_names import EVICT_FIRST, SCHEDULE, STORE_STAGES
from tilewright.dialects.nv_tileas.attributes import CopyEngine
from tilewright.dialects.nv_tileas.matrix import DotWaitOp
from tilewright.dialects.nv_tileas.memory import TiledAtomicRmwOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReadOp,
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreateIteratorOp,
    CreatePipelineOp,
    IncIterOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    ProducerCopyOp,
    ProducerWriteOp,
    ranks_within,
)
from tilewright.dialects.nv_tileas.tensor_map import CreateTensorMapsOp, ReleaseTensorMapsOp
from tilewright.dialects.nv_tileas.types import IteratorType, PipelineType, TensorMapType, pipeline
from tilewright.dialects.scf import ForOp, IfOp
from tilewright.dialects.scf import YieldOp as ScfYieldOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.transforms.nv_tileas.copy_groups import Stage
from tilewright.transforms.nv_tileas.stage_reads import read_late, read_stage
from tilewright.transforms.nv_tileas.tma_loads import multicast_of
from tilewright.transforms.nv_tileas.tma_stores import converted_tile, store_boxes, stores_by_tma

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.nv_tileas.memory import TiledLoadOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.types import TensorType
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileas.copy_groups import CopyGroup, ProducerCopies
    from tilewright.transforms.nv_tileas.tma_stores import Store

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
        for region in op.regions:
            inner = iterators
            if not region.blocks:
                region.append(Block())
                Builder(InsertPoint.at_end(region.block), op.location).create(ScfYieldOp, values=[])
            block, last = region.block, region.block.last
            assert last is not None
            if isinstance(op, ForOp):
                added = [block.add_argument(each.type, op.location) for each in iterators.values()]
                inner = dict(zip(iterators, added, strict=True))
            inner = self.consume(block, inner)
            last.set_operands([*last.operands, *inner.values()])
        initial = iterators.values() if isinstance(op, ForOp) else ()
        types = [each.type for each in (*op.results, *iterators.values())]
        new = op.like([*op.operands, *initial], types)
        new.attributes.pop(SCHEDULE, None)
        new.insert_before(op)
        new.set_regions(op.regions)
        op.regions = ()
        for old, result in zip(op.results, new.results, strict=False):
            old.replace_all_uses_with(result)
        op.erase()
        return dict(zip(iterators, new.results[len(op.results) :], strict=True))


class SpecializedStores:
    """Lets consumers store by TMA.

    A warp beside the producer encodes the maps, so that the first copies do not wait for them, and
    writes them to a pipeline with one stage, which the consumers read before their first tile. When
    the consumers have completed their stores, they release the stage, and the warp the maps.
    """

    __slots__ = ("_function", "_maps", "_pipeline", "_stores")

    def __init__(self, function: FuncOp, build: Builder) -> None:
        """Create the pipeline of the maps, before the agents; without stores, none."""
        self._function, self._stores = function, stores_by_tma(function)
        self._maps = dict.fromkeys((each.view, store_boxes(each).map) for each in self._stores)
        self._pipeline: Value | None = None
        if self._stores:
            types = [PipelineType(1, tuple(map for _, map in self._maps))]
            self._pipeline = build.create(CreatePipelineOp, drained=True, types=types).result

    def encode(self) -> Block | None:
        """The body of the agent that encodes the maps; None without stores."""
        pipeline = self._pipeline
        if pipeline is None:
            return None
        block = Block()
        build = Builder(InsertPoint.at_end(block), self._function.location)
        views, types = [list(each) for each in zip(*self._maps, strict=True)]
        maps = build.create(CreateTensorMapsOp, views=views, types=types).maps
        iterator = build.create(CreateIteratorOp, pipeline=pipeline, types=[IteratorType(1)]).result
        token = build.create(ProducerAcquireOp, pipeline=pipeline, iterator=iterator).token
        build.create(ProducerWriteOp, pipeline=pipeline, token=token, values=list(maps))
        build.create(ProducerCommitOp, pipeline=pipeline, token=token)
        # TMA reads the maps until the consumers have released the stage.
        following = build.create(IncIterOp, iterator=iterator).result
        build.create(ProducerAcquireOp, pipeline=pipeline, iterator=following)
        build.create(ReleaseTensorMapsOp, maps=list(maps))
        build.create(YieldOp)
        return block

    def store(self, consumer: Block) -> None:
        """Read the maps at the start of the consumers, store by them, and wait at the end."""
        pipeline = self._pipeline
        if pipeline is None:
            return
        build = Builder(InsertPoint.at_start(consumer), self._function.location)
        iterator = build.create(CreateIteratorOp, pipeline=pipeline, types=[IteratorType(1)]).result
        token = build.create(ConsumerWaitOp, pipeline=pipeline, iterator=iterator).token
        types = [map for _, map in self._maps]
        read = build.create(ConsumerReadOp, pipeline=pipeline, token=token, types=types)
        maps = dict(zip(self._maps, read.values, strict=True))
        buffers: dict[Type, Value] = {}
        for store in self._stores:
            boxes = store_boxes(store)
            tile = boxes.map.tile
            if tile not in buffers:
                stages = store.attributes.get(STORE_STAGES)
                type = boxes.buffer(stages.value if isinstance(stages, IntegerAttr) else 1)
                buffers[tile] = build.create(AllocTensorOp, types=[type]).result
            _store(store, boxes.tile, maps[store.view, boxes.map], buffers[tile])
        end = Builder(InsertPoint.at_end(consumer), self._function.location)
        wait_for_stores(end)
        end.create(ConsumerReleaseOp, pipeline=pipeline, token=token)


def wait_for_stores(build: Builder) -> None:
    """Wait for all stores at the end of the consumers: TMA reads the maps and shared memory."""
    build.create(StoreWaitOp)


def _store(store: Store, tile: Value, map: Value, buffer: Value) -> None:
    """Replace a store by threads, and the layout conversion that it alone uses."""
    convert = converted_tile(store)
    build = Builder(InsertPoint.before(store), store.location)
    made = build.create(
        AsyncTiledStoreOp,
        tile=tile,
        view=store.view,
        indices=list(store.indices),
        token=store.token,
        map=map,
        buffer=buffer,
        semantic=store.semantic,
        scope=store.scope,
        mode=store.mode if isinstance(store, TiledAtomicRmwOp) else None,
        types=[store.result_token.type],
    )
    kept = ("in_bounds", "sliced", "latency")
    made.attributes.update({k: v for k, v in store.attributes.items() if k in kept})
    store.result_token.replace_all_uses_with(made.result_token)
    store.erase()
    if convert is not None and not convert.result.is_used:
        convert.erase()


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
