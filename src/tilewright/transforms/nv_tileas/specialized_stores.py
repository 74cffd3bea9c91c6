"""Stores by TMA of a warp-specialized function: their tensor maps, and their shared memory.

A warp beside the producer encodes the maps, so that the first copies do not wait for them, and
writes them to a pipeline with one stage, which the consumers read before their first tile. When the
consumers have completed their stores, they release the stage, and the warp releases the maps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.agents import YieldOp
from tilewright.dialects.nv_tileas.async_copy import AllocTensorOp
from tilewright.dialects.nv_tileas.async_store import AsyncTiledStoreOp, StoreWaitOp
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, STORE_STAGES
from tilewright.dialects.nv_tileas.attributes import CopyEngine, Residency
from tilewright.dialects.nv_tileas.memory import TiledAtomicRmwOp, TiledStoreOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReadOp,
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreateIteratorOp,
    CreatePipelineOp,
    IncIterOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    ProducerWriteOp,
)
from tilewright.dialects.nv_tileas.tensor_map import (
    CreateTensorMapsOp,
    ReleaseTensorMapsOp,
    boxes_of,
)
from tilewright.dialects.nv_tileas.types import BufferType, IteratorType, PipelineType
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block
from tilewright.transforms.nv_tileas.tma_loads import hoist_view
from tilewright.transforms.nv_tileas.tma_stores import converted_tile, store_boxes

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.nv_tileas.types import TensorMapType
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileas.tma_stores import Store, StoreBoxes


def stores_by_tma(function: FuncOp) -> list[Store]:
    """The stores of a function for which `schedule-loops` has chosen TMA."""
    stores = [op for op in function.walk() if isinstance(op, TiledStoreOp | TiledAtomicRmwOp)]
    return [op for op in stores if op.attributes.get(ENGINE) is CopyEngine.TMA]


class SpecializedStores:
    """Lets consumers store by TMA."""

    __slots__ = ("_function", "_maps", "_pipeline", "_stores", "views")

    def __init__(self, function: FuncOp) -> None:
        self._function = function
        self._stores = stores_by_tma(function)
        for store in self._stores:
            hoist_view(store)
        self._maps: dict[tuple[Value, TensorMapType], None] = {
            (store.view, store_boxes(store).map): None for store in self._stores
        }
        self.views = [view for view, _ in self._maps]
        """The view of each tensor map, which is created before the agents."""
        self._pipeline: Value | None = None

    def create_pipeline(self, build: Builder) -> None:
        """Create the pipeline of the maps, before the agents; without stores, none."""
        if self._stores:
            type = PipelineType(1, tuple(map for _, map in self._maps))
            self._pipeline = build.create(CreatePipelineOp, drained=True, types=[type]).result

    def encode(self) -> Block | None:
        """The body of the agent that encodes the maps; None without stores."""
        pipeline = self._pipeline
        if pipeline is None:
            return None
        block = Block()
        build = Builder(InsertPoint.at_end(block), self._function.location)
        types = [map for _, map in self._maps]
        maps = build.create(CreateTensorMapsOp, views=self.views, types=types).maps
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
            if boxes.map.tile not in buffers:
                buffers[boxes.map.tile] = _buffer(build, store, boxes)
            _store(store, boxes, maps[store.view, boxes.map], buffers[boxes.map.tile])
        end = Builder(InsertPoint.at_end(consumer), self._function.location)
        wait_for_stores(end)
        end.create(ConsumerReleaseOp, pipeline=pipeline, token=token)


def wait_for_stores(build: Builder) -> None:
    """Wait for all stores at the end of the consumers: TMA reads the maps and shared memory."""
    build.create(StoreWaitOp)


def _buffer(build: Builder, store: Store, boxes: StoreBoxes) -> Value:
    """The shared memory that stores of equal tiles stage their boxes in."""
    stages = store.attributes.get(STORE_STAGES)
    own = boxes.stages(stages.value if isinstance(stages, IntegerAttr) else 1)
    extents = boxes_of(boxes.map).extents
    element = element_of(boxes.tile.type)
    type = BufferType(Residency.SHARED, boxes.warps * own, extents, element)
    return build.create(AllocTensorOp, types=[type]).result


def _store(store: Store, boxes: StoreBoxes, map: Value, buffer: Value) -> None:
    """Replace a store by threads, and the layout conversion that it alone uses."""
    convert = converted_tile(store)
    build = Builder(InsertPoint.before(store), store.location)
    kept = ("in_bounds", "sliced", "latency")
    made = build.create(
        AsyncTiledStoreOp,
        tile=boxes.tile,
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
    made.attributes.update({k: v for k, v in store.attributes.items() if k in kept})
    store.result_token.replace_all_uses_with(made.result_token)
    store.erase()
    if convert is not None and not convert.result.is_used:
        convert.erase()
