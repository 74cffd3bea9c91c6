"""Folds of float arithmetic: exact computation on constants, and the few laws that hold exactly.

Signed zeros and NaNs count: `x + 0.0` is not `x`, since it turns -0.0 into 0.0. All NaNs are one
value. What approximates has no single right result, and stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.dialects.cuda_tile.floating import (
    AbsFOp,
    AddFOp,
    CeilOp,
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
from tilewright.dialects.cuda_tile.simplify.constants import (
    elementwise,
    number,
    splat_of,
)
from tilewright.ir.rules import rule
from tilewright.support import floats
from tilewright.support.floats import FORMATS, Exact, FloatFormat, encode
from tilewright.support.numerics import floating

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules

ROUNDINGS: Final = {
    Rounding.NEAREST_EVEN: floats.Rounding.NEAREST_EVEN,
    Rounding.ZERO: floats.Rounding.ZERO,
    Rounding.NEGATIVE_INF: floats.Rounding.NEGATIVE_INF,
    Rounding.POSITIVE_INF: floats.Rounding.POSITIVE_INF,
    Rounding.NEAREST_AWAY: floats.Rounding.NEAREST_AWAY,
}
"""The modes that define a result; `approx` and `full` leave a choice."""

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
    return FORMATS[number(type).spell()]


def _one(format: FloatFormat) -> int:
    return encode(Exact(False, 1, 0), format)


def fold_rounded(op: RoundedFloat, constants: Constants) -> Folded:
    """Compute on constants, with one rounding."""
    rounding = ROUNDINGS.get(op.rounding_mode)
    if None in constants or rounding is None:
        return None
    format, flush = format_of(op.result.type), op.flush_to_zero
    function = _ROUNDED[type(op)]

    def compute(*operands: int) -> int:
        return function(*operands, format, rounding, flush=flush)

    return elementwise(compute, op.result.type, constants)


def _neutral(op: RoundedBinaryFloat) -> int | None:
    """The right operand that leaves the left one as it is, zeros and their signs included."""
    if op.flush_to_zero or op.rounding_mode not in ROUNDINGS:
        return None
    format = format_of(op.result.type)
    if isinstance(op, MulFOp | DivFOp):
        return _one(format)
    # Zeros of unlike signs add up to 0.0, but to -0.0 when rounding down.
    adds = isinstance(op, AddFOp)
    return format.sign if adds != (op.rounding_mode is Rounding.NEGATIVE_INF) else 0


def fold_basic(op: RoundedBinaryFloat, constants: Constants) -> Folded:
    """Compute on constants; `x * 1.0`, `x / 1.0`, `x - 0.0` and `x + -0.0` are `x`."""
    if constants == (None, None):
        return None
    neutral = _neutral(op)
    if neutral is not None:
        if splat_of(constants[1]) == neutral:
            return op.lhs
        if isinstance(op, AddFOp | MulFOp) and splat_of(constants[0]) == neutral:
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


@rule(AddFOp)
def product_on_the_left(op: AddFOp, build: Rewriter) -> Replacement:
    """`c + a * b` becomes `a * b + c`: sums commute, and fusion looks for a product there."""
    if op.rhs.defined_by(MulFOp) is None or op.lhs.defined_by(MulFOp) is not None:
        return None
    build.set_operands(op, (op.rhs, op.lhs))
    return op


@rule(AbsFOp)
def magnitude_of_negation(op: AbsFOp, build: Rewriter) -> Replacement:
    """`|-x|` becomes `|x|`: the sign goes in any case."""
    if (negation := op.source.defined_by(NegFOp)) is None:
        return None
    build.set_operands(op, (negation.source,))
    return op


FOLDS: Final[Folds] = {
    **dict.fromkeys((AddFOp, SubFOp, MulFOp, DivFOp), fold_basic),
    **dict.fromkeys((FmaOp, SqrtOp), fold_rounded),
    **dict.fromkeys((MaxFOp, MinFOp), fold_extremum),
    **dict.fromkeys((AbsFOp, NegFOp, CeilOp, FloorOp), fold_unary),
    RemFOp: fold_remainder,
}
RULES: Final[Rules] = (product_on_the_left, magnitude_of_negation)
