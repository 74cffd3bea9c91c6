"""Structured control flow: the form without early exits, and the parts of its loops.

A program is structured if control leaves regions only at their end:

* both branches of an `if` end in `yield`;
* the body of a `for` ends in `continue`, that of an entry in `return`;
* the body of a `loop` is a *while*, which has one exit, in an `if` of its own that does nothing
  else:

      %results = loop iter_values(%carried = %initial) : ... {
        before                      // runs at least once
        if %stop {                  // a scalar i1
          break %left : ...         // the only operation here; there is no else branch
        }
        after                       // runs unless the loop stops
        continue %next : ...
      }

`before` and `after` are structured themselves, and either may be empty. This is

      %results, %_ = scf.while (%carried = %initial) {
        before
        %go = not %stop
        scf.condition(%go) %left, %captured
      } do {
        ^(%_, %captured):
        after
        scf.yield %next
      }

where `%captured` are the values of `before`, and the loop-carried ones, that `after` and `%next`
use (`While.captured`). None of them is a view, which no loop can carry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.dialects.cuda_tile.types import TensorViewType, ViewType

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value


class While:
    """The parts of a loop with one exit."""

    __slots__ = ("again", "leave", "loop", "test")

    def __init__(self, loop: LoopOp, test: IfOp, leave: BreakOp, again: ContinueOp) -> None:
        self.loop = loop
        self.test = test
        self.leave = leave
        self.again = again

    @property
    def stop(self) -> Value:
        """The exit condition."""
        return self.test.condition

    @property
    def left(self) -> Sequence[Value]:
        """The operands of `break`: the results of the loop."""
        return self.leave.operands

    @property
    def next(self) -> Sequence[Value]:
        """The operands of `continue`: the loop-carried values of the next iteration."""
        return self.again.operands

    def before(self) -> Iterator[Operation]:
        """The operations before the exit test."""
        for op in self.loop.body.block:
            if op is self.test:
                return
            yield op

    def after(self) -> Iterator[Operation]:
        """The operations after the exit test, without the `continue`."""
        op = self.test.next
        while op is not None and op is not self.again:
            yield op
            op = op.next

    def captured(self) -> list[Value]:
        """The values defined before the exit test and used after it, in order of definition."""
        defined: list[Value] = list(self.loop.carried)
        for op in self.before():
            defined += op.results
        used = {value for op in self.after() for inner in op.walk() for value in inner.operands}
        used.update(self.next)
        return [value for value in defined if value in used]


def while_of(loop: LoopOp) -> While | None:
    """The parts of a loop whose only exit is a test in its body, or `None`."""
    body = loop.body.block
    again = body.last
    tests = [op for op in body if isinstance(op, IfOp) and _only_breaks(op)]
    if len(tests) != 1 or not isinstance(again, ContinueOp):
        return None
    leave = tests[0].then_region.block.last
    assert isinstance(leave, BreakOp)
    return While(loop, tests[0], leave, again)


def _only_breaks(op: IfOp) -> bool:
    first = op.then_region.block.first
    return isinstance(first, BreakOp) and not op.results and not op.else_region.blocks


def is_view(value: Value) -> bool:
    """Whether a value is a view, which exists at compile time only and cannot be carried."""
    return isinstance(value.type, TensorViewType | ViewType)


def is_structured(op: Operation) -> bool:
    """Whether an operation and all operations inside it are structured."""
    return all(_is_structured(inner) for inner in op.walk())


def _is_structured(op: Operation) -> bool:
    match op:
        case LoopOp():
            parts = while_of(op)
            return parts is not None and not any(map(is_view, parts.captured()))
        case BreakOp():
            return _leaves_while(op)
        case ContinueOp():
            return isinstance(op.parent_op, ForOp | LoopOp)
        case ReturnOp():
            return isinstance(op.parent_op, EntryOp)
        case ForOp():
            return isinstance(op.body.block.last, ContinueOp)
        case IfOp():
            return _leaves_while(op.then_region.block.last) or all(map(_yields, _branches(op)))
        case _:
            return True


def _branches(op: IfOp) -> Iterator[Block]:
    return (block for region in op.regions for block in region.blocks)


def _yields(block: Block) -> bool:
    return isinstance(block.last, YieldOp)


def _leaves_while(op: Operation | None) -> bool:
    """Whether an operation is the exit of a structured loop."""
    test = op.parent_op if isinstance(op, BreakOp) else None
    loop = test.parent_op if isinstance(test, IfOp) else None
    if not isinstance(loop, LoopOp):
        return False
    parts = while_of(loop)
    return parts is not None and parts.leave is op
