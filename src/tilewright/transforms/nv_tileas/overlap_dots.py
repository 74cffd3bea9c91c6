"""Dots that run while other operations of their block do.

A dot by wgmma is asynchronous: threads need its accumulator only at its first use. Where another
dot follows before that, as in a loop that `rotate-dots` has rotated, both are issued, and each is
waited for right before its first use. What lies between them then runs beside the second dot.

Dots whose accumulators are only carried to the next iteration may be in flight until then:
`fitting_pipelines` finds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileas.attributes import in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp, async_instruction
from tilewright.dialects.scf import ForOp, IfOp, WhileOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.plans.mma import is_promoted

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value


def overlap_dots(block: Block) -> None:
    """Issue the dots of a block, and wait for each before its first use, if none uses another."""
    ops = list(block)
    numbers = {op: number for number, op in enumerate(ops)}
    dots = [op for op in ops if isinstance(op, DotOp)]
    # Other dots wait for all that were issued before them.
    if len(dots) < 2 or not all(map(_can_overlap, dots)):
        return
    uses = [_first_use(dot, numbers) for dot in dots]
    first, last = numbers[dots[0]], max(uses)
    # A wait counts the dots that were issued after its own: all of them must have been.
    if min(uses) <= numbers[dots[-1]] or min(uses) == len(ops) - 1:
        return
    if any(map(_is_control_flow, ops[first:last])):
        return
    for number, (dot, use) in enumerate(zip(dots, uses, strict=True)):
        _wait_late(dot, ops[use], pending=len(dots) - 1 - number)


def _can_overlap(dot: DotOp) -> bool:
    """Whether a dot runs asynchronously, waits for itself only, and updates a tile of its own."""
    instruction = async_instruction(dot)
    if instruction is None or dot.asynchronous or is_promoted(dot, instruction):
        return False
    return dot.c.has_one_use or dot.c.defining_op() is not None


def _first_use(dot: DotOp, numbers: dict[Operation, int]) -> int:
    """The number of the first operation of the block that uses a dot, or contains its user."""
    users = [
        number
        for user in dot.result.users
        for op in (user, *user.ancestors())
        if (number := numbers.get(op)) is not None
    ]
    return min(users, default=0)


def _is_control_flow(op: Operation) -> bool:
    """Whether an operation branches: ptxas waits for all wgmmas there."""
    return isinstance(op, ForOp | IfOp | WhileOp)


def _wait_late(dot: DotOp, use: Operation, pending: int) -> None:
    """Wait for a dot before an operation of its block."""
    dot.asynchronous = True
    users = list(dot.result.users)
    build = Builder(InsertPoint.before(use), dot.location)
    held: list[Value] = [] if in_shared_memory(dot.a) else [dot.a]
    waited = build.create(
        DotWaitOp, accumulator=dot.result, held=held, pending=pending, late=pending == 0
    ).result
    for user in users:
        user.replace_operand(dot.result, waited)
