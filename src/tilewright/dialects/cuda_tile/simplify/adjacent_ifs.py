"""Merge adjacent `if`s on the same condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.control_flow import IfOp, YieldOp
from tilewright.dialects.cuda_tile.simplify.regions import (
    else_block,
    exits,
    terminator_of,
    then_block,
)
from tilewright.dialects.cuda_tile.simplify.selection import negated
from tilewright.ir.operation import Block, Region
from tilewright.ir.rules import rule

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules
    from tilewright.ir.values import Value


@rule(IfOp)
def merge_adjacent_ifs(op: IfOp, build: Rewriter) -> Replacement:
    """`if c { A } else { B }; if c { C } else { D }` becomes `if c { A; C } else { B; D }`.

    The second condition may be `!c`. If a branch of the first exits, the second is not appended.
    """
    first = op.prev
    if not isinstance(first, IfOp):
        return None
    followers = _followers(first, op)
    if followers is None:
        return None
    merged = _create_merged(first, op, build)
    branches = (then_block(first), else_block(first))
    for region, branch, follower in zip(merged.regions, branches, followers, strict=True):
        _chain(region, branch, follower, first, build)
    count = len(first.results)
    build.replace(first, *merged.results[:count])
    return merged.results[count:]


def _followers(first: IfOp, op: IfOp) -> tuple[Block | None, Block | None] | None:
    """The branches of `op` that run after the `then` and after the `else` of `first`."""
    if op.condition is first.condition:
        return then_block(op), else_block(op)
    if negated(op.condition) is first.condition or negated(first.condition) is op.condition:
        return else_block(op), then_block(op)
    return None


def _create_merged(first: IfOp, op: IfOp, build: Rewriter) -> IfOp:
    """Create an `if` with the results of both, and empty regions."""
    build.fuse(first)
    merged = first.like(first.operands, [r.type for r in (*first.results, *op.results)])
    merged.location = build.location
    merged.set_regions([Region(), Region()])
    return build.insert(merged)


def _chain(
    region: Region, branch: Block | None, follower: Block | None, first: IfOp, build: Rewriter
) -> None:
    """Fill a region with a branch and the branch that runs after it."""
    if branch is None and follower is None:
        return
    target = build.add_block(region)
    passed: tuple[Value, ...] = ()
    if branch is not None:
        ends = exits(branch) or follower is None
        build.merge_blocks(branch, target)
        if ends:
            return
        last = terminator_of(target)
        passed = last.operands
        build.erase(last)
    assert follower is not None
    _substitute(follower, dict(zip(first.results, passed, strict=False)), build)
    build.merge_blocks(follower, target)
    last = terminator_of(target)
    if passed and isinstance(last, YieldOp):
        build.set_operands(last, (*passed, *last.operands))


def _substitute(block: Block, values: dict[Value, Value], build: Rewriter) -> None:
    """Replace uses of values inside a block."""
    if not values:
        return
    for member in block:
        for op in member.walk():
            for value in set(op.operands) & values.keys():
                op.replace_operand(value, values[value])
                build.touch(op)


RULES: Final[Rules] = (merge_adjacent_ifs,)
