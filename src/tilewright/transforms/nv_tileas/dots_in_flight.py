"""The dots of a loop that may be in flight while the next iteration starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileas.attributes import in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp, async_instruction
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp, Rearrangement
from tilewright.dialects.scf import YieldOp
from tilewright.plans.mma import is_promoted
from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad

if TYPE_CHECKING:
    from tilewright.dialects.scf import ForOp
    from tilewright.ir.values import BlockArgument, Value
    from tilewright.transforms.nv_tileas.pipelined_loads import StagePlans


def dots_in_flight(loop: ForOp, plans: StagePlans) -> list[DotOp]:
    """The dots of a loop, if all of them may be in flight while the next iteration starts."""
    dots = [op for op in loop.body.walk() if isinstance(op, DotOp) and op.atom.asynchronous]
    chained = {dot for argument in loop.carried for dot in _accumulating_dots(loop, argument)}
    if not all(dot in chained and _may_overlap(dot, loop, plans) for dot in dots):
        return []
    return dots


def _accumulating_dots(loop: ForOp, carried: BlockArgument) -> list[DotOp]:
    """The dots that accumulate, one after the other, in a carried tile that nothing else reads."""
    dots: list[DotOp] = []
    value: Value = carried
    while True:
        users = list(value.users)
        if len(users) != 1 or users[0].parent is not loop.body.block:
            return []
        (user,) = users
        if isinstance(user, YieldOp):
            return dots if user.operands[carried.index - 1] is value else []
        if not isinstance(user, DotOp) or user.c is not value:
            return []
        dots.append(user)
        value = user.result


def _may_overlap(dot: DotOp, loop: ForOp, plans: StagePlans) -> bool:
    """Whether the accumulators of a dot are not promoted, and stages hold A and B."""
    instruction = async_instruction(dot)
    if instruction is None or is_promoted(dot, instruction):
        return False
    return all(_is_staged(operand, loop, plans) for operand in (dot.a, dot.b))


def _is_staged(operand: Value, loop: ForOp, plans: StagePlans) -> bool:
    """Whether an operand is in a stage of the pipeline, or in memory that the loop only reads."""
    if not operand.is_inside(loop):
        return in_shared_memory(operand)
    op = operand.defining_op()
    while isinstance(op, ConvertLayoutOp | Rearrangement):
        op = op.source.defining_op()
    if not isinstance(op, TileLoad) or op not in plans:
        return False
    return any(use.convert.result is operand for use in plans[op].uses)
