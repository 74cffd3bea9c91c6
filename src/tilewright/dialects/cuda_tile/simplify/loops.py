"""Rules of loops: trip counts of zero and one, and redundant loop-carried values."""

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
    inline_exiting,
    jumps,
    keep,
    rebuild,
)
from tilewright.ir.rules import rule

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules
    from tilewright.ir.values import Value


def _constant_bound(op: ForOp, bound: Value) -> int | None:
    """The value of a constant bound in the signedness of the loop, or `None`."""
    return splat_value(bound) if op.unsigned_cmp else signed_value(bound)


@rule(ForOp)
def zero_trip_loop(op: ForOp, build: Rewriter) -> Replacement:
    """A loop with a constant trip count of zero is replaced by its initial values."""
    if op.lower_bound is op.upper_bound:
        return op.init_values
    lower, upper = _constant_bound(op, op.lower_bound), _constant_bound(op, op.upper_bound)
    if lower is None or upper is None or lower < upper:
        return None
    return op.init_values


@rule(ForOp)
def single_trip_loop(op: ForOp, build: Rewriter) -> Replacement:
    """Inline the body of a loop with trip count one, unless it may `continue` early."""
    lower, upper, step = (_constant_bound(op, v) for v in (op.lower_bound, op.upper_bound, op.step))
    if lower is None or upper is None or step is None:
        return None
    if step <= 0 or not lower < upper <= lower + step:
        return None
    body = op.body.block
    if len(list(jumps(body))) > 1:
        return None
    return inline(body, op, build, (op.lower_bound, *op.init_values))


@rule(LoopOp)
def unconditional_break(op: LoopOp, build: Rewriter) -> Replacement:
    """Inline the body of a loop whose only exit is an unconditional one at its end."""
    body = op.body.block
    exits = list(jumps(body))
    if exits == [body.last] and isinstance(body.last, BreakOp):
        return inline(body, op, build, op.init_values)
    if not exits and isinstance(body.last, ReturnOp):
        return inline_exiting(body, op, build, op.init_values)
    return None


def _redundant_values(op: ForOp | LoopOp) -> list[int]:
    """The positions of loop-carried values that are invariant or unused."""
    continued = [jump.operands for jump in jumps(op.body.block) if isinstance(jump, ContinueOp)]
    redundant: list[int] = []
    for at, (argument, initial) in enumerate(zip(op.carried, op.init_values, strict=True)):
        is_unused = not argument.users and not (isinstance(op, ForOp) and op.results[at].users)
        if is_unused or all(values[at] in (argument, initial) for values in continued):
            redundant.append(at)
    return redundant


def _without_values(
    op: ForOp | LoopOp, redundant: Sequence[int], build: Rewriter
) -> tuple[ForOp | LoopOp, list[int]]:
    """Insert a loop without some carried values; returns also the positions of the others."""
    kept = [at for at in range(len(op.init_values)) if at not in redundant]
    for jump in jumps(op.body.block):
        if isinstance(jump, ContinueOp):
            build.set_operands(jump, keep(jump.operands, kept))
    fixed = op.operands[: len(op.operands) - len(op.init_values)]
    positions = kept if isinstance(op, ForOp) else range(len(op.results))
    types = [op.results[at].type for at in positions]
    rebuilt = rebuild(op, (*fixed, *keep(op.init_values, kept)), types, build)
    _move_body(op, rebuilt, kept, build)
    return rebuilt, kept


def _move_body(
    op: ForOp | LoopOp, rebuilt: ForOp | LoopOp, kept: Sequence[int], build: Rewriter
) -> None:
    """Move a body to a loop with fewer carried values; the others become initial values."""
    body, target = op.body.block, rebuilt.body.block
    counters = len(body.args) - len(op.init_values)
    arguments: list[Value] = [*body.args[:counters], *op.init_values]
    for at in (*range(counters), *[counters + at for at in kept]):
        old = body.args[at]
        arguments[at] = target.add_argument(old.type, old.location)
    build.merge_blocks(body, target, arguments)


@rule(ForOp)
def prune_for_values(op: ForOp, build: Rewriter) -> Replacement:
    """Remove loop-carried values that are invariant or unused."""
    redundant = _redundant_values(op)
    if not redundant:
        return None
    rebuilt, kept = _without_values(op, redundant, build)
    values: list[Value] = list(op.init_values)
    for at, result in zip(kept, rebuilt.results, strict=True):
        values[at] = result
    return values


@rule(LoopOp)
def prune_loop_values(op: LoopOp, build: Rewriter) -> Replacement:
    """Remove loop-carried values that are invariant or unused."""
    redundant = _redundant_values(op)
    if not redundant:
        return None
    rebuilt, _ = _without_values(op, redundant, build)
    return rebuilt


@rule(LoopOp)
def unused_loop_results(op: LoopOp, build: Rewriter) -> Replacement:
    """Remove unused results, and the matching operands of `break`."""
    used = [result.index for result in op.results if result.is_used]
    if len(used) == len(op.results):
        return None
    for jump in jumps(op.body.block):
        if isinstance(jump, BreakOp):
            build.set_operands(jump, keep(jump.operands, used))
    rebuilt = rebuild(op, op.operands, [op.results[at].type for at in used], build)
    _move_body(op, rebuilt, range(len(op.carried)), build)
    values = dict(zip(used, rebuilt.results, strict=True))
    return [values.get(result.index, result) for result in op.results]


@rule(LoopOp)
def loop_invariant_result(op: LoopOp, build: Rewriter) -> Replacement:
    """A result is the operand of `break`, if all have the same one and it is loop-invariant."""
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
    zero_trip_loop,
    single_trip_loop,
    unconditional_break,
    prune_for_values,
    prune_loop_values,
    unused_loop_results,
    loop_invariant_result,
)
