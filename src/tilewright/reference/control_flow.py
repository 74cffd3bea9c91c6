"""Structured control flow: how a batch of blocks walks through regions, and parts and meets there.

A walk is a generator, so that many of them can take turns: it yields where another block may go
on. Running the body of a region gives exits: which blocks left it, by which terminator and with
which values.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from types import GeneratorType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from tilewright.dialects.cuda_tile.control_flow import (
    AssertOp,
    BreakOp,
    ContinueOp,
    ForOp,
    IfOp,
    LoopOp,
    ReturnOp,
    YieldOp,
)
from tilewright.reference.batch import Batch, merge
from tilewright.reference.errors import Fault
from tilewright.reference.meanings import MEANINGS, meaning
from tilewright.reference.numerics import integer
from tilewright.reference.tile import Array, element, is_array, signed, unsigned

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.reference.machine import Waiting


class Exit(NamedTuple):
    """Blocks that left a region."""

    by: type[Operation]
    """The kind of terminator."""
    batch: Batch
    values: Sequence[Any]


class Passage(NamedTuple):
    """Blocks that are through an operation with regions, its results, and those that left."""

    batch: Batch | None
    results: Sequence[Any]
    exits: list[Exit]


Walk = Generator["Waiting | None", None, list[Exit]]
Crossing = Generator["Waiting | None", None, Passage]


def walk(block: Block, at: Batch) -> Walk:
    """Run the operations of a block; gives the exits of all blocks of the batch."""
    exits: list[Exit] = []
    entered, machine = at, at.machine
    turns = machine.turns
    for op in block:
        kind = type(op)
        if kind in turns:
            yield None
        outcome = MEANINGS[kind](op, at)
        if isinstance(outcome, Exit):
            exits.append(outcome)
        elif isinstance(outcome, GeneratorType):
            passage = yield from cast("Crossing", outcome)
            exits += passage.exits
            if passage.batch is None:
                break
            at = passage.batch
            at.bind(op.results, passage.results)
        elif len(op.results) == 1:
            at.values[op.results[0]] = outcome
        elif op.results:
            at.bind(op.results, outcome)
    if machine.scratches:
        machine.leave(block, entered)
    return exits


def _pass(base: Batch, through: Sequence[Exit], others: list[Exit]) -> Passage:
    """All that is left to do behind an operation, once its blocks have left its regions."""
    if not through:
        return Passage(None, (), others)
    batch, values = merge(base, [(exit.batch, exit.values) for exit in through])
    return Passage(batch, values, others)


def _sort(exits: Sequence[Exit], kind: type[Operation]) -> tuple[list[Exit], list[Exit]]:
    """The exits by one kind of terminator, and the others."""
    chosen = [exit for exit in exits if exit.by is kind]
    return chosen, [exit for exit in exits if exit.by is not kind]


@meaning(YieldOp, BreakOp, ContinueOp, ReturnOp)
def leave(op: YieldOp | BreakOp | ContinueOp | ReturnOp, at: Batch) -> Exit:
    """All terminators: whoever runs the region looks at which one it was."""
    return Exit(type(op), at, [at[value] for value in op.operands])


@meaning(IfOp)
def if_(op: IfOp, at: Batch) -> Crossing:
    """Each block takes the branch that its condition says."""
    taken, other = at.split(at[op.condition])
    exits: list[Exit] = []
    if taken is not None:
        exits += yield from walk(op.then_region.block, taken)
    if other is not None:
        if op.else_region.blocks:
            exits += yield from walk(op.else_region.block, other)
        else:
            exits.append(Exit(YieldOp, other, ()))
    return _pass(at, *_sort(exits, YieldOp))


@meaning(ForOp)
def for_(op: ForOp, at: Batch) -> Crossing:
    """The index counts from the lower bound by the step, while it is below the upper bound."""
    read = unsigned if op.unsigned_cmp else signed
    index, steps, bounds = at[op.lower_bound], op.step, op.upper_bound
    step, bound = at[steps], at[bounds]
    at.require(op, read(step) > 0, Fault.UNDEFINED, "expected a positive step")
    block, index_type = op.body.block, element(steps)
    done: list[Exit] = []
    others: list[Exit] = []
    active, carried = at, [at[value] for value in op.init_values]
    while True:
        going = read(index) < read(bound)
        inside, finished = active.split(going)
        if finished is not None:
            done.append(
                Exit(ForOp, finished, [_kept(value, active, finished) for value in carried])
            )
        if inside is None:
            return _pass(at, done, others)
        if inside is not active:
            index, *carried = [_kept(value, active, inside) for value in (index, *carried)]
        inside.bind(block.args, (index, *carried))
        again, left = _sort((yield from walk(block, inside)), ContinueOp)
        others += left
        if not again:
            return _pass(at, done, others)
        parts = [(exit.batch, (exit.batch[block.args[0]], *exit.values)) for exit in again]
        active, (index, *carried) = merge(at, parts)
        step, bound = active[steps], active[bounds]
        before, index = index, integer.add(index, step, index_type)
        active.require(op, read(index) > read(before), Fault.UNDEFINED, "the index overflows")


def _kept(value: Any, before: Batch, after: Batch) -> Any:
    """A value of the blocks of one batch, for those of another that was narrowed from it."""
    if before is after:
        return value
    if not is_array(value):
        return value.pick(after.lanes)
    return value if len(value) == 1 else value[after.lanes]


@meaning(LoopOp)
def loop(op: LoopOp, at: Batch) -> Crossing:
    """Runs until a `break`, whose operands are the results."""
    block = op.body.block
    done: list[Exit] = []
    others: list[Exit] = []
    watch = at.machine.watch(op)
    active, carried = at, [at[value] for value in op.init_values]
    while True:
        waiting = watch.turn(active, carried)
        if waiting is not None:
            yield waiting
        active.bind(block.args, carried)
        again, left = _sort((yield from walk(block, active)), ContinueOp)
        broken, left = _sort(left, BreakOp)
        done += broken
        others += left
        if not again:
            return _pass(at, done, others)
        active, carried = merge(at, [(exit.batch, exit.values) for exit in again])


@meaning(AssertOp)
def assert_(op: AssertOp, at: Batch) -> None:
    """Stops the program with the message if an element is false."""
    holds: Array = at[op.condition]
    if holds.all():
        return
    lane, *position = (int(i) for i in np.argwhere(~holds)[0])
    place = f" at element {position}" if position else ""
    at.fail(op, Fault.ASSERTION, f'failed{place}: "{op.message}"', lane)
