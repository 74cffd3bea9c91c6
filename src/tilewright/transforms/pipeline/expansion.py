"""Expansion of a loop whose operations have stages and orders: prologue, steady state, epilogue.

In the iteration of the pipelined loop in which stage 0 executes iteration i of the loop as written,
stage s executes iteration i - s. The prologue starts the first iterations, one stage after the
other; the epilogue completes the last ones. What crosses stages is carried by the loop. Nothing is
computed in another way than before, so that results do not change.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from tilewright.dialects.nv_tileaa.attribute_names import AT, CONTINUES
from tilewright.dialects.nv_tileaa.loop_schedule import LoopSchedule, Slot, used_values
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.transforms.pipeline.iterations import (
    Counters,
    Limit,
    asks_existence,
    branch,
    last_counter,
    limits_of,
    predicate,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tilewright.ir.values import Value

Versions: TypeAlias = "dict[int, dict[Value, Value]]"
"""By stage, the values in the iteration that it executes."""
Known: TypeAlias = "defaultdict[int, dict[Value, Value]]"
"""The values in each iteration, by its number."""


def expand(schedule: LoopSchedule) -> None:
    """Replace a loop by the pipelined one, in a branch if it may have too few iterations."""
    loop, parts, count = schedule.loop, Expansion(schedule), schedule.stages[-1]
    if not count:
        expand_early([schedule])
        return
    build = Builder(InsertPoint.before(loop), loop.location)

    def then(inside: Builder) -> Sequence[Value]:
        counters = Counters(inside, loop, loop.lower_bound)
        passed = parts.prologue(inside, counters, loop.init_args)
        start, last = counters.after(count), last_counter(inside, loop)
        return parts.epilogue(inside, parts.steady_state(inside, start, passed).results, last)

    def otherwise(inside: Builder) -> Sequence[Value]:
        return loop.init_args if count == 1 else inside.insert(loop.clone()).results

    counters = Counters(build, loop, loop.lower_bound, is_first=True)
    replace(loop, branch(build, counters.exists(count - 1), then, otherwise).results)


def expand_early(schedules: Sequence[LoopSchedule]) -> list[ForOp]:
    """Replace a loop whose last stage is 0, or several that go on where the one before ends.

    The first ones execute the negative stages, which are the same in all of them, also for
    iterations of later ones. Returns the new loops.
    """
    first, last = schedules[0].loop, schedules[-1].loop
    build = Builder(InsertPoint.before(first), first.location)
    parts = [Expansion(schedule, last) for schedule in schedules]
    counters = Counters(build, last, first.lower_bound, is_first=True)
    for distance in range(-schedules[0].stages[0]):
        counters.exists(distance)
    passed = parts[0].early(parts[0].prologue(build, counters, first.init_args))
    early = [each for each in schedules[0].instances if each.stage < 0]
    asked = {-each.stage for each in early if asks_existence(each.op, first)}
    limits = limits_of(build, last, sorted(asked))
    made: list[ForOp] = []
    for part in parts:
        loop = part.loop
        build = Builder(InsertPoint.before(loop), loop.location)
        known: dict[Value, Value] = dict(zip(loop.carried, loop.init_args, strict=True))
        rest = iter(passed)
        initial = [known.get(slot.value) or next(rest) for slot in part.schedule.slots]
        made.append(part.steady_state(build, loop.lower_bound, initial, limits))
        passed = part.early(made[-1].results)
        replace(loop, part.epilogue(build, made[-1].results, loop.lower_bound))
    return made


def replace(loop: ForOp, results: Sequence[Value]) -> None:
    """Replace the results of a loop, and erase it."""
    for old, new in zip(loop.results, results, strict=True):
        old.replace_all_uses_with(new)
    loop.erase()


class Expansion:
    """Builds the parts of a pipelined loop, from what one iteration passes on to the next."""

    __slots__ = ("last", "loop", "schedule")

    def __init__(self, schedule: LoopSchedule, last: ForOp | None = None) -> None:
        self.schedule, self.loop = schedule, schedule.loop
        self.last = last or schedule.loop
        """The last of the loops whose iterations are executed early."""
        for op in self.loop.body.block:
            op.attributes.pop(AT, None)

    def prologue(
        self, build: Builder, counters: Counters, initial: Sequence[Value]
    ) -> Sequence[Value]:
        """The iterations before the steady state: stages start one after the other."""
        known: Known = defaultdict(dict)
        known[0].update(zip(self.loop.carried, initial, strict=True))
        self._run(build, known, counters, self._steps())
        count = self.schedule.stages[-1]
        return [known[count - slot.stage][slot.value] for slot in self.schedule.slots]

    def _steps(self) -> Iterator[dict[int, int]]:
        """The iterations that stages execute in each step of the prologue.

        Negative stages come first, each for all of its iterations.
        """
        first, last = self.schedule.stages[0], self.schedule.stages[-1]
        for stage in range(first, 0):
            yield from ({stage: number} for number in range(-stage))
        for newest in range(last):
            yield {stage: newest - stage for stage in range(first, newest + 1)}

    def steady_state(
        self,
        build: Builder,
        start: Value,
        initial: Sequence[Value],
        limits: Mapping[int, Limit] | None = None,
    ) -> ForOp:
        """The loop over the iterations in which all stages execute one."""
        loop = self.loop
        types = [start.type, *[value.type for value in initial]]
        body = Block(types, [loop.location] * len(types))
        counter, *passed = body.args
        inside = Builder(InsertPoint.at_end(body), loop.location)
        first, last = self.schedule.stages[0], self.schedule.stages[-1]
        stages = range(first, last + 1)
        versions: Versions = {stage: {} for stage in stages}
        for slot, value in zip(self.schedule.slots, passed, strict=True):
            versions[slot.stage][slot.value] = value
        counters = Counters(inside, self.last, counter, limits)
        self._execute(inside, versions, counters, {stage: -stage for stage in stages})
        values = [self._next(versions, slot) for slot in self.schedule.slots]
        inside.create(YieldOp, values=values)
        operands = [start, loop.upper_bound, loop.step, *initial]
        attributes = {name: each for name, each in loop.attributes.items() if name != CONTINUES}
        made = ForOp(operands, types[1:], attributes, [Region([body])], loop.location)
        return build.insert(made)

    def epilogue(self, build: Builder, values: Sequence[Value], last: Value) -> Sequence[Value]:
        """The iterations after the steady state: stages end; returns the results of the loop."""
        loop, end = self.loop, self.schedule.stages[-1]
        known: Known = defaultdict(dict)
        for slot, value in zip(self.schedule.slots, values, strict=True):
            known[1 - slot.stage][slot.value] = value
        steps = [
            {stage: oldest - stage for stage in range(oldest, end + 1)}
            for oldest in range(1, end + 1)
        ]
        self._run(build, known, Counters(build, loop, last), steps)
        # A value that no slot is for is not used after the loop.
        pairs = zip(loop.carried, loop.init_args, strict=True)
        return [known[1].get(carried, start) for carried, start in pairs]

    def _run(
        self, build: Builder, known: Known, counters: Counters, steps: Iterable[Mapping[int, int]]
    ) -> None:
        """Let stages execute an iteration each in every step, by the number of the iteration."""
        for step in steps:
            versions = {stage: known[number] for stage, number in step.items()}
            self._execute(build, versions, counters, step)
            for number in sorted(step.values()):
                for carried in self.loop.carried:
                    value = self.schedule.yielded(carried)
                    if value.parent_block is not self.loop.body.block:
                        known[number + 1].setdefault(carried, value)
                    elif value in known[number]:
                        known[number + 1].setdefault(carried, known[number][value])

    def early(self, values: Sequence[Value]) -> list[Value]:
        """Of the values that iterations pass on, those of later iterations."""
        pairs = zip(self.schedule.slots, values, strict=True)
        return [value for slot, value in pairs if slot.value not in self.loop.carried]

    def _execute(
        self,
        build: Builder,
        versions: Versions,
        counters: Counters,
        distances: Mapping[int, int],
    ) -> None:
        """Execute an iteration of some stages, each at a distance from the counters."""
        counter, carried = self.loop.induction_variable, set(self.loop.carried)
        for op, stage, _ in self.schedule.instances:
            if stage not in versions:
                continue
            values = versions[stage]
            if counter not in values:
                values[counter] = counters.after(distances[stage])
            exists = counters.exists(distances[stage]) if stage < 0 else None
            if exists is not None and asks_existence(op, self.loop):
                values[op.results[0]] = exists
                continue
            for value in carried.intersection(used_values(op)):
                values[value] = self._value(versions, Slot(value, stage))
            if exists is not None and isinstance(op, AssumeOp):
                # It need not hold in an iteration that does not exist.
                values[op.result] = values.get(op.value, op.value)
                continue
            copy = op.clone(values)
            if exists is not None and isinstance(copy, LoadOp | TileLoadOp):
                predicate(build, copy, exists)
            build.insert(copy)

    def _next(self, versions: Versions, slot: Slot) -> Value:
        """What an iteration passes on."""
        if slot.value in self.loop.carried and self.schedule.home(slot.value) == slot.stage:
            return self._value(versions, Slot(self.schedule.yielded(slot.value), slot.stage))
        return self._value(versions, Slot(slot.value, slot.stage - 1))

    def _value(self, versions: Versions, slot: Slot) -> Value:
        """A value in the iteration that a stage executes."""
        while slot.value not in versions[slot.stage]:
            nearer = self.schedule.forwarded(slot)
            if nearer is None:
                break
            slot = nearer
        if slot.value.parent_block is not self.loop.body.block:
            return slot.value
        return versions[slot.stage][slot.value]
