"""Float arithmetic: exact computation on constants, and the few laws that hold exactly.

Signed zeros and NaNs count: `x + 0.0` is not `x`, since it turns -0.0 into 0.0. What approximates
has no single right result, and stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith import floating as arith
from tilewright.dialects.arith import folds as arith_folds
from tilewright.dialects.arith.float_folds import neutral
from tilewright.dialects.arith.literals import elementwise, splat_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.attributes import RoundingMode
from tilewright.dialects.nv_tileaa.floating import (
    AbsFOp,
    AddFOp,
    CeilOp,
    ClampFOp,
    CmpFOp,
    DivFOp,
    FloatExtremum,
    FloorOp,
    FmaOp,
    MaxFOp,
    MinFOp,
    MulFOp,
    NegFOp,
    RemFOp,
    RoundedBinaryFloat,
    RoundedFloat,
    SqrtOp,
    SubFOp,
    UnaryFloat,
)
from tilewright.ir.types import FloatType
from tilewright.support.floats import FORMATS, FloatFormat, Rounding
from tilewright.support.numerics import floating

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.rules import Constants, Folded, Folds

ROUNDINGS: Final = {
    RoundingMode.NEAREST_EVEN: Rounding.NEAREST_EVEN,
    RoundingMode.ZERO: Rounding.ZERO,
    RoundingMode.NEGATIVE_INF: Rounding.NEGATIVE_INF,
    RoundingMode.POSITIVE_INF: Rounding.POSITIVE_INF,
    RoundingMode.NEAREST_AWAY: Rounding.NEAREST_AWAY,
}
"""The modes that define a result; `approx` and `full` leave a choice."""

_TWINS: Final[dict[type[Operation], type[Operation]]] = {
    AddFOp: arith.AddFOp,
    SubFOp: arith.SubFOp,
    MulFOp: arith.MulFOp,
    DivFOp: arith.DivFOp,
}

_ROUNDED: Final[dict[type[Operation], Callable[..., int]]] = {
    AddFOp: floating.add,
    SubFOp: floating.subtract,
    MulFOp: floating.multiply,
    DivFOp: floating.divide,
    FmaOp: floating.fma,
    SqrtOp: floating.sqrt,
}

_UNARY: Final[dict[type[Operation], Callable[[int, FloatFormat], int]]] = {
    AbsFOp: floating.absolute,
    NegFOp: floating.negate,
    CeilOp: floating.ceil,
    FloorOp: floating.floor,
}


def format_of(type: Type) -> FloatFormat:
    """What the bits of the elements of a float tile mean."""
    element = element_of(type)
    assert isinstance(element, FloatType)
    return FORMATS[element.format]


def fold_rounded(op: RoundedFloat, constants: Constants) -> Folded:
    """Compute on constants, with one rounding."""
    rounding = ROUNDINGS.get(op.rounding_mode)
    if None in constants or rounding is None or "afn" in op.fastmath:
        return None
    format, flush = format_of(op.result.type), op.flush_to_zero
    function = _ROUNDED[type(op)]

    def compute(*operands: int) -> int:
        return function(*operands, format, rounding, flush=flush)

    return elementwise(compute, op.result.type, constants)


def fold_basic(op: RoundedBinaryFloat, constants: Constants) -> Folded:
    """Compute on constants; `x * 1.0`, `x / 1.0`, `x - 0.0` and `x + -0.0` are `x`."""
    rounding = ROUNDINGS.get(op.rounding_mode)
    if constants == (None, None) or rounding is None:
        return None
    without = neutral(_TWINS[type(op)], format_of(op.result.type), rounding)
    if not op.flush_to_zero:
        if splat_of(constants[1]) == without:
            return op.lhs
        if isinstance(op, AddFOp | MulFOp) and splat_of(constants[0]) == without:
            return op.rhs
    return fold_rounded(op, constants)


def fold_extremum(op: FloatExtremum, constants: Constants) -> Folded:
    """Compute on constants; the larger of `x` and `x` is `x`, unless subnormals are flushed."""
    flush = op.flush_to_zero
    if op.lhs is op.rhs and not flush:
        return op.lhs
    if None in constants:
        return None
    format, propagate = format_of(op.result.type), op.propagate_nan
    extreme = floating.maximum if isinstance(op, MaxFOp) else floating.minimum
    return elementwise(
        lambda a, b: extreme(a, b, format, propagate_nan=propagate, flush=flush),
        op.result.type,
        constants,
    )


def fold_clamp(op: ClampFOp, constants: Constants) -> Folded:
    """Compute on constants."""
    if None in constants:
        return None
    format, propagate = format_of(op.result.type), op.propagate_nan

    def clamp(a: int, lower: int, upper: int) -> int:
        above = floating.maximum(a, lower, format, propagate_nan=propagate)
        return floating.minimum(above, upper, format, propagate_nan=propagate)

    return elementwise(clamp, op.result.type, constants)


def fold_remainder(op: RemFOp, constants: Constants) -> Folded:
    """Compute on constants: the remainder is exact."""
    if None in constants:
        return None
    format = format_of(op.result.type)
    return elementwise(lambda a, b: floating.remainder(a, b, format), op.result.type, constants)


_SETTLED: Final[dict[type[Operation], tuple[type[Operation], ...]]] = {
    AbsFOp: (AbsFOp,),
    CeilOp: (CeilOp, FloorOp),
    FloorOp: (CeilOp, FloorOp),
}
"""The operations on whose results another one does nothing more."""


def fold_unary(op: UnaryFloat, constants: Constants) -> Folded:
    """Compute on constants; `-(-x)` is `x`, and what is rounded or positive already stays."""
    source = op.source.defining_op()
    if isinstance(op, NegFOp) and isinstance(source, NegFOp):
        return source.source
    if source is not None and isinstance(source, _SETTLED.get(type(op), ())):
        return op.source
    if None in constants:
        return None
    compute, format = _UNARY[type(op)], format_of(op.result.type)
    return elementwise(lambda a: compute(a, format), op.result.type, constants)


def fold_comparison(op: CmpFOp, constants: Constants) -> Folded:
    """Compare constants."""
    return arith_folds.fold_floats(op.predicate, op, constants)


FOLDS: Final[Folds] = {
    **dict.fromkeys(_TWINS, fold_basic),
    **dict.fromkeys((FmaOp, SqrtOp), fold_rounded),
    **dict.fromkeys((MaxFOp, MinFOp), fold_extremum),
    **dict.fromkeys(_UNARY, fold_unary),
    ClampFOp: fold_clamp,
    RemFOp: fold_remainder,
    CmpFOp: fold_comparison,
}
