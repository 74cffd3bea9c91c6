"""Construction of the software pipelines that `schedule-loops` chose.

A scheduled loop copies the tiles of its first iterations in a prologue. An iteration waits for its
stage, reads it, starts the copies of a later iteration and releases the stage. Copies of iterations
that do not exist are skipped, so that nothing but dots is in flight after the loop, for which it
waits. Loops of which one goes on where the other ends share a pipeline: the first copies the tiles
of the first iterations of the second.

The branch around the copies also keeps their addresses from being computed between the instructions
of a dot before them: docs/decisions/0015. Between dots by `mma.sync` that depend on each other they
had better be: see `masked_copies.py`. A loop with dots in flight is inside of an `scf.if`,
whose other branch is taken without iterations: if the wait came after both branches, ptxas would
see `mov` write accumulators of wgmma while they are in flight, and serialize them all
(`wait-after-join` of docs/ptxas-defects.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.attribute_names import (
    CONTINUES,
    ENGINE,
    IN_FLIGHT,
    LATE,
    SCHEDULE,
)
from tilewright.dialects.nv_tileas.attributes import ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    IncIterOp,
)
from tilewright.dialects.scf import ForOp, IfOp
from tilewright.ir.builder import Builder, InsertPoint, create_op
from tilewright.ir.passes import Pass
from tilewright.support.diagnostics import fail
from tilewright.transforms.nv_tileaa.prefetchable_loads import (
    add_iter_args,
    find_prefetchable_loads,
)
from tilewright.transforms.nv_tileas.consecutive_loops import loop_before
from tilewright.transforms.nv_tileas.copied_iterations import CopiedIterations
from tilewright.transforms.nv_tileas.guarded_loops import guard_loop
from tilewright.transforms.nv_tileas.masked_copies import MaskedCopies, dot_chain
from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad
from tilewright.transforms.nv_tileas.stage_copies import StageCopies
from tilewright.transforms.nv_tileas.stage_reads import read_late
from tilewright.transforms.nv_tileas.staggered_loads import first_use

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink
    from tilewright.transforms.nv_tileaa.prefetchable_loads import PrefetchableLoad


class MaterializeSchedule(Pass):
    """Build the software pipelines of scheduled loops."""

    name = "materialize-schedule"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            for group in _groups(function):
                if group[0].late:
                    _StaggeredPipeline(group[0]).build()
                else:
                    _SoftwarePipeline(group).build()


def _groups(function: FuncOp) -> list[list[_ScheduledLoop]]:
    """The scheduled loops, inner ones first; those that share a pipeline together."""
    groups: dict[Operation, list[_ScheduledLoop]] = {}
    for loop in [each for each in function.walk_post_order() if isinstance(each, ForOp)]:
        schedule = loop.attributes.pop(SCHEDULE, None)
        if not isinstance(schedule, ScheduleAttr):
            continue
        before = loop_before(loop) if loop.attributes.pop(CONTINUES, None) else None
        group = groups.pop(before, []) if before is not None else []
        groups[loop] = [*group, _ScheduledLoop.of(loop, schedule)]
    return list(groups.values())


class _ScheduledLoop(NamedTuple):
    """A loop, its schedule, and the loads that its pipeline copies."""

    loop: ForOp
    schedule: ScheduleAttr
    copies: StageCopies
    late: Sequence[PrefetchableLoad]
    """Loads that are copied in their own iteration, to a pipeline of their own."""

    @staticmethod
    def of(loop: ForOp, schedule: ScheduleAttr) -> _ScheduledLoop:
        """A loop with the loads that are marked."""
        loads = [each for each in find_prefetchable_loads(loop) if _is_chosen(each)]
        late = [each for each in loads if each.load.attributes.pop(LATE, None)]
        early = [each for each in loads if each not in late]
        if not early:
            fail("expected loads that can be copied early in a scheduled loop", loop.location)
        copies = StageCopies(loop, early)
        wanted = 1 if late else schedule.distance + schedule.lag + 1
        if not copies.is_private and schedule.stages < wanted:
            fail(f"expected at least {wanted} stages, got {schedule.stages}", loop.location)
        return _ScheduledLoop(loop, schedule, copies, late)


# Sound because an unordered load returns the same value at any earlier time, and is only executed
# if its iteration is.
class _SoftwarePipeline:
    """Rewrites loops, of which each goes on where the one before ends, to copy tiles early."""

    __slots__ = ("_group", "_iterations", "_masked")

    def __init__(self, group: Sequence[_ScheduledLoop]) -> None:
        self._group = group
        first, last = group[0], group[-1]
        self._iterations = CopiedIterations(
            first.copies, first.loop, last.loop, first.schedule.distance
        )
        distance, is_alone = first.schedule.distance, len(group) == 1
        self._masked = MaskedCopies.of(first.loop, first.copies, distance) if is_alone else None
        for other in group[1:]:
            ours, theirs = other.copies, first.copies
            if (ours.stage, ours.is_private) != (theirs.stage, theirs.is_private):
                fail("expected the stages of the loop before", other.loop.location)
            # Copies for iterations of the last loop begin in the first one.
            _define_before(other.loop.upper_bound, first.loop)

    def build(self) -> None:
        """Build the prologue, the loops, and the waits for what is in flight after them."""
        first = self._group[0]
        is_alone = len(self._group) == 1
        if is_alone and first.schedule.lag and _dots_in_flight(first.loop):
            _guard(first.loop)
        build = Builder(InsertPoint.before(first.loop), first.loop.location)
        start = first.copies.create(build, first.schedule.stages)
        iterator = start
        for iteration in self._iterations.first(build):
            if self._masked is not None:
                self._masked.first(build, iteration, iterator)
            else:
                first.copies.copy(build, iteration, iterator)
            iterator = build.create(IncIterOp, iterator=iterator).result
        self._iterations.prepare(build)
        iterators: Sequence[Value] = [start, iterator]
        for each in self._group:
            each.copies.use(first.copies.pipeline)
            iterators = self._rewrite(each, iterators, guarded=not is_alone)

    def _rewrite(
        self, scheduled: _ScheduledLoop, iterators: Sequence[Value], *, guarded: bool
    ) -> Sequence[Value]:
        """Rewrite a loop that starts with these iterators; returns those after it."""
        loop, schedule, copies = scheduled.loop, scheduled.schedule, scheduled.copies
        body, last = loop.body.block, loop.body.block.last
        assert last is not None
        dots, masked = _dots_in_flight(loop), self._masked
        kind = iterators[0].type
        self._iterations.carry(body)
        consumer = body.add_argument(kind, loop.location)
        producer = body.add_argument(kind, loop.location)
        inside = Builder(InsertPoint.at_start(body), loop.location)
        wait = inside.create(
            ConsumerWaitOp,
            pipeline=copies.pipeline,
            iterator=consumer,
            pending=schedule.distance - 1 if masked is None else masked.pending,
        )
        replaced = copies.read(inside, wait.token)
        indices, following = self._later(inside, scheduled, producer)
        _erase(replaced, copies)
        if not copies.is_private:
            read_late(wait)
        if masked is not None:
            masked.wait_late(wait)
        results = [n for n, value in enumerate(last.operands) if value.defining_op() in dots]
        for dot in dots:
            del dot.attributes[IN_FLIGHT]
            dot.asynchronous = True
        for position in results:
            # Without a lag, the dots of an iteration run beside its copies, and end with it.
            _wait_for_others(last, position, len(dots) if schedule.lag else 0)
        end = Builder(InsertPoint.before(last), loop.location)
        end.create(ConsumerReleaseOp, pipeline=copies.pipeline, token=wait.token, lag=schedule.lag)
        advanced = end.create(IncIterOp, iterator=consumer).result
        last.set_operands([*last.operands, *indices, advanced, following])
        loop = add_iter_args(loop, [*self._iterations.initial, *iterators])
        for position in results if schedule.lag else ():
            _wait_after(loop, position)
        if masked is not None:
            masked.wait_after(loop)
        after = _guard(loop) if guarded and dots and schedule.lag else loop
        return after.results[-2:]

    def _later(
        self, build: Builder, scheduled: _ScheduledLoop, iterator: Value
    ) -> tuple[Sequence[Value], Value]:
        """In the loop: copy the tiles of a later iteration, and load the indices of the next one.

        Returns the indices and the next iterator. The copies come after the first dot, which they
        would delay, if it is in flight or if others follow it; else after the reads, since private
        stages are copied to again at once.
        """
        loop = scheduled.loop
        last = loop.body.block.last
        assert last is not None
        iteration = self._iterations.after(build, loop.induction_variable)
        following = self._iterations.following(build, loop.induction_variable)
        dots = _dots_in_flight(loop) or ([] if scheduled.copies.is_private else dot_chain(loop))
        if dots:
            build = Builder(InsertPoint.after(dots[0]), loop.location)
        end = Builder(InsertPoint.before(last), loop.location)
        if self._masked is not None:
            self._masked.later(build, iteration, iterator)
        else:
            scheduled.copies.copy(build, iteration, iterator, end)
        indices = self._iterations.load_indices(build, following)
        return indices, end.create(IncIterOp, iterator=iterator).result


class _StaggeredPipeline:
    """Rewrites a loop some of whose tiles, with one stage, are used after the others.

    An iteration waits for the early tiles, which shows that all threads have finished the iteration
    before, and starts to copy its own late tiles. Where those are used first it waits for them,
    which shows that all threads have used the early ones, and copies those of a later iteration to
    their stage.
    """

    __slots__ = ("_early", "_late", "_loop", "_stages", "_use")

    def __init__(self, scheduled: _ScheduledLoop) -> None:
        self._loop, self._early = scheduled.loop, scheduled.copies
        self._stages = scheduled.schedule.stages
        self._late = StageCopies(self._loop, scheduled.late)
        loads = [each.load for each in scheduled.late]
        self._use = first_use(self._loop, [load for load in loads if isinstance(load, TileLoad)])

    def build(self) -> None:
        """Build the prologue and the loop; nothing is in flight after it."""
        loop, early, late = self._loop, self._early, self._late
        build = Builder(InsertPoint.before(loop), loop.location)
        start, only = early.create(build, self._stages), late.create(build, 1)
        later = CopiedIterations(early, loop, loop, self._stages)
        own = CopiedIterations(late, loop, loop, 0)
        iterator = start
        for iteration in later.first(build):
            early.copy(build, iteration, iterator)
            iterator = build.create(IncIterOp, iterator=iterator).result
        own.first(build)
        body, last = loop.body.block, loop.body.block.last
        assert last is not None
        for each in (later, own):
            each.prepare(build)
            each.carry(body)
        # The copies of a later iteration take the stage that this one has used. With one stage the
        # iterator does not change, and shows `synchronize` that it is the first one again.
        is_only = self._stages == 1
        stage = start if is_only else body.add_argument(start.type, loop.location)
        begin = Builder(InsertPoint.at_start(body), loop.location)
        middle = Builder(InsertPoint.before(self._use), loop.location)
        end = Builder(InsertPoint.before(last), loop.location)
        counter = loop.induction_variable
        replaced = self._wait(begin, early, stage, end, pending=self._stages - 1)
        late.copy(begin, own.after(begin, counter), only)
        own_indices = own.load_indices(begin, own.following(begin, counter))
        # The early tiles in flight were copied before.
        replaced += self._wait(middle, late, only, end, pending=0)
        early.copy(middle, later.after(middle, counter), stage)
        later_indices = later.load_indices(middle, later.following(middle, counter))
        _erase(replaced, early, late)
        advanced = [] if is_only else [end.create(IncIterOp, iterator=stage).result]
        initial = [*later.initial, *own.initial, *([] if is_only else [start])]
        if initial:
            last.set_operands([*last.operands, *later_indices, *own_indices, *advanced])
            add_iter_args(loop, initial)

    def _wait(
        self, build: Builder, copies: StageCopies, iterator: Value, end: Builder, *, pending: int
    ) -> list[Operation]:
        """Wait for tiles and read them; release them at the end. Returns what they replace."""
        wait = build.create(
            ConsumerWaitOp, pipeline=copies.pipeline, iterator=iterator, pending=pending
        )
        replaced = copies.read(build, wait.token)
        end.create(ConsumerReleaseOp, pipeline=copies.pipeline, token=wait.token)
        return replaced


def _erase(replaced: Sequence[Operation], *copies: StageCopies) -> None:
    """Erase loads that copies replace, with what only computed their addresses."""
    for op in replaced:
        op.erase()
    for each in copies:
        each.erase_address_ops()


def _wait_for_others(last: Operation, position: int, count: int) -> None:
    """Let the `count` dots of an iteration run on: at its end, wait for those of the last one."""
    build = Builder(InsertPoint.before(last), last.location)
    waited = build.create(DotWaitOp, accumulator=last.operands[position], pending=count)
    last.set_operand(position, waited.result)


def _guard(loop: ForOp) -> IfOp:
    """Run a loop only if it has an iteration, and with it the waits for its dots."""
    values: dict[Value, Value] = {result: result for result in loop.results}
    moved: list[Operation] = [loop]
    while isinstance(wait := moved[-1].next, DotWaitOp):
        passed = next(old for old, new in values.items() if new is wait.accumulator)
        values[passed] = wait.result
        moved.append(wait)
    return guard_loop(loop, moved, list(values.values()))


def _define_before(value: Value, loop: ForOp) -> None:
    """Move a constant bound, whose definition may lie between two loops, before the first."""
    op = value.defining_op()
    if isinstance(op, ConstantOp) and op.parent is loop.parent:
        op.detach().insert_before(loop)


def _dots_in_flight(loop: ForOp) -> list[DotOp]:
    return [op for op in loop.body.block if isinstance(op, DotOp) and IN_FLIGHT in op.attributes]


def _is_chosen(each: PrefetchableLoad) -> bool:
    return isinstance(each.load, TileLoad) and ENGINE in each.load.attributes


def _wait_after(loop: ForOp, position: int) -> None:
    """Wait for the dots of the last iterations, after the loop."""
    result = loop.results[position]
    users = list(result.users)
    wait = create_op(DotWaitOp, accumulator=result, location=loop.location)
    wait.insert_after(loop)
    for user in users:
        user.replace_operand(result, wait.result)
