"""Expansion of a loop whose operations have stages and orders: prologue, steady state, epilogue.

In the iteration of the pipelined loop in which stage 0 executes iteration i of the loop as written,
stage s executes iteration i - s. The prologue starts the first iterations, one stage after the
other; the epilogue completes the last ones. What crosses stages is carried by the loop. Nothing is
computed in another way than before, so that results do not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tilewright.dialects.nv_tileaa.attribute_names import AT, CONTINUES
from tilewright.dialects.nv_tileaa.attributes import EARLY
from tilewright.dialects.nv_tileaa.integer import AddIOp, SubIOp
from tilewright.dialects.nv_tileaa.loop_schedule import LoopSchedule, Slot, used_values
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.transforms.pipeline.iterations import (
    branch,
    iteration_exists,
    iterations_exist,
    last_counter,
)
from tilewright.transforms.pipeline.predicated_loads import predicate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tilewright.ir.values import Value

Versions: TypeAlias = "dict[int, dict[Value, Value]]"
"""By stage, the values in the iteration that it executes."""


def expand(schedule: LoopSchedule) -> None:
    """Replace a loop by the pipelined one, in a branch if it may have too few iterations."""
    loop, parts, count = schedule.loop, Expansion(schedule), schedule.last_stage
    build = Builder(InsertPoint.before(loop), loop.location)

    def then(inside: Builder) -> Sequence[Value]:
        counters = Counters(inside, loop.step, loop.lower_bound)
        passed = parts.prologue(inside, counters, loop.init_args)
        start = counters.after(count)
        last = last_counter(inside, loop) if count else start
        return parts.epilogue(inside, parts.steady_state(inside, start, passed), last)

    def otherwise(inside: Builder) -> Sequence[Value]:
        return loop.init_args if count == 1 else inside.insert(loop.clone()).results

    if count:
        results = branch(build, iterations_exist(build, loop, count), then, otherwise)
    else:
        results = then(build)
    replace(loop, results)


def replace(loop: ForOp, results: Sequence[Value]) -> None:
    """Replace the results of a loop, and erase it."""
    for old, new in zip(loop.results, results, strict=True):
        old.replace_all_uses_with(new)
    loop.erase()


class Counters:
    """The counters of the iterations before and after one of a loop."""

    __slots__ = ("_build", "_known", "_step")

    def __init__(self, build: Builder, step: Value, counter: Value) -> None:
        self._build, self._step, self._known = build, step, {0: counter}

    def after(self, distance: int) -> Value:
        """The counter a number of iterations later, or earlier if that is negative."""
        if distance not in self._known:
            kind, nearer = (AddIOp, distance - 1) if distance > 0 else (SubIOp, distance + 1)
            counter = self._build.create(kind, lhs=self.after(nearer), rhs=self._step)
            self._known[distance] = counter.result
        return self._known[distance]


class Expansion:
    """Builds the parts of a pipelined loop, from what one iteration passes on to the next."""

    __slots__ = ("loop", "schedule")

    def __init__(self, schedule: LoopSchedule) -> None:
        self.schedule, self.loop = schedule, schedule.loop
        for op in self.loop.body.block:
            op.attributes.pop(AT, None)

    def prologue(
        self, build: Builder, counters: Counters, initial: Sequence[Value]
    ) -> Sequence[Value]:
        """The iterations before the steady state: stages start one after the other."""
        first: dict[Value, Value] = dict(zip(self.loop.carried, initial, strict=True))
        passed: dict[Slot, Value] = {}
        start = EARLY if self.schedule.has_early else 0
        for newest in range(start, self.schedule.last_stage):
            versions = self._versions(passed, range(EARLY, newest + 1))
            versions[newest].update(first)
            distances = {stage: newest - stage for stage in versions}
            self._execute(build, versions, counters, distances)
            passed = {
                slot: self._next(versions, slot)
                for slot in self.schedule.slots
                if slot.stage <= newest or (slot.stage == newest + 1 and slot.value not in first)
            }
        return [
            passed[slot] if slot in passed else first[slot.value] for slot in self.schedule.slots
        ]

    def steady_state(
        self, build: Builder, start: Value, initial: Sequence[Value]
    ) -> Sequence[Value]:
        """The loop over the iterations in which all stages execute one."""
        loop = self.loop
        types = [start.type, *[value.type for value in initial]]
        body = Block(types, [loop.location] * len(types))
        counter, *passed = body.args
        inside = Builder(InsertPoint.at_end(body), loop.location)
        stages = range(EARLY, self.schedule.last_stage + 1)
        versions = self._versions(dict(zip(self.schedule.slots, passed, strict=True)), stages)
        counters = Counters(inside, loop.step, counter)
        self._execute(inside, versions, counters, {stage: -stage for stage in stages})
        values = [self._next(versions, slot) for slot in self.schedule.slots]
        inside.create(YieldOp, values=values)
        operands = [start, loop.upper_bound, loop.step, *initial]
        attributes = {name: each for name, each in loop.attributes.items() if name != CONTINUES}
        made = ForOp(operands, types[1:], attributes, [Region([body])], loop.location)
        return build.insert(made).results

    def epilogue(self, build: Builder, values: Sequence[Value], last: Value) -> Sequence[Value]:
        """The iterations after the steady state: stages end; returns the results of the loop."""
        schedule = self.schedule
        passed = dict(zip(schedule.slots, values, strict=True))
        results = {slot.value: value for slot, value in passed.items() if slot.stage == 0}
        counters = Counters(build, self.loop.step, last)
        for oldest in range(1, schedule.last_stage + 1):
            versions = self._versions(passed, range(oldest, schedule.last_stage + 1))
            distances = {stage: oldest - stage for stage in versions}
            self._execute(build, versions, counters, distances)
            for carried in self.loop.carried:
                if schedule.home(carried) == oldest:
                    results[carried] = self._next(versions, Slot(carried, oldest))
            passed = {
                slot: self._next(versions, slot) for slot in schedule.slots if slot.stage > oldest
            }
        return [results[carried] for carried in self.loop.carried]

    def _versions(self, passed: Mapping[Slot, Value], stages: Iterable[int]) -> Versions:
        """The values that stages know from the iteration before."""
        versions: Versions = {stage: {} for stage in stages}
        for slot, value in passed.items():
            if slot.stage in versions:
                versions[slot.stage][slot.value] = value
        return versions

    def _execute(
        self,
        build: Builder,
        versions: Versions,
        counters: Counters,
        distances: Mapping[int, int],
    ) -> None:
        """Execute an iteration of some stages, each at a distance from the counters."""
        counter, carried = self.loop.induction_variable, set(self.loop.carried)
        exists = counter
        for op, stage, _ in self.schedule.instances:
            if stage not in versions:
                continue
            values = versions[stage]
            if counter not in values:
                values[counter] = counters.after(distances[stage])
                if stage == EARLY:
                    exists = iteration_exists(build, self.loop, values[counter])
            for value in carried.intersection(used_values(op)):
                values[value] = self._value(versions, Slot(value, stage))
            if stage == EARLY and isinstance(op, AssumeOp):
                # It need not hold in an iteration that does not exist.
                values[op.result] = values.get(op.value, op.value)
                continue
            copy = op.clone(values)
            if stage == EARLY and isinstance(copy, LoadOp | TileLoadOp):
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
