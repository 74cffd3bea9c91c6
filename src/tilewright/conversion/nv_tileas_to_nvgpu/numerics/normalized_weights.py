"""Divisions of weights by their sum whose results are rounded to f16, as at the end of a softmax.

A weight is an exponential, so it is not negative, and the sum of its line is no less than it. A sum
that is neither small nor large thus bounds its weights from above; and from weights that are too
small for an exact remainder f16 keeps nothing but zero. So their ranges need no checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.conversion import FpToFpOp
from tilewright.dialects.nv_tileaa.floating import AddFOp
from tilewright.dialects.nv_tileaa.functions import Exp2Op, ExpOp
from tilewright.dialects.nv_tileas.aggregate import ReduceOp
from tilewright.dialects.nv_tileas.shape import (
    BroadcastOp,
    ConvertLayoutOp,
    ExpandDimsOp,
    SplatOp,
)
from tilewright.ir.types import F16, F32

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.floating import DivFOp
    from tilewright.ir.values import Value


def are_normalized_weights(op: DivFOp) -> bool:
    """Whether exponentials in f32 are divided by the sum of their line, for f16."""
    is_rounded = all(
        isinstance(user, FpToFpOp) and element_of(user.result.type) is F16
        for user in op.result.users
    )
    if element_of(op.result.type) is not F32 or not is_rounded:
        return False
    weights = _converted(op.lhs)
    is_positive = isinstance(weights.defining_op(), ExpOp | Exp2Op)
    return is_positive and _is_sum_of_line(op.rhs, weights)


def _is_sum_of_line(divisor: Value, weights: Value) -> bool:
    """Whether each element of the divisor is the sum of the line that its weight lies in."""
    spread = _converted(divisor).defining_op()
    if isinstance(spread, SplatOp):
        reduction = _converted(spread.source).defining_op()
        return isinstance(reduction, ReduceOp) and _adds(reduction, weights)
    if not isinstance(spread, BroadcastOp):
        return False
    expanded = _converted(spread.source).defining_op()
    if not isinstance(expanded, ExpandDimsOp):
        return False
    reduction = _converted(expanded.source).defining_op()
    return (
        isinstance(reduction, ReduceOp)
        and reduction.axis == expanded.axis
        and _adds(reduction, weights)
    )


def _adds(reduce: ReduceOp, weights: Value) -> bool:
    """Whether a reduction adds weights."""
    if len(reduce.sources) != 1 or _converted(reduce.sources[0]) is not weights:
        return False
    body = reduce.body.block
    addition = body.first
    if not isinstance(addition, AddFOp) or addition.next is not body.last:
        return False
    return {addition.lhs, addition.rhs} == set(body.args)


def _converted(value: Value) -> Value:
    """The value before layout conversions."""
    while isinstance(op := value.defining_op(), ConvertLayoutOp):
        value = op.source
    return value
