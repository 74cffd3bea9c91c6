"""Software pipelining: the expansion of loops whose operations have stages and orders.

No stage is chosen here. `prefetch-loads` and `rotate-dots` write the stages of operations, or the
text of a program has them. Stages in shared memory are another thing: `schedule-loops` chooses how
many there are, and `materialize-schedule` calls the same expander (`expansion`) for them.

A pipelined loop that goes on where the one before ends takes over its pipeline: the last stage of
the last iteration of the first loop is executed in the second one, and both have one prologue. That
is for the first iteration of the first loop, if that has iterations, else of the second. The loop
with a causal mask computes what the loop without it does, but for the mask: what both compute is
built once, and only values that differ are chosen by a branch.

    S = Q @ K[0]
    if the first loop has iterations: T = S, else T = S + mask
    P = softmax(T)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.analysis.loop_bounds import are_consecutive
from tilewright.analysis.slices import closure
from tilewright.dialects.arith.integer import MaxSIOp, MaxUIOp
from tilewright.dialects.nv_tileaa.attribute_names import CONTINUES
from tilewright.dialects.nv_tileaa.loop_schedule import LoopSchedule, is_pipelined, used_values
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.schedule_problems import schedule_problems
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_pure
from tilewright.ir.equivalence import equivalent
from tilewright.ir.passes import Pass
from tilewright.support.diagnostics import UserError
from tilewright.transforms.pipeline.expansion import Expansion, expand, replace
from tilewright.transforms.pipeline.iterations import (
    Counters,
    branch,
    iteration_exists,
    last_counter,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


class PipelineLoops(Pass):
    """Expand the loops whose operations have stages and orders.

    Stages start one after the other in a prologue, and end in an epilogue. A loop that continues
    the one before it takes over its pipeline.
    """

    name = "pipeline-loops"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        # The operations of a loop are copied, and with them the loops inside of it.
        while loops := [loop for loop in op.walk() if isinstance(loop, ForOp)]:
            pipelined = next(filter(is_pipelined, loops), None)
            if pipelined is None:
                return
            pipeline(pipelined)


def pipeline(loop: ForOp) -> None:
    """Expand a loop by the stages and orders of its operations, and one that continues it."""
    schedule = _schedule(loop)
    if CONTINUES in loop.attributes:
        expected = "a pipelined loop before it, which continues no other"
        raise UserError([loop.error(f"expected {expected}, since it has '{CONTINUES}'")])
    following = next_loop(loop)
    if following is None or CONTINUES not in following.attributes:
        expand(schedule)
        return
    second = _schedule(following)
    if (problem := chain_problem(schedule, second)) is not None:
        raise UserError([following.error(f"cannot continue the loop before it: {problem}")])
    expand_chain(schedule, second)


def _schedule(loop: ForOp) -> LoopSchedule:
    schedule = LoopSchedule(loop)
    if problems := list(schedule_problems(schedule)):
        raise UserError(problems)
    return schedule


def next_loop(loop: ForOp) -> ForOp | None:
    """The loop after one in its block, if only pure operations are between."""
    following = loop.next
    while following is not None and not isinstance(following, ForOp):
        if following.regions or not is_pure(following):
            return None
        following = following.next
    return following


def chain_problem(first: LoopSchedule, second: LoopSchedule) -> str | None:
    """Why a loop cannot take over the pipeline of the one before it; None if it can."""
    one, other = first.loop, second.loop
    if any(each.stages != [0, 1] for each in (first, second)):
        return "both need the stages 0 and 1"
    if not are_consecutive(one, other):
        return "it does not go on where the loop before it ends"
    if len(one.results) != len(other.init_args) or not all(
        value is result and result.has_one_use
        for value, result in zip(other.init_args, one.results, strict=True)
    ):
        return "its initial values are not the results of the loop before it, used once"
    if not _are_twins(first, second):
        return "the last stages of both loops differ"
    return None


def _are_twins(one: LoopSchedule, other: LoopSchedule) -> bool:
    """Whether the last stages of two loops do the same with corresponding values."""
    ops, others = one.of_stage(1), other.of_stage(1)
    carried = list(zip(one.loop.carried, other.loop.carried, strict=True))
    slots = list(zip(one.slots, other.slots, strict=False))
    if len(ops) != len(others) or len(one.slots) != len(other.slots):
        return False
    if any(one.home(value) != other.home(twin) for value, twin in carried):
        return False
    if any(a.stage != b.stage or a.value.type is not b.value.type for a, b in slots):
        return False
    twins = {slot.value: twin.value for slot, twin in slots if slot.stage == 1}
    twins[one.loop.induction_variable] = other.loop.induction_variable
    for op, twin in zip(ops, others, strict=True):
        if op.regions or not equivalent(op, twin, twins=twins):
            return False
        twins.update(zip(op.results, twin.results, strict=True))
    return all(
        twins.get(one.yielded(value)) is other.yielded(twin)
        for value, twin in carried
        if one.home(value) == 1
    )


def expand_chain(first: LoopSchedule, second: LoopSchedule) -> None:
    """Replace two consecutive loops by pipelined ones."""
    loop, other = first.loop, second.loop
    build = Builder(InsertPoint.before(other), other.location)
    exists = iteration_exists(build, other, loop.lower_bound)
    starts = iteration_exists(build, loop, loop.lower_bound)
    parts, later = Expansion(first), Expansion(second)
    shared = _SharedPrologue.of(_FirstPart.of(first), _FirstPart.of(second))

    def then(inside: Builder) -> Sequence[Value]:
        start = Counters(inside, loop, loop.lower_bound).after(1)
        if shared is None:
            passed = branch(inside, starts, lambda block: in_first(block, start), in_second).results
        else:
            passed = shared.build(inside, starts, [loop.lower_bound, *loop.init_args])
            passed = parts.steady_state(inside, start, passed).results
        # Where the first loop ends: its bound is live in it, the lower one of the second is not.
        larger = MaxUIOp if loop.unsigned_cmp else MaxSIOp
        end = inside.create(larger, lhs=start, rhs=loop.upper_bound).result
        last = last_counter(inside, other)
        return later.epilogue(inside, later.steady_state(inside, end, passed).results, last)

    def in_first(inside: Builder, start: Value) -> Sequence[Value]:
        counters = Counters(inside, loop, loop.lower_bound)
        passed = parts.prologue(inside, counters, loop.init_args)
        return parts.steady_state(inside, start, passed).results

    def in_second(inside: Builder) -> Sequence[Value]:
        counters = Counters(inside, other, other.lower_bound)
        return later.prologue(inside, counters, loop.init_args)

    replace(other, branch(build, exists, then, lambda _: loop.init_args).results)
    loop.erase()


def sources(
    values: Iterable[Value], among: Collection[Operation], known: Collection[Value] = ()
) -> set[Operation]:
    """The operations among some from which values are computed, without those of known values."""

    def operands(value: Value) -> Sequence[Value]:
        op = value.defining_op()
        return used_values(op) if op is not None and op in among and value not in known else ()

    computed = [value for value in closure(values, operands) if value not in known]
    return {op for value in computed if (op := value.defining_op()) is not None and op in among}


class _FirstPart(NamedTuple):
    """Stage 0 of an iteration of a pipelined loop."""

    ops: Mapping[Operation, None]
    arguments: Sequence[Value]
    """The arguments of the body: those of two loops correspond."""
    results: Sequence[Value]
    """The values that are passed on to the loop: those of two loops correspond."""

    @staticmethod
    def of(schedule: LoopSchedule) -> _FirstPart:
        """Stage 0 of a loop."""
        results = [
            schedule.yielded(slot.value) if slot.stage == 0 else slot.value
            for slot in schedule.slots
        ]
        return _FirstPart(
            dict.fromkeys(schedule.of_stage(0)), schedule.loop.body.block.args, results
        )

    def compute(self, build: Builder, value: Value, known: Mapping[Value, Value]) -> Value:
        """Build the operations from which a value is computed, but for known values."""
        values = dict(known)
        needed = sources([value], self.ops, known)
        for op in filter(needed.__contains__, self.ops):
            build.insert(op.clone(values))
        return values.get(value, value)


class _SharedPrologue(NamedTuple):
    """The first parts of two loops, of which one is executed."""

    one: _FirstPart
    other: _FirstPart
    common: Mapping[Value, Value]
    """For values of the one part, those of the other that are the same."""
    partners: Mapping[Operation, Operation]
    """For operations of the other part, those of the one that do the same with other values."""

    @staticmethod
    def of(one: _FirstPart, other: _FirstPart) -> _SharedPrologue | None:
        """Two parts with the same dots, loads and reductions; None if one has others."""
        common = _common_values(one, other)
        partners, differing = _pairs(one, other, common)
        own = sources([value for value, _ in differing], one.ops, common)
        own |= sources([value for _, value in differing], other.ops, set(common.values()))
        return None if any(map(_is_costly, own)) else _SharedPrologue(one, other, common, partners)

    def build(self, build: Builder, is_one: Value, arguments: Sequence[Value]) -> list[Value]:
        """Build the part of the one loop if a condition holds, else that of the other."""
        values = dict(zip(self.one.arguments, arguments, strict=True))
        for op in self.one.ops:
            if any(result in self.common for result in op.results):
                build.insert(op.clone(values))
        own = {twin: values[value] for value, twin in self.common.items()}
        merged: dict[tuple[Value, Value], Value] = {}

        def merge(value: Value, twin: Value) -> Value:
            if self.common.get(value, value) is twin:
                return own.get(twin, twin)
            if (value, twin) not in merged:
                merged[value, twin] = branch(
                    build,
                    is_one,
                    lambda inside: [self.one.compute(inside, value, values)],
                    lambda inside: [self.other.compute(inside, twin, own)],
                ).results[0]
            return merged[value, twin]

        for twin in self.other.ops:
            if (op := self.partners.get(twin)) is None:
                continue
            pairs = zip(op.operands, twin.operands, strict=True)
            copy = build.insert(twin.clone({each: merge(value, each) for value, each in pairs}))
            results = zip(op.results, twin.results, copy.results, strict=True)
            merged |= {(value, each): result for value, each, result in results}
        return [merge(*pair) for pair in zip(self.one.results, self.other.results, strict=True)]


def _common_values(one: _FirstPart, other: _FirstPart) -> dict[Value, Value]:
    """For values of the one part, those of the other that are computed alike from the same."""
    common = dict(zip(one.arguments, other.arguments, strict=True))
    pending = list(other.ops)
    for op in one.ops:
        twin = next((each for each in pending if equivalent(op, each, twins=common)), None)
        if twin is not None:
            pending.remove(twin)
            common.update(zip(op.results, twin.results, strict=True))
    return common


def _pairs(
    one: _FirstPart, other: _FirstPart, common: Mapping[Value, Value]
) -> tuple[dict[Operation, Operation], list[tuple[Value, Value]]]:
    """Pair operations, from the results on; returns the pairs, and the values that differ."""
    shared = {value.defining_op() for pair in common.items() for value in pair}
    ops = {*one.ops, *other.ops} - shared
    partners: dict[Operation, Operation] = {}
    differing: list[tuple[Value, Value]] = []
    pending = list(zip(one.results, other.results, strict=True))
    while pending:
        value, twin = pending.pop()
        op, each = value.defining_op(), twin.defining_op()
        if common.get(value, value) is twin:
            continue
        if op is None or each is None or value.index != twin.index:
            differing.append((value, twin))
        elif {op, each} <= ops and _are_alike(op, each):
            ops -= {op, each}
            partners[each] = op
            pending += zip(op.operands, each.operands, strict=True)
        elif partners.get(each) is not op:
            differing.append((value, twin))
    return partners, differing


def _are_alike(op: Operation, twin: Operation) -> bool:
    """Whether operations do the same with their operands, which correspond one to one."""
    pairs = set(zip(op.operands, twin.operands, strict=False))
    if not len(pairs) == len(set(op.operands)) == len(set(twin.operands)):
        return False
    if any(value.type is not other.type for value, other in pairs):
        return False
    return equivalent(op, twin, twins=dict(pairs))


def _is_costly(op: Operation) -> bool:
    """Whether an operation is not to be in one branch only: it loads, or is most of the code."""
    return isinstance(op, DotOp | LoadOp | TileLoadOp) or bool(op.regions)
