"""Chains: a pipelined loop that goes on where the one before ends takes over its pipeline.

The last stage of the last iteration of the first loop is executed in the second one, and both have
one prologue. That is for the first iteration of the first loop, if that has iterations, else of the
second.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

from tilewright.analysis.loop_bounds import are_consecutive
from tilewright.dialects.arith.integer import MaxSIOp, MaxUIOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_pure
from tilewright.transforms.pipeline.expansion import Expansion, replace
from tilewright.transforms.pipeline.iterations import (
    Counters,
    branch,
    iteration_exists,
    last_counter,
)
from tilewright.transforms.pipeline.shared_prologue import FirstPart, SharedPrologue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.loop_schedule import LoopSchedule
    from tilewright.ir.values import Value


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
        if type(op) is not type(twin) or op.attributes != twin.attributes or op.regions:
            return False
        operands = [twins.get(value, value) for value in op.operands]
        if len(operands) != len(twin.operands) or not all(map(is_, operands, twin.operands)):
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
    shared = SharedPrologue.of(_first_part(first), _first_part(second))

    def then(inside: Builder) -> Sequence[Value]:
        start = Counters(inside, loop, loop.lower_bound).after(1)
        if shared is None:
            passed = branch(inside, starts, lambda block: in_first(block, start), in_second)
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

    replace(other, branch(build, exists, then, lambda _: loop.init_args))
    loop.erase()


def _first_part(schedule: LoopSchedule) -> FirstPart:
    """Stage 0 of an iteration, and what it passes on."""
    loop = schedule.loop
    results = [
        schedule.yielded(slot.value) if slot.stage == 0 else slot.value for slot in schedule.slots
    ]
    return FirstPart(schedule.of_stage(0), [loop.induction_variable, *loop.carried], results)
