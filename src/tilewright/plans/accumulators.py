"""Sums of products in registers: who else reads them, while products change them in place.

ptxas takes what is computed of a register behind a product of warpgroups for the same as what was
computed of it before, if the product works in place and everything else is the same. So registers
that something else reads must not be those of the next product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.rules import constant_of
from tilewright.ir.values import BlockArgument

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def is_read_elsewhere(op: DotOp) -> bool:
    """Whether something beside a product reads the sums that it starts with, or may do so."""
    if _has_others(op.c, op):
        return True
    loop = _loop_of(op.c)
    if loop is None:
        made = op.c.defining_op()
        return not isinstance(made, DotOp) and constant_of(op.c) is None
    last = loop.body.block.last
    assert last is not None
    passed = last.operands[op.c.index - 1]
    return not isinstance(passed.defining_op(), DotOp) or _has_others(passed, last)


def is_carried(op: DotOp) -> bool:
    """Whether the sums of a product come from the round before, in a loop that stays one.

    Then each has a register of its own; elsewhere they may be the same number.
    """
    loop = _loop_of(op.c)
    return loop is not None and constant_of(loop.upper_bound) is None


def _has_others(value: Value, user: Operation) -> bool:
    return any(each is not user for each in value.users)


def _loop_of(value: Value) -> ForOp | None:
    """The loop that carries a value from round to round."""
    loop = value.owner.parent_op if isinstance(value, BlockArgument) else None
    return loop if isinstance(loop, ForOp) and value in loop.carried else None
