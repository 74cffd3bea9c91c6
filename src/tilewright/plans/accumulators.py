"""wgmma accumulators in registers: whether another operation reads one while wgmma updates it.

ptxas takes a value computed from a register after an in-place wgmma for equal to one computed from
it before, if everything else is the same (`wgmma-in-place` of docs/ptxas-defects.md). So an
accumulator that another operation reads must not share its registers with the next wgmma.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.rules import constant_of
from tilewright.ir.values import BlockArgument

if TYPE_CHECKING:
    from tilewright.analysis.ranges import Ranges
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def is_read_elsewhere(op: DotOp) -> bool:
    """Whether another operation than the dot reads, or may read, its initial accumulator."""
    if _has_others(op.c, op):
        return True
    loop = _loop_of(op.c)
    if loop is None:
        producer = op.c.defining_op()
        return not isinstance(producer, DotOp) and constant_of(op.c) is None
    last = loop.body.block.last
    assert last is not None
    passed = last.operands[op.c.index - 1]
    return not isinstance(passed.defining_op(), DotOp) or _has_others(passed, last)


def is_carried(op: DotOp, ranges: Ranges) -> bool:
    """Whether a dot accumulates over the iterations of a loop that stays a loop.

    Then each element has a register of its own. Elsewhere several may hold the same constant: LLVM
    replaces a loop that runs at most once by its body, which it may see from bounds that are not
    constant, and ptxas unrolls loops whose trip count is known.
    """
    loop = _loop_of(op.c)
    if loop is None or constant_of(loop.upper_bound) is not None:
        return False
    bounds = (loop.lower_bound, loop.step, loop.upper_bound)
    first, step, end = (ranges.of(value).within(not loop.unsigned_cmp) for value in bounds)
    is_known = first[0] == first[1] and step[0] == step[1]
    return is_known and end[1] > first[0] + step[0]


def _has_others(value: Value, user: Operation) -> bool:
    return any(each is not user for each in value.users)


def _loop_of(value: Value) -> ForOp | None:
    """The loop that carries a value from iteration to iteration."""
    loop = value.owner.parent_op if isinstance(value, BlockArgument) else None
    return loop if isinstance(loop, ForOp) and value in loop.carried else None
