"""The producer of a warp-specialized function: its loops, and the copies in them.

It repeats the control flow around the copies with what `ProducerSlice` says it needs, in a block of
its own. It fills the stages of all pipelines in the order in which the consumers wait for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.dialects.nv_tileas.agents import YieldOp
from tilewright.dialects.nv_tileas.attribute_names import EVICT_FIRST, MULTICAST, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import CopyEngine
from tilewright.dialects.nv_tileas.pipeline import (
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
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.ir.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.nv_tileas.memory import TiledLoadOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileas.copy_groups import CopyGroup, Stage
    from tilewright.transforms.nv_tileas.producer_slice import ProducerSlice
    from tilewright.transforms.nv_tileas.specialized_copies import SpecializedCopies


class ProducerAgent:
    """Builds the code of the producer, beside the code that it is made from."""

    __slots__ = ("_copies", "_function", "_maps", "_numbers", "_pipelines", "_slice")

    def __init__(
        self,
        function: FuncOp,
        copies: SpecializedCopies,
        slice: ProducerSlice,
        pipelines: Mapping[Stage, Value],
    ) -> None:
        self._function, self._copies, self._slice = function, copies, slice
        self._pipelines = pipelines
        self._numbers = {stage: number for number, stage in enumerate(pipelines)}
        self._maps: Mapping[tuple[Value, TensorMapType], Value] = {}

    def build(self) -> Block:
        """The body of the agent."""
        block = Block()
        build = Builder(InsertPoint.at_end(block), self._function.location)
        self._maps = self._create_maps(build)
        iterators = create_iterators(build, self._pipelines.values())
        iterators = self._produce_block(self._function.body.block, build, {}, iterators)
        self._wait_for_consumers(build, iterators)
        build.create(ReleaseTensorMapsOp, maps=list(self._maps.values()))
        build.create(YieldOp)
        return block

    def _wait_for_consumers(self, build: Builder, iterators: Sequence[Value]) -> None:
        """Wait until all stages are released.

        Until then copies may read the maps; and where copies multicast, other CTAs of the cluster
        access the shared memory of this one, which must not have exited.
        """
        for ring, iterator in zip(self._pipelines.values(), iterators, strict=True):
            for _ in range(pipeline(ring).stages):
                build.create(ProducerAcquireOp, pipeline=ring, iterator=iterator)
                iterator = build.create(IncIterOp, iterator=iterator).result

    def _create_maps(self, build: Builder) -> dict[tuple[Value, TensorMapType], Value]:
        """A tensor map for each view and tile that is copied."""
        copied = [
            (load.view, _map_type(load, tile))
            for group in self._copies.groups
            for load, tile in zip(group.loads, group.stage, strict=True)
        ]
        views, types = zip(*dict.fromkeys(copied), strict=True)
        created = build.create(CreateTensorMapsOp, views=list(views), types=list(types))
        return dict(zip(dict.fromkeys(copied), created.maps, strict=True))

    def _produce_block(
        self, block: Block, build: Builder, values: dict[Value, Value], iterators: Sequence[Value]
    ) -> Sequence[Value]:
        """Repeat what is needed of a block, and fill its stages; returns the iterators after it."""
        groups, current = self._copies.by_block.get(block, ()), list(iterators)
        for op in block:
            for group in groups:
                if op.is_terminator if group.is_whole else op is group.first:
                    self._fill_stage(group, build, values, current)
            if isinstance(op, ForOp) and (op in self._copies.loops or op in self._slice.enclosing):
                current = list(self._produce_loop(op, build, values, current))
            elif isinstance(op, IfOp) and op in self._slice.enclosing:
                current = list(self._produce_branches(op, build, values, current))
            elif self._slice.needs(op):
                build.insert(op.clone(values))
        return current

    def _produce_loop(
        self, loop: ForOp, build: Builder, values: dict[Value, Value], iterators: Sequence[Value]
    ) -> Sequence[Value]:
        """Repeat a loop."""
        last = loop.body.block.last
        assert last is not None
        kept = [n for n, carried in enumerate(loop.carried) if carried in self._slice.values]
        initial = [*[_mapped(values, loop.init_args[number]) for number in kept], *iterators]
        types = [loop.lower_bound.type, *[value.type for value in initial]]
        body = Block(types, [loop.location] * len(types))
        inner = dict(values)
        inner[loop.induction_variable] = body.args[0]
        for number, argument in zip(kept, body.args[1:], strict=False):
            inner[loop.carried[number]] = argument
        inside = Builder(InsertPoint.at_end(body), loop.location)
        advanced = self._produce_block(loop.body.block, inside, inner, body.args[-len(iterators) :])
        yielded = [_mapped(inner, last.operands[number]) for number in kept]
        inside.create(ScfYieldOp, values=[*yielded, *advanced])
        bounds = [_mapped(values, bound) for bound in loop.operands[:3]]
        attributes = {k: v for k, v in loop.attributes.items() if k != SCHEDULE}
        new = ForOp([*bounds, *initial], types[1:], attributes, [Region([body])], loop.location)
        build.insert(new)
        for number, result in zip(kept, new.results, strict=False):
            values[loop.results[number]] = result
        return new.results[-len(iterators) :]

    def _produce_branches(
        self, op: IfOp, build: Builder, values: dict[Value, Value], iterators: Sequence[Value]
    ) -> Sequence[Value]:
        kept = [n for n, result in enumerate(op.results) if result in self._slice.values]
        blocks: list[Block] = []
        for region in op.regions:
            block, inner, advanced = Block(), dict(values), iterators
            inside = Builder(InsertPoint.at_end(block), op.location)
            last = region.block.last if region.blocks else None
            if region.blocks:
                advanced = self._produce_block(region.block, inside, inner, iterators)
            yielded = [_mapped(inner, last.operands[n]) for n in kept] if last is not None else []
            inside.create(ScfYieldOp, values=[*yielded, *advanced])
            blocks.append(block)
        types = [*[op.results[number].type for number in kept], *[each.type for each in iterators]]
        condition = _mapped(values, op.condition)
        new = IfOp([condition], types, {}, [Region([block]) for block in blocks], op.location)
        build.insert(new)
        for number, result in zip(kept, new.results, strict=False):
            values[op.results[number]] = result
        return new.results[-len(iterators) :]

    def _fill_stage(
        self,
        group: CopyGroup,
        build: Builder,
        values: Mapping[Value, Value],
        iterators: list[Value],
    ) -> None:
        """Fill the stage of a group, and advance the iterator of its pipeline."""
        ring, at = self._pipelines[group.stage], self._numbers[group.stage]
        token = build.create(ProducerAcquireOp, pipeline=ring, iterator=iterators[at]).token
        for number, (load, tile) in enumerate(zip(group.loads, group.stage, strict=True)):
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
        iterators[at] = build.create(IncIterOp, iterator=iterators[at]).result


def create_iterators(build: Builder, pipelines: Iterable[Value]) -> list[Value]:
    """The first iterator of each pipeline."""
    return [
        build.create(
            CreateIteratorOp, pipeline=each, types=[IteratorType(pipeline(each).stages)]
        ).result
        for each in pipelines
    ]


def multicast_of(load: TiledLoadOp) -> int:
    """The bits of the CTA rank in which CTAs differ that multicast a tile; 0 if none do."""
    mask = load.attributes.get(MULTICAST)
    return mask.value if isinstance(mask, IntegerAttr) else 0


def _map_type(load: TiledLoadOp, tile: Type) -> TensorMapType:
    """The tensor map by which a load is copied."""
    assert isinstance(tile, TensorType)
    parts = len(ranks_within(multicast_of(load)))
    return TensorMapType(tiled_view(load.view), tile, parts)


def _mapped(values: Mapping[Value, Value], value: Value) -> Value:
    return values.get(value, value)
