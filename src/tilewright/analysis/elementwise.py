"""Element-wise operations: all their tiles share one layout, and any layout will do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.aggregate import ReduceOp
from tilewright.dialects.nv_tileaa.conversion import FpToFpOp
from tilewright.dialects.nv_tileaa.memory import AddPtrOp
from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.shape import Rearrangement
from tilewright.ir.traits import ELEMENTWISE
from tilewright.ir.types import TensorType

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.target.arch import Arch

_UNIFORM: Final = (AddPtrOp, AssumeOp, ConstantOp)
"""Ops with one layout for all tiles, besides those that are element-wise by trait."""


def is_tile(value: Value) -> bool:
    """Whether a value is a tile, distributed over threads."""
    return isinstance(value.type, TensorType)


def is_elementwise(op: Operation) -> bool:
    """Whether all tiles of an operation share one layout, and any layout will do."""
    return ELEMENTWISE in op.traits or isinstance(op, _UNIFORM)


def is_streamed(tile: Value) -> bool:
    """Whether one reduction alone takes what is computed from a tile, element by element.

    The reduction takes each element as soon as it is computed, so registers hold few of them.
    """
    op = tile.defining_op()
    while op is not None and (is_elementwise(op) or isinstance(op, Rearrangement)):
        users = {user for result in op.results for user in result.users}
        user = users.pop() if len(users) == 1 else None
        if user is None or user.parent is not op.parent:
            return False
        if isinstance(user, ReduceOp):
            return True
        op = user
    return False


def instructions(op: Operation, arch: Arch) -> int:
    """How many instructions an element of an element-wise operation takes, roughly."""
    if not isinstance(op, FpToFpOp):
        return 1
    source, result = element_of(op.source.type), element_of(op.result.type)
    return arch.conversion_instructions(str(source), str(result))
