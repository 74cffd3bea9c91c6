"""Copies of tiles to the stages of a pipeline, and reads from there in place of loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from tilewright.ir.effects import is_pure
from tilewright.transforms.nv_tileaa.address_ops import clone_address_ops, erase_unused
from tilewright.transforms.nv_tileas.pipelined_loads import (
    StagePlan,
    TileLoad,
    is_private,
    plan_stages,
)
from tilewright.transforms.nv_tileas.stage_reads import read_stage
from tilewright.transforms.pipeline.iterations import branch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileaa.prefetchable_loads import PrefetchableLoad


class StageCopies:
    """Some loads of a loop, and the pipeline that copies their tiles."""

    __slots__ = ("_index_loads", "_indices", "_loads", "_loop", "_plans", "_replaced", "pipeline")

    pipeline: Value
    """Set by `create`, or that of another loop whose stages are the same."""

    def __init__(self, loop: ForOp, loads: Sequence[PrefetchableLoad]) -> None:
        self._loop, self._loads = loop, loads
        self._plans: list[StagePlan] = plan_stages(self.loads)
        index_loads = [index for each in loads for index in each.index_loads]
        self._index_loads = list({index.load: index for index in index_loads}.values())
        self._indices: Mapping[Value, Value] = {}
        """For the results of index loads, those of the loads for the copied iteration."""
        self._replaced: list[Operation] = []

    @property
    def loads(self) -> list[TileLoad]:
        """The loads, in the order of their tiles in a stage."""
        return [each.load for each in self._loads if isinstance(each.load, TileLoad)]

    @property
    def has_indices(self) -> bool:
        """Whether tiles are loaded with indices or pointers that the loop loads."""
        return bool(self._index_loads)

    @property
    def is_private(self) -> bool:
        """Whether each thread reads only what it copied."""
        return is_private(self._plans)

    @property
    def tiles(self) -> list[Value]:
        """The tiles of a stage, as the loop loads them."""
        return [load.results[0] for load in self.loads]

    @property
    def stage(self) -> tuple[Type, ...]:
        """The types of the tiles in a stage."""
        return tuple(
            laid_out(element_of(tile.type), plan.placement)
            for tile, plan in zip(self.tiles, self._plans, strict=True)
        )

    def create(self, build: Builder, stages: int) -> Value:
        """Create the pipeline; returns its first iterator."""
        type = PipelineType(stages, self.stage)
        create = build.create(CreatePipelineOp, private=self.is_private, types=[type])
        self.pipeline = create.result
        kind = IteratorType(stages)
        return build.create(CreateIteratorOp, pipeline=self.pipeline, types=[kind]).result

    def load_indices(self, build: Builder, exists: Value) -> Operation:
        """Load the indices of an iteration if it exists; returns the branch."""
        loaded = [index.load.results[0] for index in self._index_loads]

        def then(inside: Builder) -> Sequence[Value]:
            values: dict[Value, Value] = {}
            for index in self._index_loads:
                if index.load.results[0] not in values:
                    clone_address_ops(inside, index.load, index.address_ops, values)
                    inside.insert(index.load.clone(values))
            return [values[each] for each in loaded]

        made = branch(build, exists, then, lambda inside: _zeros(inside, loaded))
        self._indices = dict(zip(loaded, made.results, strict=True))
        return made

    @property
    def may_be_masked(self) -> bool:
        """Whether copies can be masked off instead of skipped by a branch.

        `cp.async` copies tiles of views, and their indices may be computed for any iteration.
        """
        by_threads = all(plan.engine is CopyEngine.CP_ASYNC for plan in self._plans)
        of_views = all(isinstance(load, TiledLoadOp) for load in self.loads)
        address_ops = [op for each in self._loads for op in each.address_ops]
        is_speculatable = not self._index_loads and all(map(is_pure, address_ops))
        return by_threads and of_views and is_speculatable

    def copy(self, build: Builder, iterator: Value, counter: Value | None = None) -> None:
        """Copy the tiles of an iteration into a stage, and commit it.

        The iteration is that of the loop, or the one of another loop with a counter.
        """
        token = self.acquire(build, iterator)
        self.start(build, token, counter)
        self.commit(build, token)

    def copy_if(self, build: Builder, iterator: Value, exists: Value, end: Builder) -> None:
        """Copy the tiles of an iteration, if it exists, into a stage, and commit it.

        Tiles that pass through registers are stored at the `end`, when they have arrived.
        """
        token = self.acquire(build, iterator)
        missing = [self.tiles[number] for number in self._held]
        held = branch(
            build,
            exists,
            lambda inside: self.start(inside, token),
            (lambda inside: _zeros(inside, missing)) if missing else None,
        ).results
        if held:
            build = end
            branch(build, exists, lambda inside: self._store(inside, token, held))
        self.commit(build, token)

    def acquire(self, build: Builder, iterator: Value) -> Value:
        """Wait until a stage is empty; returns the token to write it with."""
        return build.create(ProducerAcquireOp, pipeline=self.pipeline, iterator=iterator).token

    def commit(self, build: Builder, token: Value) -> None:
        """Commit the copies into a stage so far."""
        build.create(ProducerCommitOp, pipeline=self.pipeline, token=token)

    @property
    def _held(self) -> list[int]:
        """The numbers of the tiles that pass through registers."""
        engines = [plan.engine for plan in self._plans]
        return [n for n, engine in enumerate(engines) if engine is CopyEngine.REGISTERS]

    def start(
        self,
        build: Builder,
        token: Value,
        counter: Value | None = None,
        points: Sequence[Builder] = (),
        mask: Value | None = None,
    ) -> Sequence[Value]:
        """Start to copy the tiles of an iteration; returns those that pass through registers.

        Each tile may have a point where its copy starts, none before `build` or that of another
        tile before it. If a mask is false, the stage is filled with zeros.
        """
        values = dict(self._indices)
        if counter is not None:
            values[self._loop.induction_variable] = counter
        for each in self._loads:
            clone_address_ops(build, each.load, each.address_ops, values)
        held: list[Value] = []
        for number, (load, plan) in enumerate(zip(self.loads, self._plans, strict=True)):
            if plan.engine is CopyEngine.REGISTERS:
                copy = build.insert(load.clone(values))
                del copy.attributes[ENGINE]
                copy.attributes.pop(EVICT_FIRST, None)
                held.append(copy.results[0])
                continue
            (points[number] if points else build).create(
                ProducerCopyOp,
                pipeline=self.pipeline,
                token=token,
                **_source(load, values, mask),
                number=number,
                engine=plan.engine,
                tile=load.results[0].type,
                vector=load.vector,
                evict_first=EVICT_FIRST in load.attributes,
                location=load.location,
            )
        return held

    def _store(self, build: Builder, token: Value, held: Sequence[Value]) -> Sequence[Value]:
        """Store tiles from registers into the stage of an iteration."""
        for number, tile in zip(self._held, held, strict=True):
            build.create(
                ProducerWriteOp, pipeline=self.pipeline, token=token, number=number, values=[tile]
            )
        return []

    def read(self, build: Builder, token: Value) -> None:
        """Read the stage instead of the loads."""
        self._replaced = read_stage(build, self.pipeline, token, self.loads, self._plans)

    def erase_loads(self) -> None:
        """Erase the loads that reads of the stage replace, with what computed their addresses."""
        for op in self._replaced:
            op.erase()
        for each in self._loads:
            erase_unused(each.address_ops)


def _source(load: TileLoad, values: Mapping[Value, Value], exists: Value | None) -> dict[str, Any]:
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


def _zeros(build: Builder, values: Iterable[Value]) -> Sequence[Value]:
    """Zeros of the types of some values."""
    types = [value.type for value in values]
    return [build.create(ConstantOp, value=literal([0], t), types=[t]).result for t in types]
