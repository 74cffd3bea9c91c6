"""Rules of loops: those that run never or once, and what they carry for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.control_flow import (
    BreakOp,
    ContinueOp,
    ForOp,
    LoopOp,
    ReturnOp,
)
from tilewright.dialects.cuda_tile.simplify.constants import signed_value, splat_value
from tilewright.dialects.cuda_tile.simplify.regions import (
    inline,
    inline_exit,
    jumps,
    keep,
    rebuild,
)
from tilewright.ir.rules import rule

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules
    from tilewright.ir.values import Value


def _read(op: ForOp, bound: Value) -> int | None:
    """A bound as the loop reads it, if it is known."""
    return splat_value(bound) if op.unsigned_cmp else signed_value(bound)


@rule(ForOp)
def loop_that_never_runs(op: ForOp, build: Rewriter) -> Replacement:
    """A loop whose bounds are known to leave nothing between them gives its initial values."""
    if op.lower_bound is op.upper_bound:
        return op.init_values
    lower, upper = _read(op, op.lower_bound), _read(op, op.upper_bound)
    if lower is None or upper is None or lower < upper:
        return None
    return op.init_values


@rule(ForOp)
def loop_that_runs_once(op: ForOp, build: Rewriter) -> Replacement:
    """A loop known to run once becomes its body, unless an iteration may end early."""
    lower, upper, step = (_read(op, v) for v in (op.lower_bound, op.upper_bound, op.step))
    if lower is None or upper is None or step is None:
        return None
    if step <= 0 or not lower < upper <= lower + step:
        return None
    body = op.body.block
    if len(list(jumps(body))) > 1:
        return None
    return inline(body, op, build, (op.lower_bound, *op.init_values))


@rule(LoopOp)
def loop_that_breaks_at_once(op: LoopOp, build: Rewriter) -> Replacement:
    """A loop that leaves at the end of its body, and only there, becomes its body."""
    body = op.body.block
    leaves = list(jumps(body))
    if leaves == [body.last] and isinstance(body.last, BreakOp):
        return inline(body, op, build, op.init_values)
    if not leaves and isinstance(body.last, ReturnOp):
        return inline_exit(body, op, build, op.init_values)
    return None


def _carried_for_nothing(op: ForOp | LoopOp) -> list[int]:
    """The positions of carried values that never change, or that nobody looks at."""
    repeats = [jump.operands for jump in jumps(op.body.block) if isinstance(jump, ContinueOp)]
    useless: list[int] = []
    for at, (argument, initial) in enumerate(zip(op.carried, op.init_values, strict=True)):
        is_unused = not argument.users and not (isinstance(op, ForOp) and op.results[at].users)
        if is_unused or all(values[at] in (argument, initial) for values in repeats):
            useless.append(at)
    return useless


def _without(
    op: ForOp | LoopOp, useless: Sequence[int], build: Rewriter
) -> tuple[ForOp | LoopOp, list[int]]:
    """Insert a loop that does not carry some values; gives also the positions that it does."""
    kept = [at for at in range(len(op.init_values)) if at not in useless]
    for jump in jumps(op.body.block):
        if isinstance(jump, ContinueOp):
            build.set_operands(jump, keep(jump.operands, kept))
    fixed = op.operands[: len(op.operands) - len(op.init_values)]
    given = kept if isinstance(op, ForOp) else range(len(op.results))
    types = [op.results[at].type for at in given]
    made = rebuild(op, (*fixed, *keep(op.init_values, kept)), types, build)
    _move_body(op, made, kept, build)
    return made, kept


def _move_body(
    op: ForOp | LoopOp, made: ForOp | LoopOp, kept: Sequence[int], build: Rewriter
) -> None:
    """Move a body to a loop that carries less; initial values stand for what it does not."""
    body, target = op.body.block, made.body.block
    counters = len(body.args) - len(op.init_values)
    arguments: list[Value] = [*body.args[:counters], *op.init_values]
    for at in (*range(counters), *[counters + at for at in kept]):
        old = body.args[at]
        arguments[at] = target.add_argument(old.type, old.location)
    build.merge_blocks(body, target, arguments)


@rule(ForOp)
def carried_by_for(op: ForOp, build: Rewriter) -> Replacement:
    """A value that no iteration changes is not carried, nor one that nobody looks at."""
    useless = _carried_for_nothing(op)
    if not useless:
        return None
    made, kept = _without(op, useless, build)
    values: list[Value] = list(op.init_values)
    for at, result in zip(kept, made.results, strict=True):
        values[at] = result
    return values


@rule(LoopOp)
def carried_by_loop(op: LoopOp, build: Rewriter) -> Replacement:
    """A value that no iteration changes is not carried, nor one that nobody looks at."""
    useless = _carried_for_nothing(op)
    if not useless:
        return None
    made, _ = _without(op, useless, build)
    return made


@rule(LoopOp)
def unused_loop_results(op: LoopOp, build: Rewriter) -> Replacement:
    """Results that nobody uses are not passed on by `break`."""
    used = [result.index for result in op.results if result.is_used]
    if len(used) == len(op.results):
        return None
    for jump in jumps(op.body.block):
        if isinstance(jump, BreakOp):
            build.set_operands(jump, keep(jump.operands, used))
    made = rebuild(op, op.operands, [op.results[at].type for at in used], build)
    _move_body(op, made, range(len(op.carried)), build)
    values = dict(zip(used, made.results, strict=True))
    return [values.get(result.index, result) for result in op.results]


@rule(LoopOp)
def result_from_outside(op: LoopOp, build: Rewriter) -> Replacement:
    """A result for which every `break` passes the same value from outside is that value."""
    body = op.body.block
    breaks = [jump.operands for jump in jumps(body) if isinstance(jump, BreakOp)]
    changed = False
    for result in op.results:
        values = {operands[result.index] for operands in breaks}
        if not result.users or len(values) != 1:
            continue
        (value,) = values
        if not value.is_inside(op):
            build.replace_value(result, value)
            changed = True
    return op if changed else None


RULES: Final[Rules] = (
    loop_that_never_runs,
    loop_that_runs_once,
    loop_that_breaks_at_once,
    carried_by_for,
    carried_by_loop,
    unused_loop_results,
    result_from_outside,
)
