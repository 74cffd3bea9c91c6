"""Dots that run while other operations of their block do.

A dot by wgmma is asynchronous: threads need its accumulator only at its first use. Where another
dot follows before that, as in a loop that `rotate-dots` has rotated, both are issued, and each is
waited for right before its first use. What lies between them then runs beside the second dot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileas.attributes import Atom, in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp, wgmma_instruction
from tilewright.dialects.scf import ForOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.passes import Pass
from tilewright.plans.mma import is_promoted

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.support.diagnostics import Sink


class OverlapDots(Pass):
    """Issue dots that follow each other, and wait for each before its first use."""

    name = "overlap-dots"

    def run(self, op: Operation, sink: Sink) -> None:
        for loop in [inner for inner in op.walk() if isinstance(inner, ForOp)]:
            _overlap(loop.body.block)


def _overlap(block: Block) -> None:
    """Let each run of dots that do not use each other overlap with what follows."""
    ops = list(block)
    numbers = {op: number for number, op in enumerate(ops)}
    dots = [op for op in ops if isinstance(op, DotOp)]
    # Other dots wait for all that were issued before them.
    if len(dots) < 2 or not all(_can_overlap(dot) for dot in dots):
        return
    uses = [_first_use(dot, numbers) for dot in dots]
    issued = [numbers[dot] for dot in dots]
    first, last = uses[0], uses[-1]
    if first is None or last is None or first < issued[-1]:
        return
    if any(op.regions for op in ops[issued[0] : last] if _branches(op)):
        return
    for number, (dot, use) in enumerate(zip(dots, uses, strict=True)):
        assert use is not None
        _wait_late(dot, ops[use], pending=len(dots) - 1 - number)


def _can_overlap(dot: DotOp) -> bool:
    """Whether a dot is one of wgmma, waits for itself only, and updates a tile of its own."""
    instruction = wgmma_instruction(dot) if dot.atom is Atom.WGMMA else None
    if instruction is None or dot.asynchronous or is_promoted(dot, instruction):
        return False
    return dot.c.has_one_use or dot.c.defining_op() is not None


def _first_use(dot: DotOp, numbers: dict[Operation, int]) -> int | None:
    """The number of the first operation of the block that uses a dot, itself or inside of it."""
    uses = [
        numbers.get(next((op for op in (user, *user.ancestors()) if op in numbers), user))
        for user in dot.result.users
    ]
    return min((use for use in uses if use is not None), default=None)


def _branches(op: Operation) -> bool:
    """Whether an operation is control flow, in which ptxas would wait for all wgmmas."""
    return op.name.startswith("scf.")


def _wait_late(dot: DotOp, use: Operation, pending: int) -> None:
    """Wait for a dot before an operation of its block."""
    dot.asynchronous = True
    users = list(dot.result.users)
    build = Builder(InsertPoint.before(use), dot.location)
    held = [] if in_shared_memory(dot.a) else [dot.a]
    waited = build.create(
        DotWaitOp, accumulator=dot.result, held=held, pending=pending, late=pending == 0
    ).result
    for user in users:
        user.replace_operand(dot.result, waited)
