"""Structuring of early exits: `dialects.cuda_tile.structured` describes the resulting form.

Operations after a branch that exits become part of the other branch, so that they run under the
same condition. Only if both branches may fall through, and one of them may also exit inside, a flag
records the exit:

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

from typing import TYPE_CHECKING

from tilewright.dialects.cuda_tile.control_flow import (
    BreakOp,
    ContinueOp,
    ForOp,
    IfOp,
    LoopOp,
    ReturnOp,
    YieldOp,
)
from tilewright.dialects.cuda_tile.core import ConstantOp
from tilewright.dialects.cuda_tile.memory import MakeTokenOp
from tilewright.dialects.cuda_tile.simplify.regions import (
    erase_after,
    inline,
    rebuild,
    terminator_of,
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
from tilewright.transforms.cuda_tile.exit_blocks import (
    close,
    exiting,
    finish,
    jumps_of,
    other_branch,
    settle,
)
from tilewright.transforms.cuda_tile.exit_frames import Frame, IterationFrame, LoopFrame

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


class StructureEarlyExits(Pass):
    """Let control leave every region at its terminator, but for one test in each loop."""

    name = "structure-early-exits"
    is_required = True

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

    Returns the last of the operations that replace it.
    """
    match op:
        case LoopOp():
            return _structure_loop(op)
        case ForOp() if exiting(op.body.block) is not None:
            close(op.body.block, IterationFrame(op), ContinueOp)
        case EntryOp() if exiting(op.body.block) is not None:
            close(op.body.block, Frame(), ReturnOp)
        case _:
            pass
    return op


def _structure_loop(op: LoopOp) -> Operation:
    frame = LoopFrame(op, list(jumps_of(op.body.block)))
    if frame.returns and not frame.has_return_flag:
        build = Rewriter(InsertPoint.after(op), frame.returns[0].location)
        erase_after(op, build)
        Rewriter(InsertPoint.after(op), build.location).create(ReturnOp)
    if while_of(op) is None or len(frame.jumps) > 2:
        op = _as_while(op, frame)
    _remake_views(op)
    return _return_after(op, frame) if frame.has_return_flag else op


def _return_after(op: LoopOp, frame: LoopFrame) -> IfOp:
    """Return after a loop whose flag says that the kernel returned."""
    build = Rewriter(InsertPoint.after(op), frame.returns[0].location)
    test = build.create(IfOp, condition=op.results[-1], types=())
    inside = Rewriter(InsertPoint.at_end(build.add_block(test.then_region)), build.location)
    inside.create(ReturnOp)
    return test


def _as_while(op: LoopOp, frame: LoopFrame) -> LoopOp:
    """Give a loop its one exit."""
    body = op.body.block
    branch = exiting(body)
    if branch is None or not settle(branch) or not _test_first(branch, frame):
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
    """The general form: the body ends with the values of all exits and the condition to stop."""
    stop, *values = finish(body, frame, 0)
    build = Rewriter(InsertPoint.at_end(body), frame.loop.location)
    left, again = frame.divided(values)
    _create_test(stop, left, build)
    build.create(ContinueOp, values=again)


def _create_test(stop: Value, left: list[Value], build: Rewriter) -> None:
    test = build.create(IfOp, condition=stop, types=())
    inside = Rewriter(InsertPoint.at_end(build.add_block(test.then_region)), build.location)
    inside.create(BreakOp, values=left)


def _test_first(op: IfOp, frame: LoopFrame) -> bool:
    """`if c { X; break } else { Y; continue }` is the test itself, followed by `Y`.

    One branch must exit at its terminator alone, and the other one only continue the loop.
    """
    for leave, stay in ((then_block(op), op.else_region.block), (other_branch(op), then_block(op))):
        ways = list(jumps_of(leave))
        if len(ways) != 1 or isinstance(ways[0], ContinueOp):
            continue
        if all(isinstance(jump, ContinueOp) for jump in jumps_of(stay)):
            _make_test(op, leave, stay, frame)
            return True
    return False


def _make_test(op: IfOp, leave: Block, stay: Block, frame: LoopFrame) -> None:
    body, last = op.parent, terminator_of(leave)
    assert body is not None
    build = Rewriter.at(op)
    stop = op.condition if leave is then_block(op) else negate(op.condition, build)
    close(stay, IterationFrame(frame.loop), ContinueOp)
    left = _values_left(stop, leave, frame, build)
    build.location = last.location
    _create_test(stop, left, build)
    end = terminator_of(stay)
    values = inline(stay, op, build)
    op.erase()
    build = Rewriter(InsertPoint.at_end(body), end.location)
    build.create(ContinueOp, values=values)


def _values_left(stop: Value, leave: Block, frame: LoopFrame, build: Rewriter) -> list[Value]:
    """The results of a loop when it stops, computed before the test."""
    last = terminator_of(leave)
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
    """Rematerialize views that are used on both sides of the test after it.

    Operations that create views have no side effects.
    """
    parts = while_of(op)
    assert parts is not None
    point = InsertPoint.after(parts.test)
    while views := [value for value in parts.captured() if is_view(value)]:
        source = views[-1].defining_op()
        assert source is not None
        copy = Rewriter(point).clone(source)
        point = InsertPoint.before(copy)
        later = {inner for rest in parts.after() for inner in rest.walk()}
        for user in tuple(views[-1].users):
            if user in later:
                user.replace_operand(views[-1], copy.results[views[-1].index])
