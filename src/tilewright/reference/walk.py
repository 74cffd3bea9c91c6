"""Interpretation of regions by a batch of blocks, with divergence and reconvergence.

An interpretation is a generator, so that many can be interleaved: it yields where another block may
be scheduled. Running a region returns exits: the blocks that left it, by which terminator and with
which values.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from types import GeneratorType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np

from tilewright.ir.types import I1, I4
from tilewright.reference.batch import Batch, merge, picked
from tilewright.reference.errors import Fault
from tilewright.reference.evaluators import Run, decode
from tilewright.reference.numerics import integer
from tilewright.reference.tile import Array, element, is_array, signed, unsigned

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation, Region
    from tilewright.ir.values import OpResult, Value
    from tilewright.reference.machine import Machine, Waiting


class Step(NamedTuple):
    """A decoded operation."""

    op: Operation
    run: Run
    results: tuple[OpResult, ...]
    yields: bool
    """Whether another block may be scheduled before it."""


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
    limits, values = machine.limits, at.values
    undefined = None if machine.checker is None else machine.checker.undefined
    for op, run, results, yields in decoded(block, machine):
        machine.op, machine.batch = op, at
        limits.steps += 1
        if limits.steps > limits.next_check:
            machine.check_limits()
        if yields:
            yield None
        outcome = run(at)
        kind = type(outcome)
        if kind is Exit:
            exits.append(outcome)
        elif kind is GeneratorType:
            passage = yield from cast("Crossing", outcome)
            exits += passage.exits
            if passage.batch is None:
                break
            at = passage.batch
            values = at.values
            at.bind(results, passage.results)
        elif len(results) == 1:
            values[results[0]] = outcome
        elif results:
            at.bind(results, outcome)
        if undefined:
            undefined.propagate(op, at)
    machine.leave(block, entered)
    return exits


def decoded(block: Block, machine: Machine) -> list[Step]:
    """The decoded operations of a block."""
    steps = machine.decoded.get(block)
    if steps is None:
        yields = machine.yield_points
        steps = [Step(op, decode(op), op.results, type(op) in yields) for op in block]
        machine.decoded[block] = steps
    return steps


def leave(op: Operation) -> Run:
    """Exit by a terminator; the operation with the region interprets its class."""
    kind, operands = type(op), op.operands

    def run(at: Batch) -> Exit:
        values = at.values
        return Exit(kind, at, [values[value] for value in operands])

    return run


def passage(base: Batch, through: Sequence[Exit], others: list[Exit]) -> Passage:
    """Merge the blocks that continue after an operation; the others keep their exits."""
    if not through:
        return Passage(None, (), others)
    batch, values = merge(base, [(exit.batch, exit.values) for exit in through])
    return Passage(batch, values, others)


def sort(exits: Sequence[Exit], kind: type[Operation]) -> tuple[list[Exit], list[Exit]]:
    """Split exits into those by one class of terminator, and the others."""
    if len(exits) == 1:
        return ([*exits], []) if exits[0].by is kind else ([], [*exits])
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
    if len(index) == len(step) == len(bound) == 1 and element(loop.step) not in (I1, I4):
        return (yield from _count_together(loop, at, read(np.concatenate([index, bound, step]))))
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


def _count_together(loop: Counting, at: Batch, bounds: Array) -> Crossing:
    """A counted loop with the same bounds in all blocks: only their data and exits may differ."""
    first, last, step = (int(bound) for bound in bounds)
    stored, largest = at[loop.lower].dtype, np.iinfo(bounds.dtype).max
    others: list[Exit] = []
    active, carried = at, [at[value] for value in loop.initial]
    for index in range(first, last, step):
        indices = np.array([index], bounds.dtype).view(stored)
        active.bind(loop.body.args, (indices, *carried))
        again, left = sort((yield from walk(loop.body, active)), loop.end)
        others += left
        if not again:
            return passage(at, [], others)
        active, carried = merge(at, [(exit.batch, exit.values) for exit in again])
        if index + step > largest:
            active.fail(loop.op, Fault.UNDEFINED, "the index overflows")
    return passage(at, [Exit(type(loop.op), active, carried)], others)


def kept(value: Any, before: Batch, after: Batch) -> Any:
    """Select a value of one batch for the blocks of another that was narrowed from it."""
    if before is after:
        return value
    if not is_array(value):
        return value.pick(after.lanes)
    return picked(value, after.lanes, after.values.undefined)
