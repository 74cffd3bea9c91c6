"""Single-exit blocks: the operations after an exit become part of the branch that falls through.

A frame has the values that the terminator passes on; `structure_exits` has an example.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.control_flow import IfOp, RegionTerminatorOp, YieldOp
from tilewright.dialects.cuda_tile.simplify.regions import (
    else_block,
    erase_after,
    exits,
    rebuild,
    refill,
    terminator_of,
    then_block,
)
from tilewright.ir.builder import InsertPoint
from tilewright.ir.operation import Block, Operation
from tilewright.ir.rewriter import Rewriter
from tilewright.support.diagnostics import Unsupported
from tilewright.transforms.cuda_tile.exit_frames import BranchFrame, Frame

if TYPE_CHECKING:
    from tilewright.ir.values import Value

MAX_NESTING: Final = 96
"""How many exits may follow each other in one body: each nests the rest of it once more."""


def jumps_of(block: Block) -> Iterator[RegionTerminatorOp]:
    """Every way out of a block, but for a `yield` at its end."""
    if exits(block):
        yield terminator_of(block)
    for op in block:
        if isinstance(op, IfOp):
            yield from (jump for branch in _branches(op) for jump in jumps_of(branch))


def _branches(op: IfOp) -> Iterator[Block]:
    return (block for region in op.regions for block in region.blocks)


def exiting(block: Block) -> IfOp | None:
    """The first `if` in a block with a way out of the block."""
    for op in block:
        if isinstance(op, IfOp) and any(any(jumps_of(branch)) for branch in _branches(op)):
            return op
    return None


def close(block: Block, frame: Frame, end: type[RegionTerminatorOp], nesting: int = 0) -> None:
    """Give a block one terminator, of a given class, that passes on the values of the frame."""
    location = terminator_of(block).location
    values = finish(block, frame, nesting)
    build = Rewriter(InsertPoint.at_end(block), location)
    build.create(end, values=values)


def finish(block: Block, frame: Frame, nesting: int) -> list[Value]:
    """Erase the terminator of a block; returns the values passed on, whichever exit is taken."""
    branch = exiting(block)
    if branch is None:
        last = terminator_of(block)
        values = frame.passed(last, Rewriter.at(last))
        last.erase()
        return values
    if nesting > MAX_NESTING:
        raise Unsupported(f"more than {MAX_NESTING} early exits in a row", branch.location)
    is_settled = settle(branch)
    if not is_settled:
        branch = _split(branch, frame, nesting)
    build = Rewriter.at(branch)
    made = rebuild(branch, branch.operands, frame.types, build)
    refill(made, branch, build)
    build.erase(branch)
    if is_settled:
        close(then_block(made), frame, YieldOp, nesting + 1)
    close(made.else_region.block, frame, YieldOp, nesting + 1)
    return list(made.results)


def settle(op: IfOp) -> bool:
    """Let both branches of an exiting `if` exit, with nothing after it, if that needs no copy.

    `if c { exit } rest` becomes `if c { exit } else { rest }`; the end of a block alone is copied
    into both.
    """
    other = other_branch(op)
    goes_on = [branch for branch in (then_block(op), other) if not exits(branch)]
    if len(goes_on) == 2 and not isinstance(op.next, RegionTerminatorOp):
        return False
    if not goes_on:
        erase_after(op, Rewriter.at(op))
    elif len(goes_on) == 1:
        _move_rest_into(op, goes_on[0])
    else:
        _copy_end(op, goes_on)
    return True


def other_branch(op: IfOp) -> Block:
    """The `else` branch, made if it is not written."""
    otherwise = else_block(op)
    if otherwise is not None:
        return otherwise
    build = Rewriter(InsertPoint(Block()), op.location)
    block = build.add_block(op.else_region)
    build.point = InsertPoint.at_end(block)
    build.create(YieldOp)
    return block


def _move_rest_into(op: IfOp, branch: Block) -> None:
    """Move what follows an `if` to the end of one of its branches."""
    build = Rewriter.at(op)
    last = terminator_of(branch)
    for result, value in zip(op.results, last.operands, strict=True):
        build.replace_value(result, value)
    build.erase(last)
    _move_rest(op, branch)


def _move_rest(op: Operation, block: Block) -> None:
    """Move what follows an operation to the end of a block."""
    rest = op.next
    while rest is not None:
        after = rest.next
        block.append(rest.detach())
        rest = after


def _copy_end(op: IfOp, branches: list[Block]) -> None:
    """Clone the terminator of the enclosing block into the branches of its last `if`."""
    end = op.next
    assert end is not None
    for branch in branches:
        last = terminator_of(branch)
        values: dict[Value, Value] = dict(zip(op.results, last.operands, strict=True))
        last.erase()
        branch.append(end.clone(values))
    end.erase()


def _split(op: IfOp, frame: Frame, nesting: int) -> IfOp:
    """Split an `if` both of whose branches may fall through into the `if` and its continuation.

    Returns the second: if the first exited, it passes that on; the rest is in its other branch.
    """
    build = Rewriter.at(op)
    inner = BranchFrame(frame, op)
    made = rebuild(op, op.operands, inner.types, build)
    refill(made, op, build)
    for old, new in zip(op.results, inner.results_of(made), strict=True):
        build.replace_value(old, new)
    follow = build.create(IfOp, condition=made.results[0], types=(), location=op.location)
    left, rest = build.add_block(follow.then_region), build.add_block(follow.else_region)
    _move_rest(op, rest)
    op.erase()
    for branch in _branches(made):
        close(branch, inner, YieldOp, nesting + 1)
    build.point = InsertPoint.at_end(left)
    build.create(YieldOp, values=inner.outer_of(made))
    return follow
