"""The operations that use a pipelined load once its tile is read from a stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.dialects.nv_tileas.attributes import CopyEngine
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.shape import Rearrangement
from tilewright.ir.operation import Operation
from tilewright.transforms.nv_tileas.rounded_loads import is_only_rounded, is_rounding

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilewright.ir.operation import Block
    from tilewright.transforms.nv_tileas.pipelined_loads import StagePlan, TileLoad


def stage_users(load: TileLoad, plan: StagePlan) -> set[Operation]:
    """The users of a load when its stage is read as planned, up to its dots.

    Fragments are read from the stage as late as a dot multiplies them: see `slice-dots`. What TMA
    copies for no dot is read until it is combined with another tile, such as scores with a bias.
    """
    users = _users(load, plan, is_elementwise)
    if plan.engine is CopyEngine.TMA and not any(isinstance(user, DotOp) for user in users):
        return _users(load, plan, _changes_one_tile)
    return users


def _changes_one_tile(op: Operation) -> bool:
    """Whether an element-wise operation takes a single tile."""
    return is_elementwise(op) and sum(map(is_tile, op.operands)) == 1


def _users(
    load: TileLoad, plan: StagePlan, is_followed: Callable[[Operation], bool]
) -> set[Operation]:
    """The users of a load, and of what some operations compute from it."""
    replaced: set[Operation] = set()
    for use in plan.uses:
        replaced.add(use.convert)
        for op in reversed(use.shape_ops):
            if all(user in replaced for user in op.result.users):
                replaced.add(op)
    is_rounded = plan.engine is CopyEngine.TMA and is_only_rounded(load.results[0])
    pending, users = [load.results[0]], set[Operation]()
    while pending:
        for user in pending.pop().users:
            if user in users:
                continue
            users.add(user)
            if is_rounded and is_rounding(user):
                replaced.add(user)
            if user in replaced or isinstance(user, Rearrangement) or is_followed(user):
                pending += user.results
    return users - replaced


def outermost(block: Block, op: Operation) -> Operation:
    """The operation of a block that is or contains another."""
    while op.parent is not block and op.parent_op is not None:
        op = op.parent_op
    return op
