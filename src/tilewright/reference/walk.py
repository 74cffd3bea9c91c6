"""Interpretation of regions by a batch of blocks, with divergence and reconvergence.

An interpretation is a generator, so that many can be interleaved: it yields where another block may
be scheduled. Running a region returns exits: the blocks that left it, by which terminator and with
which values.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from types import GeneratorType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from tilewright.reference.batch import Batch, merge
from tilewright.reference.errors import Fault
from tilewright.reference.evaluators import EVALUATORS
from tilewright.reference.numerics import integer
from tilewright.reference.tile import element, is_array, signed, unsigned

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation, Region
    from tilewright.ir.values import Value
    from tilewright.reference.machine import Waiting


class Exit(NamedTuple):
    """Blocks that left a region."""

    by: type[Operation]
    """The class of the terminator."""
    batch: Batch
    values: Sequence[Any]


class Passage(NamedTuple):
    """The blocks that continue after an operation with regions, its results, and other exits."""

    batch: Batch | None
    results: Sequence[Any]
    exits: list[Exit]


Walk: TypeAlias = "Generator[Waiting | None, None, list[Exit]]"
Crossing: TypeAlias = "Generator[Waiting | None, None, Passage]"


def walk(block: Block, at: Batch) -> Walk:
    """Run the operations of a block; return the exits of the batch."""
    exits: list[Exit] = []
    entered, machine = at, at.machine
    yield_points, limits = machine.yield_points, machine.limits
    undefined = None if machine.checker is None else machine.checker.undefined
    for op in block:
        machine.op, machine.batch = op, at
        limits.steps += 1
        if limits.steps > limits.next_check:
            machine.check_limits()
        kind = type(op)
        if kind in yield_points:
            yield None
        outcome = EVALUATORS[kind](op, at)
        if isinstance(outcome, Exit):
            exits.append(outcome)
        elif isinstance(outcome, GeneratorType):
            passage = yield from cast("Crossing", outcome)
            exits += passage.exits
            if passage.batch is None:
                break
            at = passage.batch
            at.bind(op.results, passage.results)
        elif op.results:
            at.bind(op.results, (outcome,) if len(op.results) == 1 else outcome)
        if undefined:
            undefined.propagate(op, at)
    if machine.scratches:
        machine.leave(block, entered)
    return exits


def leave(op: Operation, at: Batch) -> Exit:
    """Exit by a terminator; the operation with the region interprets its class."""
    return Exit(type(op), at, [at[value] for value in op.operands])


def passage(base: Batch, through: Sequence[Exit], others: list[Exit]) -> Passage:
    """Merge the blocks that continue after an operation; the others keep their exits."""
    if not through:
        return Passage(None, (), others)
    batch, values = merge(base, [(exit.batch, exit.values) for exit in through])
    return Passage(batch, values, others)


def sort(exits: Sequence[Exit], kind: type[Operation]) -> tuple[list[Exit], list[Exit]]:
    """Split exits into those by one class of terminator, and the others."""
    chosen = [exit for exit in exits if exit.by is kind]
    return chosen, [exit for exit in exits if exit.by is not kind]


def branch(
    at: Batch, condition: Value, then: Region, otherwise: Region, end: type[Operation]
) -> Crossing:
    """Run the region that the condition of each block selects; `end` terminates it."""
    taken, other = at.split(at[condition])
    exits: list[Exit] = []
    if taken is not None:
        exits += yield from walk(then.block, taken)
    if other is not None:
        if otherwise.blocks:
            exits += yield from walk(otherwise.block, other)
        else:
            exits.append(Exit(end, other, ()))
    return passage(at, *sort(exits, end))


class Counting(NamedTuple):
    """A counted loop: bounds, carried values, and the terminator of an iteration."""

    op: Operation
    lower: Value
    upper: Value
    step: Value
    initial: Sequence[Value]
    is_unsigned: bool
    body: Block
    end: type[Operation]


def count(loop: Counting, at: Batch) -> Crossing:
    """Counted loop from the lower bound by the step while below the upper bound."""
    op, block = loop.op, loop.body
    read = unsigned if loop.is_unsigned else signed
    index, step, bound = at[loop.lower], at[loop.step], at[loop.upper]
    steps = read(step)
    gist = "expected a positive step"
    at.require(op, steps > 0, Fault.UNDEFINED, gist, lambda at: f", got {steps[at[0]]}")
    done: list[Exit] = []
    others: list[Exit] = []
    active, carried = at, [at[value] for value in loop.initial]
    while True:
        going = read(index) < read(bound)
        inside, finished = active.split(going)
        if finished is not None:
            values = [kept(value, active, finished) for value in carried]
            done.append(Exit(type(op), finished, values))
        if inside is None:
            return passage(at, done, others)
        if inside is not active:
            index, *carried = [kept(value, active, inside) for value in (index, *carried)]
        inside.bind(block.args, (index, *carried))
        again, left = sort((yield from walk(block, inside)), loop.end)
        others += left
        if not again:
            return passage(at, done, others)
        parts = [(exit.batch, (exit.batch[block.args[0]], *exit.values)) for exit in again]
        active, (index, *carried) = merge(at, parts)
        step, bound = active[loop.step], active[loop.upper]
        before, index = index, integer.add(index, step, element(loop.step))
        active.require(op, read(index) > read(before), Fault.UNDEFINED, "the index overflows")


def kept(value: Any, before: Batch, after: Batch) -> Any:
    """Select a value of one batch for the blocks of another that was narrowed from it."""
    if before is after:
        return value
    if not is_array(value):
        return value.pick(after.lanes)
    return value if len(value) == 1 else value[after.lanes]
