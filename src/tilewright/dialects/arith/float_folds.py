"""Folds of float arithmetic: computation on constants, rounded once, and identity operands.

The target implements IEEE 754 rounding and keeps subnormals; fast-math flags only relax this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.attributes import RoundingMode
from tilewright.dialects.arith.floating import (
    AddFOp,
    BinaryFloat,
    DivFOp,
    MaximumFOp,
    MaxNumFOp,
    MinimumFOp,
    MinNumFOp,
    MulFOp,
    NegFOp,
    RemFOp,
    RoundedBinaryFloat,
    SubFOp,
)
from tilewright.dialects.arith.literals import elementwise, format_of, splat_of
from tilewright.dialects.folding.floats import right_identity
from tilewright.support.floats import FloatFormat, Rounding
from tilewright.support.numerics import floating

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.rules import Constants, Folded, Folds

ROUNDINGS: Final = {
    None: Rounding.NEAREST_EVEN,
    RoundingMode.TO_NEAREST_EVEN: Rounding.NEAREST_EVEN,
    RoundingMode.DOWNWARD: Rounding.NEGATIVE_INF,
    RoundingMode.UPWARD: Rounding.POSITIVE_INF,
    RoundingMode.TOWARD_ZERO: Rounding.ZERO,
    RoundingMode.TO_NEAREST_AWAY: Rounding.NEAREST_AWAY,
}

ROUNDED: Final[dict[type[Operation], Callable[..., int]]] = {
    AddFOp: floating.add,
    SubFOp: floating.subtract,
    MulFOp: floating.multiply,
    DivFOp: floating.divide,
}

_EXACT: Final[dict[type[Operation], Callable[[int, int, FloatFormat], int]]] = {
    RemFOp: floating.remainder,
    MaximumFOp: lambda a, b, format: floating.maximum(a, b, format, propagate_nan=True),
    MinimumFOp: lambda a, b, format: floating.minimum(a, b, format, propagate_nan=True),
    MaxNumFOp: floating.maximum,
    MinNumFOp: floating.minimum,
}


def fold_binary(op: BinaryFloat, constants: Constants) -> Folded:
    """Compute on constants; `x * 1`, `x / 1`, `x + -0` and `x - 0` are `x`."""
    format = format_of(op.result.type)
    if format is None or not format.signed or format.width <= 8:
        return None
    rounding = ROUNDINGS[op.rounding if isinstance(op, RoundedBinaryFloat) else None]
    if isinstance(op, RoundedBinaryFloat):
        compute, right = ROUNDED[type(op)], splat_of(constants[1])
        if right is not None and right == right_identity(compute, format, rounding):
            return op.lhs
        return elementwise(lambda a, b: compute(a, b, format, rounding), op.result.type, constants)
    exact = _EXACT[type(op)]
    return elementwise(lambda a, b: exact(a, b, format), op.result.type, constants)


def fold_negation(op: NegFOp, constants: Constants) -> Folded:
    """Compute on constants; `-(-x)` is `x`."""
    inner = op.operand.defined_by(NegFOp)
    if inner is not None:
        return inner.operand
    format = format_of(op.result.type)
    if format is None or not format.signed:
        return None
    return elementwise(lambda a: floating.negate(a, format), op.result.type, constants)


FLOAT_FOLDS: Final[Folds] = {
    **dict.fromkeys((*ROUNDED, *_EXACT), fold_binary),
    NegFOp: fold_negation,
}
