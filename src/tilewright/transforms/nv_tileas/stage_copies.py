"""Copies of tiles to the stages of a pipeline, and reads from there in place of loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, EVICT_FIRST
from tilewright.dialects.nv_tileas.attributes import CopyEngine, laid_out
from tilewright.dialects.nv_tileas.memory import LoadOp, TiledLoadOp
from tilewright.dialects.nv_tileas.pipeline import (
    CreateIteratorOp,
    CreatePipelineOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    ProducerCopyOp,
    ProducerWriteOp,
)
from tilewright.dialects.nv_tileas.types import IteratorType, PipelineType
from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_pure
from tilewright.ir.operation import Block, Region
from tilewright.transforms.nv_tileaa.address_ops import clone_address_ops, erase_unused
from tilewright.transforms.nv_tileas.pipelined_loads import StagePlan, TileLoad, plan_stage
from tilewright.transforms.nv_tileas.stage_reads import read_stage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileaa.prefetchable_loads import PrefetchableLoad


class Iteration(NamedTuple):
    """An iteration that may lie past the end of the loop."""

    induction: Value
    """The value of the induction variable."""
    exists: Value | None
    """Whether the loop executes it; None if it does."""
    indices: Sequence[Value] = ()
    """The results of its index loads, once they are loaded."""


class StageCopies:
    """Some loads of a loop, and the pipeline that copies their tiles."""

    __slots__ = ("_index_loads", "_loads", "_loop", "_pipeline", "_plans")

    def __init__(self, loop: ForOp, loads: Sequence[PrefetchableLoad]) -> None:
        self._loop, self._loads = loop, loads
        self._plans: list[StagePlan] = [plan_stage(_tile_load(each)) for each in loads]
        self._pipeline: Value | None = None
        index_loads = [index for each in loads for index in each.index_loads]
        self._index_loads = list({index.load: index for index in index_loads}.values())

    @property
    def has_indices(self) -> bool:
        """Whether tiles are loaded with indices or pointers that the loop loads."""
        return bool(self._index_loads)

    @property
    def is_private(self) -> bool:
        """Whether each thread reads only what it copied."""
        return all(plan.is_private for plan in self._plans)

    @property
    def tiles(self) -> list[Value]:
        """The tiles of a stage, as the loop loads them."""
        return [each.load.results[0] for each in self._loads]

    @property
    def stage(self) -> tuple[Type, ...]:
        """The types of the tiles in a stage."""
        return tuple(
            laid_out(element_of(each.load.results[0].type), plan.placement)
            for each, plan in zip(self._loads, self._plans, strict=True)
        )

    @property
    def pipeline(self) -> Value:
        """The pipeline, once it is created."""
        assert self._pipeline is not None
        return self._pipeline

    def create(self, build: Builder, stages: int) -> Value:
        """Create the pipeline; returns its first iterator."""
        type = PipelineType(stages, self.stage)
        self._pipeline = build.create(
            CreatePipelineOp, private=self.is_private, types=[type]
        ).result
        kind = IteratorType(stages)
        return build.create(CreateIteratorOp, pipeline=self._pipeline, types=[kind]).result

    def use(self, pipeline: Value) -> None:
        """Take over the pipeline of another loop."""
        self._pipeline = pipeline

    def load_indices(self, build: Builder, iteration: Iteration) -> Iteration:
        """Load the indices of an iteration, if it exists; any value if it does not."""
        if not self._index_loads:
            return iteration
        assert iteration.exists is not None
        location = self._loop.location
        then, other = Block(), Block()
        inside = Builder(InsertPoint.at_end(then), location)
        outside = Builder(InsertPoint.at_end(other), location)
        values: dict[Value, Value] = {self._loop.induction_variable: iteration.induction}
        for index in self._index_loads:
            if index.load.results[0] not in values:
                clone_address_ops(inside, index.load, index.address_ops, values)
                inside.insert(index.load.clone(values))
        results = [index.load.results[0] for index in self._index_loads]
        inside.create(YieldOp, values=[values[result] for result in results])
        outside.create(YieldOp, values=[_zero(outside, result.type) for result in results])
        regions = [Region([then]), Region([other])]
        types = [result.type for result in results]
        loaded = build.insert(IfOp([iteration.exists], types, {}, regions, location))
        return iteration._replace(indices=loaded.results)

    @property
    def may_be_masked(self) -> bool:
        """Whether copies can be masked off instead of skipped by a branch.

        `cp.async` copies tiles of views, and their indices may be computed for any iteration.
        """
        by_threads = all(plan.engine is CopyEngine.CP_ASYNC for plan in self._plans)
        of_views = all(isinstance(each.load, TiledLoadOp) for each in self._loads)
        address_ops = [op for each in self._loads for op in each.address_ops]
        is_speculatable = not self._index_loads and all(map(is_pure, address_ops))
        return by_threads and of_views and is_speculatable

    def copy_masked(
        self,
        build: Builder,
        iteration: Iteration,
        iterator: Value,
        points: Sequence[Builder],
        ends: Sequence[int],
    ) -> None:
        """Copy the tiles of an iteration into a stage, or zeros if it does not exist.

        Each tile has a point where its copy starts, none before `build` or that of another tile
        before it. The copies are committed after each tile in `ends`.
        """
        acquire = build.create(ProducerAcquireOp, pipeline=self.pipeline, iterator=iterator)
        values: dict[Value, Value] = {self._loop.induction_variable: iteration.induction}
        for each in self._loads:
            clone_address_ops(build, each.load, each.address_ops, values)
        for number, (each, point) in enumerate(zip(self._loads, points, strict=True)):
            source = _source(_tile_load(each), values, iteration.exists)
            self._copy_tile(point, number, acquire.token, source)
            if number in ends:
                point.create(ProducerCommitOp, pipeline=self.pipeline, token=acquire.token)

    def copy(
        self, build: Builder, iteration: Iteration, iterator: Value, end: Builder | None = None
    ) -> None:
        """Copy the tiles of an iteration, if it exists, into a stage, and commit it.

        Tiles that pass through registers are stored at the `end`, when they have arrived.
        """
        acquire = build.create(ProducerAcquireOp, pipeline=self.pipeline, iterator=iterator)
        held = self._start(build, iteration, acquire.token)
        if held:
            build = end or build
            self._store(build, iteration, acquire.token, held)
        build.create(ProducerCommitOp, pipeline=self.pipeline, token=acquire.token)

    def _copy_tile(
        self, build: Builder, number: int, token: Value, source: Mapping[str, Any]
    ) -> None:
        """Start to copy a tile into a stage."""
        load, plan = _tile_load(self._loads[number]), self._plans[number]
        build.create(
            ProducerCopyOp,
            pipeline=self.pipeline,
            token=token,
            **source,
            number=number,
            engine=plan.engine,
            tile=load.results[0].type,
            vector=load.vector,
            evict_first=EVICT_FIRST in load.attributes,
            location=load.location,
        )

    def _start(self, build: Builder, iteration: Iteration, token: Value) -> Sequence[Value]:
        """Start to copy the tiles of an iteration, if it exists.

        Returns the tiles that pass through registers, with any value if it does not exist.
        """
        then, other = Block(), Block()
        loop, loads = self._loop, self._loads
        inside = Builder(InsertPoint.at_end(then), loop.location)
        outside = Builder(InsertPoint.at_end(other), loop.location)
        values: dict[Value, Value] = {loop.induction_variable: iteration.induction}
        for index, loaded in zip(self._index_loads, iteration.indices, strict=True):
            values[index.load.results[0]] = loaded
        for each in loads:
            clone_address_ops(inside, each.load, each.address_ops, values)
        held: list[Value] = []
        missing: list[Value] = []
        for number, (each, plan) in enumerate(zip(loads, self._plans, strict=True)):
            load = _tile_load(each)
            type = load.results[0].type
            if plan.engine is CopyEngine.REGISTERS:
                copy = load.clone(values)
                del copy.attributes[ENGINE]
                copy.attributes.pop(EVICT_FIRST, None)
                held.append(inside.insert(copy).results[0])
                missing.append(_zero(outside, type))
                continue
            self._copy_tile(inside, number, token, _source(load, values))
        if iteration.exists is None:
            for op in list(then):
                build.insert(op.detach())
            return held
        inside.create(YieldOp, values=held)
        regions = [Region([then]), Region()]
        if held:
            outside.create(YieldOp, values=missing)
            regions = [Region([then]), Region([other])]
        types = [value.type for value in held]
        started = IfOp([iteration.exists], types, {}, regions, loop.location)
        return build.insert(started).results

    def _store(
        self, build: Builder, iteration: Iteration, token: Value, held: Sequence[Value]
    ) -> None:
        """Store tiles from registers into the stage of an iteration, if it exists."""
        engines = [plan.engine for plan in self._plans]
        numbers = [n for n, engine in enumerate(engines) if engine is CopyEngine.REGISTERS]
        location = self._loop.location
        then = Block()
        inside = build if iteration.exists is None else Builder(InsertPoint.at_end(then), location)
        for number, tile in zip(numbers, held, strict=True):
            inside.create(
                ProducerWriteOp, pipeline=self.pipeline, token=token, number=number, values=[tile]
            )
        if iteration.exists is not None:
            inside.create(YieldOp, values=[])
            regions = [Region([then]), Region()]
            build.insert(IfOp([iteration.exists], [], {}, regions, location))

    def read(self, build: Builder, token: Value) -> list[Operation]:
        """Read the stage instead of the loads; returns what they replace, users first."""
        loads = [_tile_load(each) for each in self._loads]
        return read_stage(build, self.pipeline, token, loads, self._plans)

    def erase_address_ops(self) -> None:
        """Erase what only computed the addresses of loads that are erased."""
        for each in self._loads:
            erase_unused(each.address_ops)


def _tile_load(each: PrefetchableLoad) -> TileLoad:
    assert isinstance(each.load, TileLoad)
    return each.load


def _source(
    load: TileLoad, values: Mapping[Value, Value], exists: Value | None = None
) -> dict[str, Any]:
    """The operands and attributes of a copy that say what a load reads, in another iteration.

    A copy of a tile of a view may be masked off if the iteration does not exist.
    """
    if isinstance(load, LoadOp):
        mask = None if load.mask is None else values.get(load.mask, load.mask)
        return {"source": values.get(load.pointers, load.pointers), "mask": mask}
    return {
        "source": values.get(load.view, load.view),
        "indices": [values.get(index, index) for index in load.indices],
        "in_bounds": load.in_bounds,
        "partial": load.partial,
        "mask": exists,
    }


def _zero(build: Builder, type: Type) -> Value:
    return build.create(ConstantOp, value=literal([0], type), types=[type]).result
