"""Construction of the software pipelines that `schedule-loops` chose.

A scheduled loop copies the tiles of its first iterations in a prologue. An iteration waits for its
stage, reads it, starts the copies of a later iteration and releases the stage. Copies of iterations
that do not exist are skipped, so that nothing but dots is in flight after the loop, for which it
waits. The branch around the copies also keeps their addresses from being computed between the
instructions of a dot before them: docs/decisions/0015. A loop with dots in flight is inside of an
`scf.if`, whose other branch is taken without iterations: if the wait came after both branches,
ptxas would see `mov` write accumulators of wgmma while they are in flight, and serialize them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.integer import AddIOp, AndIOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, IN_FLIGHT, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import CopyEngine, ScheduleAttr, laid_out, layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
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
)
from tilewright.dialects.nv_tileas.shape import PermuteOp
from tilewright.dialects.nv_tileas.types import IteratorType, PipelineType
from tilewright.dialects.scf import ForOp, IfOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint, create_op
from tilewright.ir.operation import Block, Region
from tilewright.ir.passes import Pass
from tilewright.support.diagnostics import fail
from tilewright.transforms.nv_tileaa.prefetchable_loads import (
    add_iter_args,
    clone_address_ops,
    find_prefetchable_loads,
    iteration_exists,
)
from tilewright.transforms.nv_tileas.pipelined_loads import plan_stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileas.shape import Rearrangement
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.support.diagnostics import Sink
    from tilewright.transforms.nv_tileaa.prefetchable_loads import PrefetchableLoad
    from tilewright.transforms.nv_tileas.pipelined_loads import StagePlan


class MaterializeSchedule(Pass):
    """Build the software pipelines of scheduled loops."""

    name = "materialize-schedule"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            for loop in [each for each in function.walk_post_order() if isinstance(each, ForOp)]:
                schedule = loop.attributes.pop(SCHEDULE, None)
                if isinstance(schedule, ScheduleAttr):
                    _SoftwarePipeline(loop, schedule).build()


class _Iteration(NamedTuple):
    """An iteration that may lie past the end of the loop."""

    induction: Value
    """The value of the induction variable."""
    exists: Value
    """Whether the loop executes it."""


# Sound because an unordered load returns the same value at any earlier time, and is only executed
# if its iteration is.
class _SoftwarePipeline:
    """Rewrites a loop to copy its tiles several iterations early."""

    __slots__ = ("_build", "_loads", "_loop", "_pipeline", "_plans", "_schedule")

    def __init__(self, loop: ForOp, schedule: ScheduleAttr) -> None:
        self._loop = loop
        self._schedule = schedule
        self._loads = [each for each in find_prefetchable_loads(loop) if _is_chosen(each)]
        if not self._loads:
            fail("expected loads that can be copied early in a scheduled loop", loop.location)
        self._plans: list[StagePlan] = [plan_stage(_tiled(each)) for each in self._loads]
        private = all(plan.is_private for plan in self._plans)
        if not private and schedule.stages < schedule.distance + schedule.lag + 1:
            wanted = schedule.distance + schedule.lag + 1
            fail(f"expected at least {wanted} stages, got {schedule.stages}", loop.location)
        self._build = Builder(InsertPoint.before(loop), loop.location)

    def build(self) -> None:
        """Build the prologue, the loop, and the wait for what is in flight after it."""
        loop = self._loop
        dots = _dots_in_flight(loop)
        if dots:
            self._guard()
        build = self._build
        types = tuple(
            laid_out(element_of(each.load.results[0].type), plan.placement)
            for each, plan in zip(self._loads, self._plans, strict=True)
        )
        stages = self._schedule.stages
        private = all(plan.is_private for plan in self._plans)
        pipeline = build.create(
            CreatePipelineOp, private=private, types=[PipelineType(stages, types)]
        )
        self._pipeline = pipeline.result
        kind = IteratorType(stages)
        first = build.create(CreateIteratorOp, pipeline=self._pipeline, types=[kind]).result
        later = self._prologue(first)
        body, last = loop.body.block, loop.body.block.last
        assert last is not None
        consumer = body.add_argument(kind, loop.location)
        producer = body.add_argument(kind, loop.location)
        inside = Builder(InsertPoint.at_start(body), loop.location)
        wait = inside.create(
            ConsumerWaitOp,
            pipeline=self._pipeline,
            iterator=consumer,
            pending=self._schedule.distance - 1,
        )
        replaced = self._read(inside, wait.token)
        following = self._later(inside, producer)
        for op in replaced:
            op.erase()
        results = [_position(last.operands, dot.result) for dot in dots]
        for dot, position in zip(dots, results, strict=True):
            self._overlap(dot, last, position, len(dots))
        end = Builder(InsertPoint.before(last), loop.location)
        end.create(
            ConsumerReleaseOp, pipeline=self._pipeline, token=wait.token, lag=self._schedule.lag
        )
        advanced = end.create(IncIterOp, iterator=consumer).result
        last.set_operands([*last.operands, advanced, following])
        loop = self._carry([first, later])
        for position in results:
            _wait_after(loop, position)

    def _guard(self) -> None:
        """Move the loop into the branch of an `scf.if` that is taken if it has an iteration."""
        loop, build = self._loop, self._build
        exists = iteration_exists(build, loop, loop.lower_bound)
        then, other = Block(), Block()
        types = [result.type for result in loop.results]
        guard = IfOp([exists], types, {}, [Region([then]), Region([other])], loop.location)
        build.insert(guard)
        for old, new in zip(loop.results, guard.results, strict=True):
            old.replace_all_uses_with(new)
        then.append(loop.detach())
        at_end = Builder(InsertPoint.at_end(then), loop.location)
        at_end.create(YieldOp, values=loop.results)
        Builder(InsertPoint.at_end(other), loop.location).create(YieldOp, values=loop.init_args)
        self._build = Builder(InsertPoint.before(loop), loop.location)

    def _prologue(self, iterator: Value) -> Value:
        """Copy the tiles of the first iterations; returns the iterator after them."""
        build, loop = self._build, self._loop
        first = iteration_exists(build, loop, loop.lower_bound)
        iteration = _Iteration(loop.lower_bound, first)
        for number in range(self._schedule.distance):
            if number:
                iteration = self._following(build, iteration)
            self._copy(build, iteration, iterator)
            iterator = build.create(IncIterOp, iterator=iterator).result
        return iterator

    def _following(self, build: Builder, iteration: _Iteration) -> _Iteration:
        """The iteration after one; exists only if that one does, since the index may wrap."""
        index = build.create(AddIOp, lhs=iteration.induction, rhs=self._loop.step).result
        in_range = iteration_exists(build, self._loop, index)
        exists = build.create(AndIOp, lhs=iteration.exists, rhs=in_range).result
        return _Iteration(index, exists)

    def _later(self, build: Builder, iterator: Value) -> Value:
        """In the loop: copy the tiles of a later iteration; returns the next iterator.

        After the first dot that is in flight, so that the copies do not delay it; else after the
        reads, since private stages are copied to again at once.
        """
        loop = self._loop
        index = build.create(AddIOp, lhs=loop.induction_variable, rhs=loop.step).result
        iteration = _Iteration(index, iteration_exists(build, loop, index))
        for _ in range(1, self._schedule.distance):
            iteration = self._following(build, iteration)
        dots = _dots_in_flight(loop)
        if dots:
            build = Builder(InsertPoint.after(dots[0]), loop.location)
        self._copy(build, iteration, iterator)
        return build.create(IncIterOp, iterator=iterator).result

    def _copy(self, build: Builder, iteration: _Iteration, iterator: Value) -> None:
        """Start to copy the tiles of an iteration, if it exists, into a stage, and commit it."""
        acquire = build.create(ProducerAcquireOp, pipeline=self._pipeline, iterator=iterator)
        then = Block()
        inside = Builder(InsertPoint.at_end(then), self._loop.location)
        values = clone_address_ops(inside, self._loop, self._loads, iteration.induction)
        for number, (each, plan) in enumerate(zip(self._loads, self._plans, strict=True)):
            load = _tiled(each)
            inside.create(
                ProducerCopyOp,
                pipeline=self._pipeline,
                token=acquire.token,
                source=values.get(load.view, load.view),
                indices=[values.get(index, index) for index in load.indices],
                number=number,
                engine=CopyEngine.CP_ASYNC,
                tile=load.tile.type,
                vector=plan.vector,
                in_bounds=load.in_bounds,
                location=load.location,
            )
        inside.create(YieldOp, values=[])
        regions = [Region([then]), Region()]
        build.insert(IfOp([iteration.exists], [], {}, regions, self._loop.location))
        build.create(ProducerCommitOp, pipeline=self._pipeline, token=acquire.token)

    def _read(self, build: Builder, token: Value) -> list[Operation]:
        """Read the stage instead of the loads, in the layouts in which they are used.

        Returns the operations that are without a use now, users first.
        """
        replaced: list[Operation] = []
        for number, (each, plan) in enumerate(zip(self._loads, self._plans, strict=True)):
            load = _tiled(each)
            for use in plan.uses:
                type = laid_out(element_of(load.tile.type), use.layout)
                tile = self._read_one(build, token, number, type, load)
                for op in use.shape_ops:
                    layout = _led_on(op, layout_of(tile))
                    made = op.like([tile], [laid_out(element_of(tile.type), layout)])
                    build.insert(made)
                    tile = made.results[0]
                use.convert.result.replace_all_uses_with(tile)
                replaced.append(use.convert)
                for op in reversed(use.shape_ops):
                    if op not in replaced and all(user in replaced for user in op.result.users):
                        replaced.append(op)
            others = [user for user in load.tile.users if user not in replaced]
            if others:
                tile = self._read_one(build, token, number, load.tile.type, load)
                for user in others:
                    user.replace_operand(load.tile, tile)
            replaced.append(load)
        return replaced

    def _read_one(
        self, build: Builder, token: Value, number: int, type: Type, load: TiledLoadOp
    ) -> Value:
        read = build.create(
            ConsumerReadOp,
            pipeline=self._pipeline,
            token=token,
            number=number,
            types=[type],
            location=load.location,
        )
        return read.values[0]

    def _overlap(self, dot: DotOp, last: Operation, position: int, count: int) -> None:
        """Let a dot run on: at the end of the iteration, wait for those of the last one."""
        del dot.attributes[IN_FLIGHT]
        dot.asynchronous = True
        build = Builder(InsertPoint.before(last), dot.location)
        waited = build.create(DotWaitOp, accumulator=dot.result, pending=count)
        last.set_operand(position, waited.result)

    def _carry(self, iterators: Sequence[Value]) -> ForOp:
        """Add the iterators to the values that the loop carries."""
        before = self._loop.prev
        block = self._loop.parent
        assert block is not None
        add_iter_args(self._loop, iterators)
        loop = block.first if before is None else before.next
        assert isinstance(loop, ForOp)
        return loop


def _dots_in_flight(loop: ForOp) -> list[DotOp]:
    return [op for op in loop.body.block if isinstance(op, DotOp) and IN_FLIGHT in op.attributes]


def _is_chosen(each: PrefetchableLoad) -> bool:
    return isinstance(each.load, TiledLoadOp) and ENGINE in each.load.attributes


def _tiled(each: PrefetchableLoad) -> TiledLoadOp:
    assert isinstance(each.load, TiledLoadOp)
    return each.load


def _position(values: Sequence[Value], value: Value) -> int:
    return next(number for number, each in enumerate(values) if each is value)


def _led_on(op: Rearrangement, layout: Layout) -> Layout:
    """The layout of the result of a shape operation on a source in a layout."""
    if isinstance(op, PermuteOp):
        return layout.permute(op.order)
    return layout.reshape(shape(op.result.type))


def _wait_after(loop: ForOp, position: int) -> None:
    """Wait for the dots of the last iterations, after the loop."""
    result = loop.results[position]
    users = list(result.users)
    wait = create_op(DotWaitOp, accumulator=result, location=loop.location)
    wait.insert_after(loop)
    for user in users:
        user.replace_operand(result, wait.result)
