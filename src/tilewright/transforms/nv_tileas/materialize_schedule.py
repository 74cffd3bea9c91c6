"""Construction of the software pipelines that `schedule-loops` chose.

An iteration waits for its stage, reads it, starts the copies of a later iteration and releases the
stage. The pass writes this body, and that the copies are executed as many iterations early as the
distance; the expander of pipelined loops copies the tiles of the first iterations in a prologue.
Copies of iterations that do not exist are skipped, so that nothing but dots is in flight after the
loop, for which it waits. Loops of which one goes on where the other ends share a pipeline: the
first copies the tiles of the first iterations of the second.

Some of the tiles of a loop may have one stage, and be used after the others. An iteration then
waits for the early tiles, which shows that all threads have finished the iteration before, and
starts to copy its own late ones. Where those are used first it waits for them, which shows that all
threads have used the early ones, and copies those of a later iteration to their stage.

The branch around the copies also keeps their addresses from being computed between the instructions
of a dot before them: docs/decisions/0015. Between dots by `mma.sync` that depend on each other they
had better be: see `masked_copies.py`. A loop with dots in flight is inside of an `scf.if`,
whose other branch is taken without iterations: if the wait came after both branches, ptxas would
see `mov` write accumulators of wgmma while they are in flight, and serialize them all
(`wait-after-join` of docs/ptxas-defects.md).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa.attribute_names import AT
from tilewright.dialects.nv_tileaa.attributes import AtAttr
from tilewright.dialects.nv_tileaa.loop_schedule import LoopSchedule
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
    ProducerAcquireOp,
)
from tilewright.dialects.scf import ForOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.passes import Pass
from tilewright.support.diagnostics import fail
from tilewright.transforms.nv_tileaa.prefetchable_loads import (
    add_iter_args,
    find_prefetchable_loads,
)
from tilewright.transforms.nv_tileas.consecutive_loops import loop_before
from tilewright.transforms.nv_tileas.masked_copies import MaskedCopies, dot_chain, masked_copies
from tilewright.transforms.nv_tileas.stage_copies import StageCopies
from tilewright.transforms.nv_tileas.stage_reads import read_late
from tilewright.transforms.nv_tileas.staggered_loads import first_use
from tilewright.transforms.pipeline.expansion import expand_early
from tilewright.transforms.pipeline.iterations import guard_loop, iteration_exists

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


class MaterializeSchedule(Pass):
    """Build the software pipelines of scheduled loops."""

    name = "materialize-schedule"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            for group in _groups(function):
                _build(group)


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
    late: StageCopies | None
    """Tiles that are copied in their own iteration, to a pipeline of their own with one stage."""

    @staticmethod
    def of(loop: ForOp, schedule: ScheduleAttr) -> _ScheduledLoop:
        """A loop with the loads that are marked."""
        loads = find_prefetchable_loads(loop)
        loads = [each for each in loads if ENGINE in each.load.attributes]
        late = [each for each in loads if each.load.attributes.pop(LATE, None)]
        early = [each for each in loads if each not in late]
        if not early:
            fail("expected loads that can be copied early in a scheduled loop", loop.location)
        copies = StageCopies(loop, early)
        wanted = 1 if late else schedule.distance + schedule.lag + 1
        if not copies.is_private and schedule.stages < wanted:
            fail(f"expected at least {wanted} stages, got {schedule.stages}", loop.location)
        return _ScheduledLoop(loop, schedule, copies, StageCopies(loop, late) if late else None)

    @property
    def dots(self) -> list[DotOp]:
        """The dots in flight beside copies: none beside late ones."""
        dots = [op for op in self.loop.body.block if isinstance(op, DotOp)]
        return [] if self.late else [dot for dot in dots if IN_FLIGHT in dot.attributes]


# Sound because an unordered load returns the same value at any earlier time, and is only executed
# if its iteration is.
def _build(group: Sequence[_ScheduledLoop]) -> None:
    """Rewrite loops, of which each goes on where the one before ends, to copy tiles early.

    Nothing is in flight after them.
    """
    first, is_alone = group[0], len(group) == 1
    for other in group[1:]:
        ours, theirs = other.copies, first.copies
        if (ours.stage, ours.is_private) != (theirs.stage, theirs.is_private):
            fail("expected the stages of the loop before", other.loop.location)
        # Copies for iterations of the last loop begin in the first one.
        _define_before(other.loop, first.loop)
    is_plain = is_alone and first.late is None
    masked = masked_copies(first.loop, first.copies, first.schedule.distance) if is_plain else None
    in_flight = [each.schedule.lag and each.dots for each in group]
    if is_alone and in_flight[0]:
        _guard(first.loop)
    build = Builder(InsertPoint.before(first.loop), first.loop.location)
    start = first.copies.create(build, first.schedule.stages)
    loops: list[ForOp] = []
    for each in group:
        each.copies.pipeline = first.copies.pipeline
        consumer = loops[-1].results[-2] if loops else start
        loops.append(_rewrite(each, consumer, start, masked))
    made = expand_early([LoopSchedule(loop) for loop in loops])
    for loop, dots in zip(made, in_flight, strict=True):
        if dots and not is_alone:
            _guard(loop)
    if first.late is not None:
        _copy_to_used_stage(made[0], first.copies.pipeline)


def _rewrite(
    scheduled: _ScheduledLoop, consumer: Value, producer: Value, masked: MaskedCopies | None
) -> ForOp:
    """Let a loop read the stages of an iterator, and copy early to those of another one."""
    loop, schedule, copies, late = scheduled
    body, dots = _Body(loop), scheduled.dots
    distance = schedule.distance if late is None else schedule.stages
    # With one stage the iterator does not change, and shows `synchronize` that it is the first one
    # again.
    if schedule.stages > 1 or late is None:
        consumer, producer = body.carry(consumer), body.carry(producer)
    pending = distance - 1 if masked is None else masked.pending
    waits = [body.read(copies, body.begin, consumer, pending)]
    # Copies would delay the first dot, if it is in flight or if others follow it. Private stages
    # are copied to as soon as they are read.
    first = (dots or ([] if copies.is_private else dot_chain(loop)))[:1]
    build = Builder(InsertPoint.after(first[0]), loop.location) if first else body.begin
    if late is not None:
        only = late.create(Builder(InsertPoint.before(loop), loop.location), 1)
        body.copy(late, body.begin, only, 0)
        build = Builder(InsertPoint.before(first_use(loop, late.loads)), loop.location)
        # The early tiles in flight were copied before.
        waits.append(body.read(late, build, only, 0))
    body.copy(copies, build, producer, distance, masked)
    copies.erase_loads()
    if late is not None:
        late.erase_loads()
    elif not copies.is_private:
        read_late(waits[0])
    if masked is not None:
        masked.wait_late(waits[0])
    results = _keep_in_flight(body.last, dots, schedule.lag)
    for wait in waits:
        body.end.create(
            ConsumerReleaseOp, pipeline=wait.pipeline, token=wait.token, lag=schedule.lag
        )
    loop = body.finish()
    for position in results if schedule.lag else ():
        _wait_after(loop, position)
    if masked is not None:
        masked.wait_after(loop)
    return loop


def _copy_to_used_stage(loop: ForOp, pipeline: Value) -> None:
    """Let the copies of a later iteration take the stage that an iteration has used."""
    ops = [op for op in loop.body.block if op in pipeline.users]
    (acquire,) = (op for op in ops if isinstance(op, ProducerAcquireOp))
    (wait,) = (op for op in ops if isinstance(op, ConsumerWaitOp))
    acquire.replace_operand(acquire.iterator, wait.iterator)


class _Body:
    """The body of a loop that reads stages, and copies to them for a later iteration."""

    __slots__ = (
        "_advanced",
        "_delayed",
        "_loop",
        "_point",
        "_stages",
        "_starts",
        "begin",
        "end",
        "last",
    )

    def __init__(self, loop: ForOp) -> None:
        last = loop.body.block.last
        assert last is not None
        self._loop, self.last = loop, last
        self.begin = self._point = Builder(InsertPoint.at_start(loop.body.block), loop.location)
        self.end = Builder(InsertPoint.before(last), loop.location)
        self._starts: dict[Value, Value] = {}
        self._advanced: dict[Value, Value] = {}
        self._stages: dict[Operation, int] = {}
        self._delayed: dict[Operation, Operation] = {}
        """Operations that are executed after others which follow them."""

    def carry(self, start: Value) -> Value:
        """An iterator that the loop carries."""
        iterator = self._loop.body.block.add_argument(start.type, self._loop.location)
        self._starts[iterator] = start
        return iterator

    def read(
        self, copies: StageCopies, build: Builder, iterator: Value, pending: int
    ) -> ConsumerWaitOp:
        """Wait for a stage, and read it instead of the loads."""
        wait = build.create(
            ConsumerWaitOp, pipeline=copies.pipeline, iterator=iterator, pending=pending
        )
        self._point = build
        copies.read(build, wait.token)
        return wait

    def _exists(self, distance: int) -> Value:
        """Whether there is the iteration at a distance, after the last read."""
        with self._early(distance):
            return iteration_exists(self._point, self._loop, self._loop.induction_variable)

    @contextmanager
    def _early(self, distance: int) -> Generator[None]:
        """Execute what is inserted for the iteration at a distance."""
        before = set(self._loop.body.block)
        yield
        made = [op for op in self._loop.body.block if op not in before]
        self._stages |= dict.fromkeys(made, -distance)

    def copy(
        self,
        copies: StageCopies,
        build: Builder,
        iterator: Value,
        distance: int,
        masked: MaskedCopies | None = None,
    ) -> None:
        """Copy the tiles of the iteration at a distance, and then load the indices of the next."""
        exists = self._exists(distance) if distance else None
        loaded: Operation | None = None
        if copies.has_indices:
            following = self._exists(distance + 1)
            with self._early(distance + 1):
                loaded = copies.load_indices(build, following)
        with self._early(distance):
            if exists is None:
                copies.copy(build, iterator)
            elif masked is not None:
                masked.copy(build, iterator, exists)
            else:
                copies.copy_if(build, iterator, exists, self.end)
            if iterator in self._starts:
                self._advanced[iterator] = self._advance(iterator)
        anchor = build.point.anchor
        if loaded is not None and anchor is not None and anchor.prev is not None:
            self._delayed[loaded] = anchor.prev

    def finish(self) -> ForOp:
        """Write when each operation is executed; returns the loop, with what it carries."""
        advanced = [self._advanced.get(each) or self._advance(each) for each in self._starts]
        self.last.set_operands([*self.last.operands, *advanced])
        numbers = {op: number for number, op in enumerate(self._loop.body.block)}
        for op in numbers.keys() - {self.last}:
            order = numbers[self._delayed[op]] + 1 if op in self._delayed else numbers[op]
            op.attributes[AT] = AtAttr(self._stages.get(op, 0), order)
        return add_iter_args(self._loop, list(self._starts.values()))

    def _advance(self, iterator: Value) -> Value:
        return self.end.create(IncIterOp, iterator=iterator).result


def _keep_in_flight(last: Operation, dots: Sequence[DotOp], lag: int) -> list[int]:
    """Let dots run on while the next iteration starts, which waits for them at its end.

    Without a lag they only run beside the copies of their own, and end with it. Returns the
    positions of their results among the values that the loop carries.
    """
    results = [n for n, value in enumerate(last.operands) if value.defining_op() in dots]
    for dot in dots:
        del dot.attributes[IN_FLIGHT]
        dot.asynchronous = True
    build = Builder(InsertPoint.before(last), last.location)
    for position in results:
        pending = len(dots) if lag else 0
        waited = build.create(DotWaitOp, accumulator=last.operands[position], pending=pending)
        last.set_operand(position, waited.result)
    return results


def _guard(loop: ForOp) -> None:
    """Run a loop only if it has an iteration, and with it the waits for its dots."""
    waits: list[Operation] = []
    following = loop.next
    while isinstance(following, DotWaitOp):
        waits.append(following)
        following = following.next
    guard_loop(loop, waits)


def _define_before(loop: ForOp, first: ForOp) -> None:
    """Repeat constant bounds, whose definition may lie between two loops, before the first."""
    for number, bound in enumerate(loop.operands[:3]):
        if isinstance(op := bound.defining_op(), ConstantOp):
            copy = op.clone()
            copy.insert_before(first)
            loop.set_operand(number, copy.results[0])


def _wait_after(loop: ForOp, position: int) -> None:
    """Wait for the dots of the last iterations, after the loop."""
    result = loop.results[position]
    users = list(result.users)
    build = Builder(InsertPoint.after(loop), loop.location)
    wait = build.create(DotWaitOp, accumulator=result)
    for user in users:
        user.replace_operand(result, wait.result)
