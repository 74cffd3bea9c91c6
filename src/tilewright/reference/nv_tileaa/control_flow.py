"""scf: branches and loops."""

from __future__ import annotations

from tilewright.dialects import scf as d
from tilewright.reference.batch import Batch, merge
from tilewright.reference.evaluators import decoder, evaluator
from tilewright.reference.walk import (
    Counting,
    Crossing,
    Exit,
    branch,
    count,
    kept,
    leave,
    passage,
    walk,
)

decoder(d.YieldOp, d.ConditionOp)(leave)


@evaluator(d.IfOp)
def if_(op: d.IfOp, at: Batch) -> Crossing:
    """Run the region that the condition of each block selects."""
    return branch(at, op.condition, op.then_region, op.else_region, d.YieldOp)


@evaluator(d.ForOp)
def for_(op: d.ForOp, at: Batch) -> Crossing:
    """Counted loop from the lower bound by the step while below the upper bound."""
    bounds = op.lower_bound, op.upper_bound, op.step
    unsigned, body = op.unsigned_cmp, op.body.block
    return count(Counting(op, *bounds, op.init_args, unsigned, body, d.YieldOp), at)


@evaluator(d.WhileOp)
def while_(op: d.WhileOp, at: Batch) -> Crossing:
    """Loop while the condition of `before` is true; its forwarded values are the results."""
    before, after = op.before.block, op.after.block
    done: list[Exit] = []
    detector = at.machine.detect_livelock(op)
    active, carried = at, [at[value] for value in op.init_args]
    while True:
        waiting = detector.begin_iteration(active, carried)
        if waiting is not None:
            yield waiting
        active.bind(before.args, carried)
        exits = yield from walk(before, active)
        active, (condition, *passed) = merge(at, [(exit.batch, exit.values) for exit in exits])
        inside, finished = active.split(condition)
        if finished is not None:
            values = [kept(value, active, finished) for value in passed]
            done.append(Exit(d.WhileOp, finished, values))
        if inside is None:
            return passage(at, done, [])
        inside.bind(after.args, [kept(value, active, inside) for value in passed])
        exits = yield from walk(after, inside)
        active, carried = merge(at, [(exit.batch, exit.values) for exit in exits])
