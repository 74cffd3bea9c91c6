"""The order of memory operations that the tokens of a program define."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.cuda_tile.control_flow import (
    BreakOp,
    ContinueOp,
    ForOp,
    IfOp,
    LoopOp,
    YieldOp,
)
from tilewright.dialects.cuda_tile.types import TOKEN
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.operation import Operation
from tilewright.ir.types import I64
from tilewright.ir.values import Value

TAG = "test.tag"


def tag(root: Operation) -> None:
    """Number the operations that tokens order; copies that passes make keep the number."""
    ordered = [op for op in root.walk() if op.name.endswith("_tko")]
    for number, op in enumerate(ordered):
        op.attributes[TAG] = IntegerAttr(number, I64)


def tags(root: Operation) -> set[int]:
    """The numbers of the operations that are there."""
    attributes = (op.attributes.get(TAG) for op in root.walk())
    return {number.value for number in attributes if isinstance(number, IntegerAttr)}


def order(root: Operation) -> set[tuple[int, int]]:
    """All pairs of numbered operations of which a path of tokens leads from one to the other."""
    return {
        (start.value, number)
        for op in root.walk()
        if isinstance(start := op.attributes.get(TAG), IntegerAttr)
        for number in _reached(op)
    }


def _reached(start: Operation) -> Iterator[int]:
    """The numbered operations that a token of one can get to."""
    seen: set[Value] = set()
    stack: list[Value] = [result for result in start.results if result.type is TOKEN]
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        for user, index in value.uses():
            number = user.attributes.get(TAG)
            if isinstance(number, IntegerAttr):
                yield number.value
            stack += [next for next in _passed_on(user, index) if next.type is TOKEN]


def _passed_on(user: Operation, index: int) -> list[Value]:
    """The values that an operand of an operation gets to."""
    match user:
        case YieldOp():
            parent = user.parent_op
            return [parent.results[index]] if isinstance(parent, IfOp) else []
        case BreakOp() | ContinueOp():
            return _jump(user, index)
        case ForOp():
            at = index - 3
            return [user.carried[at], user.results[at]]
        case LoopOp():
            return [user.carried[index]]
        case _:
            return list(user.results)


def _jump(jump: Operation, index: int) -> list[Value]:
    loop = next(op for op in jump.ancestors() if isinstance(op, ForOp | LoopOp))
    if isinstance(jump, BreakOp):
        return [loop.results[index]]
    carried: list[Value] = [loop.carried[index]]
    return [*carried, loop.results[index]] if isinstance(loop, ForOp) else carried
