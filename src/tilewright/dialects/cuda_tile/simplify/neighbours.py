"""The rule that makes one `if` of two on the same condition that follow each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.control_flow import IfOp, YieldOp
from tilewright.dialects.cuda_tile.simplify.regions import else_block, exits, leaving, then_block
from tilewright.dialects.cuda_tile.simplify.selection import negated
from tilewright.ir.operation import Block, Region
from tilewright.ir.rules import rule

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules
    from tilewright.ir.values import Value


@rule(IfOp)
def neighbours(op: IfOp, build: Rewriter) -> Replacement:
    """`if c { A } else { B }; if c { C } else { D }` becomes `if c { A; C } else { B; D }`.

    The second one may ask for `!c`. Where the first one exits, the second one does not run.
    """
    first = op.prev
    if not isinstance(first, IfOp):
        return None
    followers = _followers(first, op)
    if followers is None:
        return None
    made = _united(first, op, build)
    branches = (then_block(first), else_block(first))
    for region, branch, follower in zip(made.regions, branches, followers, strict=True):
        _chain(region, branch, follower, first, build)
    count = len(first.results)
    build.replace(first, *made.results[:count])
    return made.results[count:]


def _followers(first: IfOp, op: IfOp) -> tuple[Block | None, Block | None] | None:
    """Which branch of `op` runs after the `then` and which after the `else` of another `if`."""
    if op.condition is first.condition:
        return then_block(op), else_block(op)
    if negated(op.condition) is first.condition or negated(first.condition) is op.condition:
        return else_block(op), then_block(op)
    return None


def _united(first: IfOp, op: IfOp, build: Rewriter) -> IfOp:
    """An `if` without branches yet, with the results of both."""
    build.fuse(first)
    made = first.like(first.operands, [r.type for r in (*first.results, *op.results)])
    made.location = build.location
    made.set_regions([Region(), Region()])
    return build.insert(made)


def _chain(
    region: Region, branch: Block | None, follower: Block | None, first: IfOp, build: Rewriter
) -> None:
    """Fill a region with a branch and what runs after it."""
    if branch is None and follower is None:
        return
    target = build.add_block(region)
    passed: tuple[Value, ...] = ()
    if branch is not None:
        ends = exits(branch) or follower is None
        build.merge_blocks(branch, target)
        if ends:
            return
        last = leaving(target)
        passed = last.operands
        build.erase(last)
    assert follower is not None
    _substitute(follower, dict(zip(first.results, passed, strict=False)), build)
    build.merge_blocks(follower, target)
    last = leaving(target)
    if passed and isinstance(last, YieldOp):
        build.set_operands(last, (*passed, *last.operands))


def _substitute(block: Block, values: dict[Value, Value], build: Rewriter) -> None:
    """Let all inside a block use other values."""
    if not values:
        return
    for member in block:
        for op in member.walk():
            for value in set(op.operands) & values.keys():
                op.replace_operand(value, values[value])
                build.touch(op)


RULES: Final[Rules] = (neighbours,)
