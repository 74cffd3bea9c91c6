"""Early exits made structured: `dialects.cuda_tile.structured` describes the form that is left.

What follows a branch that exits moves into the other one, so that it runs when it did before.
Only where both branches may go on, and one of them may also exit somewhere inside, a flag tells
what happened:

    if %a {                             %left, ... = if %a {
      if %b {                             %l, ... = if %b { yield true } else { A; yield false }
        break                             yield %l
      }                          =>     } else {
      A                                   yield false
    }                                   }
    B                                   if %left { } else { B }

A loop that only tests and breaks keeps its shape: no flag, no value that is not its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.control_flow import (
    BreakOp,
    ContinueOp,
    ForOp,
    IfOp,
    LeavingOp,
    LoopOp,
    ReturnOp,
    YieldOp,
)
from tilewright.dialects.cuda_tile.core import ConstantOp
from tilewright.dialects.cuda_tile.memory import MakeTokenOp
from tilewright.dialects.cuda_tile.simplify.regions import (
    else_block,
    erase_behind,
    exits,
    inline,
    leaving,
    rebuild,
    refill,
    then_block,
)
from tilewright.dialects.cuda_tile.simplify.selection import negate
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.dialects.cuda_tile.structured import is_structured, is_view, while_of
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.builder import InsertPoint
from tilewright.ir.effects import is_pure
from tilewright.ir.operation import Block, Operation
from tilewright.ir.passes import Pass
from tilewright.ir.rewriter import Rewriter
from tilewright.support.diagnostics import Unsupported
from tilewright.transforms.cuda_tile.exit_frames import (
    BranchFrame,
    Frame,
    IterationFrame,
    LoopFrame,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

MAX_NESTING: Final = 96
"""How many exits may follow each other in one body: each nests what is behind it once more."""


class StructureEarlyExits(Pass):
    """Let control leave every region at its end alone, but for one test in each loop."""

    name = "structure-early-exits"

    def run(self, op: Operation, sink: Sink) -> None:
        if is_structured(op):
            return
        for region in op.regions:
            for block in region.blocks:
                _structure_block(block)


def _structure_block(block: Block) -> None:
    op = block.first
    while op is not None:
        for region in op.regions:
            for inner in region.blocks:
                _structure_block(inner)
        op = _structure(op).next


def _structure(op: Operation) -> Operation:
    """Make an operation structured whose regions hold no other loops that are not.

    Gives the last of the operations that stand for it.
    """
    match op:
        case LoopOp():
            return _structure_loop(op)
        case ForOp() if _exiting(op.body.block) is not None:
            _close(op.body.block, IterationFrame(op), ContinueOp)
        case EntryOp() if _exiting(op.body.block) is not None:
            _close(op.body.block, Frame(), ReturnOp)
        case _:
            pass
    return op


def _jumps(block: Block) -> Iterator[LeavingOp]:
    """Every way out of a block, but for a `yield` at its end."""
    if exits(block):
        yield leaving(block)
    for op in block:
        if isinstance(op, IfOp):
            yield from (jump for branch in _branches(op) for jump in _jumps(branch))


def _branches(op: IfOp) -> Iterator[Block]:
    return (block for region in op.regions for block in region.blocks)


def _exiting(block: Block) -> IfOp | None:
    """The first `if` in a block with a way out of the block."""
    for op in block:
        if isinstance(op, IfOp) and any(any(_jumps(branch)) for branch in _branches(op)):
            return op
    return None


def _close(block: Block, frame: Frame, end: type[LeavingOp], depth: int = 0) -> None:
    """Let a block have one end, of the kind given, that passes on what the frame wants."""
    location = leaving(block).location
    values = _finish(block, frame, depth)
    build = Rewriter(InsertPoint.at_end(block), location)
    build.create(end, values=values)


def _finish(block: Block, frame: Frame, depth: int) -> list[Value]:
    """Take the end off a block; gives what it passes on, whichever way it ends."""
    branch = _exiting(block)
    if branch is None:
        last = leaving(block)
        values = frame.passed(last, Rewriter.at(last))
        last.erase()
        return values
    if depth > MAX_NESTING:
        raise Unsupported(f"more than {MAX_NESTING} early exits in a row", branch.location)
    is_settled = _settle(branch)
    if not is_settled:
        branch = _split(branch, frame, depth)
    build = Rewriter.at(branch)
    made = rebuild(branch, branch.operands, frame.types, build)
    refill(made, branch, build)
    build.erase(branch)
    if is_settled:
        _close(then_block(made), frame, YieldOp, depth + 1)
    _close(made.else_region.block, frame, YieldOp, depth + 1)
    return list(made.results)


def _settle(op: IfOp) -> bool:
    """Let both branches of an exiting `if` exit, with nothing behind it, if that needs no copy.

    `if c { exit } rest` becomes `if c { exit } else { rest }`; the end of a block alone is copied
    into both.
    """
    other = _other(op)
    goes_on = [branch for branch in (then_block(op), other) if not exits(branch)]
    if len(goes_on) == 2 and not isinstance(op.next, LeavingOp):
        return False
    if not goes_on:
        erase_behind(op, Rewriter.at(op))
    elif len(goes_on) == 1:
        _move_behind(op, goes_on[0])
    else:
        _copy_end(op, goes_on)
    return True


def _other(op: IfOp) -> Block:
    """The `else` branch, made if it is not written."""
    otherwise = else_block(op)
    if otherwise is not None:
        return otherwise
    build = Rewriter(InsertPoint(Block()), op.location)
    block = build.add_block(op.else_region)
    build.point = InsertPoint.at_end(block)
    build.create(YieldOp)
    return block


def _move_behind(op: IfOp, branch: Block) -> None:
    """Move what follows an `if` to the end of one of its branches."""
    build = Rewriter.at(op)
    last = leaving(branch)
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
    """Let branches end as the block does that the `if` is the last of."""
    end = op.next
    assert end is not None
    for branch in branches:
        last = leaving(branch)
        values: dict[Value, Value] = dict(zip(op.results, last.operands, strict=True))
        last.erase()
        branch.append(end.clone(values))
    end.erase()


def _split(op: IfOp, frame: Frame, depth: int) -> IfOp:
    """Make two of an `if` both of whose branches may go on: what happens, and what follows.

    Gives the second: if the first left, it passes that on, and the rest is in its other branch.
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
        _close(branch, inner, YieldOp, depth + 1)
    build.point = InsertPoint.at_end(left)
    build.create(YieldOp, values=inner.outer_of(made))
    return follow


def _structure_loop(op: LoopOp) -> Operation:
    frame = LoopFrame(op, list(_jumps(op.body.block)))
    if frame.returns and not frame.tells:
        build = Rewriter(InsertPoint.behind(op), frame.returns[0].location)
        erase_behind(op, build)
        Rewriter(InsertPoint.behind(op), build.location).create(ReturnOp)
    if while_of(op) is None or len(frame.jumps) > 2:
        op = _as_while(op, frame)
    _remake_views(op)
    return _return_behind(op, frame) if frame.tells else op


def _return_behind(op: LoopOp, frame: LoopFrame) -> IfOp:
    """Return behind a loop that says that the kernel returned."""
    build = Rewriter(InsertPoint.behind(op), frame.returns[0].location)
    test = build.create(IfOp, condition=op.results[-1], types=())
    inside = Rewriter(InsertPoint.at_end(build.add_block(test.then_region)), build.location)
    inside.create(ReturnOp)
    return test


def _as_while(op: LoopOp, frame: LoopFrame) -> LoopOp:
    """Give a loop its one exit."""
    body = op.body.block
    branch = _exiting(body)
    if branch is None or not _settle(branch) or not _test_first(branch, frame):
        _test_last(body, frame)
    build = Rewriter.at(op)
    made = rebuild(op, op.operands, frame.result_types, build)
    target = made.body.block
    arguments = [target.add_argument(old.type, old.location) for old in body.args]
    build.merge_blocks(body, target, arguments)
    for old, new in zip(op.results, made.results, strict=False):
        build.replace_value(old, new)
    op.erase()
    return made


def _test_last(body: Block, frame: LoopFrame) -> None:
    """Any loop: all that happens comes out at the end of the body, and whether to stop."""
    stop, *values = _finish(body, frame, 0)
    build = Rewriter(InsertPoint.at_end(body), frame.loop.location)
    left, again = frame.divided(values)
    _create_test(stop, left, build)
    build.create(ContinueOp, values=again)


def _create_test(stop: Value, left: list[Value], build: Rewriter) -> None:
    test = build.create(IfOp, condition=stop, types=())
    inside = Rewriter(InsertPoint.at_end(build.add_block(test.then_region)), build.location)
    inside.create(BreakOp, values=left)


def _test_first(op: IfOp, frame: LoopFrame) -> bool:
    """`if c { X; break } else { Y; continue }` is the test itself, with `Y` behind it.

    That is so if one branch leaves at its end alone, and the other one only repeats the loop.
    """
    for leave, stay in ((then_block(op), op.else_region.block), (_other(op), then_block(op))):
        ways = list(_jumps(leave))
        if len(ways) != 1 or isinstance(ways[0], ContinueOp):
            continue
        if all(isinstance(jump, ContinueOp) for jump in _jumps(stay)):
            _make_test(op, leave, stay, frame)
            return True
    return False


def _make_test(op: IfOp, leave: Block, stay: Block, frame: LoopFrame) -> None:
    body, last = op.parent, leaving(leave)
    assert body is not None
    build = Rewriter.at(op)
    stop = op.condition if leave is then_block(op) else negate(op.condition, build)
    _close(stay, IterationFrame(frame.loop), ContinueOp)
    left = _values_left(stop, leave, frame, build)
    build.location = last.location
    _create_test(stop, left, build)
    end = leaving(stay)
    values = inline(stay, op, build)
    op.erase()
    build = Rewriter(InsertPoint.at_end(body), end.location)
    build.create(ContinueOp, values=values)


def _values_left(stop: Value, leave: Block, frame: LoopFrame, build: Rewriter) -> list[Value]:
    """What a loop passes on when it stops, computed in front of the test."""
    last = leaving(leave)
    if all(op is last or _is_cheap(op) for op in leave):
        values = frame.left(last, Rewriter.at(last))
        for op in leave:
            if op is not last:
                build.move(op, build.point)
        return values
    made = build.create(IfOp, condition=stop, types=frame.result_types)
    branch, otherwise = build.add_block(made.then_region), build.add_block(made.else_region)
    values = frame.left(last, Rewriter.at(last))
    last.erase()
    build.merge_blocks(leave, branch)
    Rewriter(InsertPoint.at_end(branch), last.location).create(YieldOp, values=values)
    inside = Rewriter(InsertPoint.at_end(otherwise), last.location)
    inside.create(YieldOp, values=frame.unused(frame.result_types, inside))
    return list(made.results)


def _is_cheap(op: Operation) -> bool:
    """Whether an operation may as well run in every iteration."""
    if isinstance(op, ConstantOp | MakeTokenOp):
        return True
    return is_pure(op) and not any(_has_extents(result.type) for result in op.results)


def _has_extents(type: Type) -> bool:
    return isinstance(type, TileType) and type.shape != ()


def _remake_views(op: LoopOp) -> None:
    """Make views that are used on both sides of the test once more behind it.

    Whatever makes a view has no effect.
    """
    parts = while_of(op)
    assert parts is not None
    behind = InsertPoint.behind(parts.test)
    while views := [value for value in parts.captured() if is_view(value)]:
        source = views[-1].defining_op()
        assert source is not None
        copy = Rewriter(behind).clone(source)
        behind = InsertPoint.in_front_of(copy)
        later = {inner for rest in parts.behind() for inner in rest.walk()}
        for user in tuple(views[-1].users):
            if user in later:
                user.replace_operand(views[-1], copy.results[views[-1].index])
