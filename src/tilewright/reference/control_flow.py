"""Structured control flow: branches, loops and their terminators."""

from __future__ import annotations

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
from tilewright.dialects.nv_tileaa import misc as nv_tileaa
from tilewright.reference.batch import Batch, merge
from tilewright.reference.errors import Fault
from tilewright.reference.evaluators import decoder, evaluator
from tilewright.reference.tile import Array
from tilewright.reference.walk import (
    Counting,
    Crossing,
    Exit,
    branch,
    count,
    leave,
    passage,
    sort,
    walk,
)

decoder(YieldOp, BreakOp, ContinueOp, ReturnOp)(leave)


@evaluator(IfOp)
def if_(op: IfOp, at: Batch) -> Crossing:
    """Run the region that the condition of each block selects."""
    return branch(at, op.condition, op.then_region, op.else_region, YieldOp)


@evaluator(ForOp)
def for_(op: ForOp, at: Batch) -> Crossing:
    """Counted loop from the lower bound by the step while below the upper bound."""
    bounds = op.lower_bound, op.upper_bound, op.step
    unsigned, body = op.unsigned_cmp, op.body.block
    return count(Counting(op, *bounds, op.init_values, unsigned, body, ContinueOp), at)


@evaluator(LoopOp)
def loop(op: LoopOp, at: Batch) -> Crossing:
    """Loop until a `break`, whose operands are the results."""
    block = op.body.block
    done: list[Exit] = []
    others: list[Exit] = []
    detector = at.machine.detect_livelock(op)
    active, carried = at, [at[value] for value in op.init_values]
    while True:
        waiting = detector.begin_iteration(active, carried)
        if waiting is not None:
            yield waiting
        active.bind(block.args, carried)
        again, left = sort((yield from walk(block, active)), ContinueOp)
        broken, left = sort(left, BreakOp)
        done += broken
        others += left
        if not again:
            return passage(at, done, others)
        active, carried = merge(at, [(exit.batch, exit.values) for exit in again])


@evaluator(AssertOp, nv_tileaa.AssertOp)
def assert_(op: AssertOp | nv_tileaa.AssertOp, at: Batch) -> None:
    """Report the message if an element is false."""
    holds: Array = at[op.condition]
    if holds.all():
        return
    lane, *position = (int(i) for i in np.argwhere(~holds)[0])
    element = f" at element {position}" if position else ""
    at.fail(op, Fault.ASSERTION, f'failed{element}: "{op.message}"', lane)
