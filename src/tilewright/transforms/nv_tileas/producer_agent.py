"""The producer of a warp-specialized function: its loops, and the copies in them.

It repeats the control flow around the pipelined loops with what `ProducerSlice` says it needs, in a
block of its own, and fills a stage in each iteration of a pipelined loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.dialects.nv_tileas.agents import YieldOp
from tilewright.dialects.nv_tileas.attribute_names import MULTICAST, SCHEDULE
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
    from collections.abc import Mapping, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.nv_tileas.memory import TiledLoadOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileas.producer_slice import ProducerSlice
    from tilewright.transforms.nv_tileas.specialized_loops import SpecializedLoop


class ProducerAgent:
    """Builds the code of the producer, beside the loops that it is made from."""

    __slots__ = ("_function", "_loops", "_maps", "_pipeline", "_slice")

    def __init__(
        self,
        function: FuncOp,
        loops: Sequence[SpecializedLoop],
        slice: ProducerSlice,
        pipeline: Value,
    ) -> None:
        self._function, self._slice, self._pipeline = function, slice, pipeline
        self._loops = {each.loop: each for each in loops}
        self._maps: Mapping[tuple[Value, TensorMapType], Value] = {}

    def build(self) -> Block:
        """The body of the agent."""
        block = Block()
        build = Builder(InsertPoint.at_end(block), self._function.location)
        self._maps = self._create_maps(build)
        stages = pipeline(self._pipeline).stages
        iterator = build.create(
            CreateIteratorOp, pipeline=self._pipeline, types=[IteratorType(stages)]
        ).result
        values: dict[Value, Value] = {}
        for op in self._function.body.block:
            iterator = self._produce(op, build, values, iterator)
        self._wait_for_consumers(build, iterator)
        build.create(ReleaseTensorMapsOp, maps=list(self._maps.values()))
        build.create(YieldOp)
        return block

    def _wait_for_consumers(self, build: Builder, iterator: Value) -> None:
        """Wait until all stages are released.

        Until then copies may read the maps; and where copies multicast, other CTAs of the cluster
        access the shared memory of this one, which must not have exited.
        """
        for _ in range(pipeline(self._pipeline).stages):
            build.create(ProducerAcquireOp, pipeline=self._pipeline, iterator=iterator)
            iterator = build.create(IncIterOp, iterator=iterator).result

    def _create_maps(self, build: Builder) -> dict[tuple[Value, TensorMapType], Value]:
        """A tensor map for each view and tile that is copied."""
        copied = [
            (load.view, _map_type(load, tile))
            for each in self._loops.values()
            for load, tile in zip(each.loads, each.copies.stage, strict=True)
        ]
        views, types = zip(*dict.fromkeys(copied), strict=True)
        created = build.create(CreateTensorMapsOp, views=list(views), types=list(types))
        return dict(zip(dict.fromkeys(copied), created.maps, strict=True))

    def _produce(
        self, op: Operation, build: Builder, values: dict[Value, Value], iterator: Value
    ) -> Value:
        """Repeat an operation in the producer, if it is needed; returns the next iterator."""
        if isinstance(op, ForOp) and (op in self._loops or op in self._slice.enclosing):
            return self._produce_loop(op, build, values, iterator)
        if isinstance(op, IfOp) and op in self._slice.enclosing:
            return self._produce_branches(op, build, values, iterator)
        if self._slice.needs(op):
            build.insert(op.clone(values))
        return iterator

    def _produce_loop(
        self, loop: ForOp, build: Builder, values: dict[Value, Value], iterator: Value
    ) -> Value:
        """Repeat a loop; a pipelined one fills a stage in each iteration."""
        last = loop.body.block.last
        assert last is not None
        kept = [n for n, carried in enumerate(loop.carried) if carried in self._slice.values]
        initial = [_mapped(values, loop.init_args[number]) for number in kept] + [iterator]
        types = [loop.lower_bound.type, *[value.type for value in initial]]
        body = Block(types, [loop.location] * len(types))
        inner = dict(values)
        inner[loop.induction_variable] = body.args[0]
        for number, argument in zip(kept, body.args[1:], strict=False):
            inner[loop.carried[number]] = argument
        inside, advanced = Builder(InsertPoint.at_end(body), loop.location), body.args[-1]
        for op in loop.body.block:
            advanced = self._produce(op, inside, inner, advanced)
        if loop in self._loops:
            advanced = self._fill_stage(self._loops[loop], inside, inner, advanced)
        yielded = [_mapped(inner, last.operands[number]) for number in kept]
        inside.create(ScfYieldOp, values=[*yielded, advanced])
        bounds = [_mapped(values, bound) for bound in loop.operands[:3]]
        attributes = {k: v for k, v in loop.attributes.items() if k != SCHEDULE}
        new = ForOp([*bounds, *initial], types[1:], attributes, [Region([body])], loop.location)
        build.insert(new)
        for number, result in zip(kept, new.results, strict=False):
            values[loop.results[number]] = result
        return new.results[-1]

    def _produce_branches(
        self, op: IfOp, build: Builder, values: dict[Value, Value], iterator: Value
    ) -> Value:
        kept = [n for n, result in enumerate(op.results) if result in self._slice.values]
        blocks: list[Block] = []
        for region in op.regions:
            block, inner, advanced = Block(), dict(values), iterator
            inside = Builder(InsertPoint.at_end(block), op.location)
            last = region.block.last if region.blocks else None
            for each in region.block if region.blocks else ():
                advanced = self._produce(each, inside, inner, advanced)
            yielded = [_mapped(inner, last.operands[n]) for n in kept] if last is not None else []
            inside.create(ScfYieldOp, values=[*yielded, advanced])
            blocks.append(block)
        types = [*[op.results[number].type for number in kept], iterator.type]
        condition = _mapped(values, op.condition)
        new = IfOp([condition], types, {}, [Region([block]) for block in blocks], op.location)
        build.insert(new)
        for number, result in zip(kept, new.results, strict=False):
            values[op.results[number]] = result
        return new.results[-1]

    def _fill_stage(
        self, each: SpecializedLoop, build: Builder, values: dict[Value, Value], iterator: Value
    ) -> Value:
        token = build.create(ProducerAcquireOp, pipeline=self._pipeline, iterator=iterator).token
        for number, (load, tile) in enumerate(zip(each.loads, each.copies.stage, strict=True)):
            build.create(
                ProducerCopyOp,
                pipeline=self._pipeline,
                token=token,
                source=self._maps[load.view, _map_type(load, tile)],
                indices=[_mapped(values, index) for index in load.indices],
                number=number,
                engine=CopyEngine.TMA,
                multicast=multicast_of(load),
                location=load.location,
            )
        build.create(ProducerCommitOp, pipeline=self._pipeline, token=token)
        return build.create(IncIterOp, iterator=iterator).result


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
