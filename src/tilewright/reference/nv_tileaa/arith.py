"""arith: constants, and arithmetic with one operation for each signedness."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from tilewright.dialects.arith import casts, comparison, constant, floating, integer
from tilewright.dialects.arith.attributes import RoundingMode
from tilewright.dialects.arith.literals import pattern_of
from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.ir.attributes import DenseElementsAttr, element_bytes
from tilewright.ir.operation import Operation
from tilewright.reference import tile
from tilewright.reference.batch import Batch
from tilewright.reference.conversion import converted_to_integer
from tilewright.reference.evaluators import Run, binary, decoder, evaluator
from tilewright.reference.integer import (
    Modular,
    check_division,
    check_divisor,
    check_overflow,
    modular,
)
from tilewright.reference.numerics import conversion
from tilewright.reference.numerics import floating as floats
from tilewright.reference.numerics import integer as integers
from tilewright.reference.numerics.comparison import float_relation, integer_relation
from tilewright.reference.nv_tileaa.enums import OVERFLOW_FLAGS
from tilewright.reference.tile import Array, element, shape, wrap

ROUNDINGS: Final = {
    None: Rounding.NEAREST_EVEN,
    RoundingMode.TO_NEAREST_EVEN: Rounding.NEAREST_EVEN,
    RoundingMode.DOWNWARD: Rounding.NEGATIVE_INF,
    RoundingMode.UPWARD: Rounding.POSITIVE_INF,
    RoundingMode.TOWARD_ZERO: Rounding.ZERO,
    RoundingMode.TO_NEAREST_AWAY: Rounding.NEAREST_AWAY,
}


@decoder(constant.ConstantOp)
def constant_(op: constant.ConstantOp) -> Run:
    """A constant."""
    array = constant_array(op)
    return lambda at: array


def constant_array(op: constant.ConstantOp) -> Array:
    """The value of a constant."""
    value, kind = op.value, element(op.result)
    if isinstance(value, DenseElementsAttr):
        return tile.constant(value.data, kind, shape(op.result))
    data = pattern_of(value).to_bytes(element_bytes(kind), "little")
    return tile.constant(data, kind, ())


OVERFLOWING: Final[dict[type[Operation], Modular]] = {
    integer.AddIOp: integers.add,
    integer.SubIOp: integers.subtract,
    integer.MulIOp: integers.multiply,
    integer.ShLIOp: integers.shift_left,
}


@decoder(*OVERFLOWING)
def overflowing(op: integer.OverflowingInteger) -> Run:
    """Add, subtract, multiply and shift left, modulo the width."""
    flags = OVERFLOW_FLAGS[op.overflow]
    return modular(op, (op.lhs, op.rhs), OVERFLOWING[type(op)], flags)


LOGIC: Final[dict[type[Operation], Callable[[Array, Array], Array]]] = {
    integer.AndIOp: np.bitwise_and,
    integer.OrIOp: np.bitwise_or,
    integer.XOrIOp: np.bitwise_xor,
}
EXTREMES: Final[dict[type[Operation], tuple[Callable[..., Array], bool]]] = {
    integer.MaxSIOp: (integers.maximum, True),
    integer.MaxUIOp: (integers.maximum, False),
    integer.MinSIOp: (integers.minimum, True),
    integer.MinUIOp: (integers.minimum, False),
}
DIVISIONS: Final[dict[type[Operation], tuple[bool, Rounding]]] = {
    integer.DivSIOp: (True, Rounding.ZERO),
    integer.DivUIOp: (False, Rounding.ZERO),
    integer.FloorDivSIOp: (True, Rounding.NEGATIVE_INF),
    integer.CeilDivSIOp: (True, Rounding.POSITIVE_INF),
    integer.CeilDivUIOp: (False, Rounding.POSITIVE_INF),
}


@decoder(*LOGIC)
def logic(op: integer.BinaryInteger) -> Run:
    """Bitwise and, or, xor."""
    return binary(op.lhs, op.rhs, LOGIC[type(op)])


@decoder(*EXTREMES)
def extreme(op: integer.BinaryInteger) -> Run:
    """Maximum or minimum."""
    compute, is_signed = EXTREMES[type(op)]
    return binary(op.lhs, op.rhs, partial(compute, is_signed=is_signed))


@evaluator(*DIVISIONS)
def divide(op: integer.BinaryInteger, at: Batch) -> Array:
    """Divide."""
    is_signed, mode = DIVISIONS[type(op)]
    lhs, rhs = at[op.lhs], at[op.rhs]
    check_division(op, at, lhs, rhs, is_signed=is_signed)
    return integers.divide(lhs, rhs, element(op.result), is_signed=is_signed, mode=mode)


@evaluator(integer.RemSIOp, integer.RemUIOp)
def remainder(op: integer.BinaryInteger, at: Batch) -> Array:
    """The remainder of truncated division."""
    lhs, rhs, is_signed = at[op.lhs], at[op.rhs], isinstance(op, integer.RemSIOp)
    check_divisor(op, at, rhs)
    return integers.remainder(lhs, rhs, element(op.result), is_signed=is_signed)


@evaluator(integer.ShRSIOp, integer.ShRUIOp)
def shift_right(op: integer.BinaryInteger, at: Batch) -> Array:
    """Arithmetic or logical shift right."""
    lhs, rhs, is_signed = at[op.lhs], at[op.rhs], isinstance(op, integer.ShRSIOp)
    return integers.shift_right(lhs, rhs, element(op.result), is_signed=is_signed)


@decoder(comparison.CmpIOp)
def cmpi(op: comparison.CmpIOp) -> Run:
    """Compare integers."""
    return binary(op.lhs, op.rhs, integer_relation(op.predicate, element(op.lhs)))


@evaluator(comparison.CmpFOp)
def cmpf(op: comparison.CmpFOp, at: Batch) -> Array:
    """Compare floats."""
    return float_relation(op.predicate, at[op.lhs], at[op.rhs])


FLOATS: Final[dict[type[Operation], Callable[..., Array]]] = {
    floating.AddFOp: floats.add,
    floating.SubFOp: floats.subtract,
    floating.MulFOp: floats.multiply,
    floating.DivFOp: floats.divide,
}
FLOAT_EXTREMES: Final[dict[type[Operation], tuple[Callable[..., Array], bool]]] = {
    floating.MaximumFOp: (floats.maximum, True),
    floating.MinimumFOp: (floats.minimum, True),
    floating.MaxNumFOp: (floats.maximum, False),
    floating.MinNumFOp: (floats.minimum, False),
}


@evaluator(*FLOATS)
def arithmetic(op: floating.RoundedBinaryFloat, at: Batch) -> Array:
    """Add, subtract, multiply, divide with a rounding mode."""
    mode = ROUNDINGS[op.rounding]
    return FLOATS[type(op)](at[op.lhs], at[op.rhs], element(op.result), mode)


@evaluator(*FLOAT_EXTREMES)
def float_extreme(op: floating.ExtremeFloat, at: Batch) -> Array:
    """Maximum or minimum; `maximumf` and `minimumf` propagate NaN."""
    compute, propagate_nan = FLOAT_EXTREMES[type(op)]
    return compute(at[op.lhs], at[op.rhs], propagate_nan=propagate_nan)


@evaluator(floating.RemFOp)
def remf(op: floating.RemFOp, at: Batch) -> Array:
    """The exact remainder of truncated division."""
    return floats.remainder(at[op.lhs], at[op.rhs], element(op.result))


@evaluator(floating.NegFOp)
def negf(op: floating.NegFOp, at: Batch) -> Array:
    """Flip the sign bit."""
    return floats.negate(at[op.operand])


@evaluator(casts.SIToFPOp, casts.UIToFPOp)
def to_float(op: casts.FromInteger, at: Batch) -> Array:
    """Convert to the nearest float."""
    is_signed = isinstance(op, casts.SIToFPOp)
    return conversion.int_to_float(at[op.source], element(op.result), is_signed=is_signed)


@evaluator(casts.FPToSIOp, casts.FPToUIOp)
def to_integer(op: casts.ToInteger, at: Batch) -> Array:
    """Truncate to an integer; values out of range are undefined."""
    is_signed = isinstance(op, casts.FPToSIOp)
    return converted_to_integer(op, at, op.source, is_signed=is_signed, is_defined=False)


@evaluator(casts.ExtSIOp, casts.ExtUIOp)
def extend(op: casts.IntegerCast, at: Batch) -> Array:
    """Sign- or zero-extend."""
    types, is_signed = (element(op.source), element(op.result)), isinstance(op, casts.ExtSIOp)
    return conversion.extend(at[op.source], *types, is_signed=is_signed)


@evaluator(casts.TruncIOp)
def truncate(op: casts.TruncIOp, at: Batch) -> Array:
    """Truncate to the low bits."""
    check_overflow(op, at, OVERFLOW_FLAGS[op.overflow], at[op.source])
    return wrap(at[op.source], element(op.result))


@evaluator(casts.ExtFOp, casts.TruncFOp, casts.ConvertFOp)
def convert_float(op: casts.ExtFOp | casts.TruncFOp | casts.ConvertFOp, at: Batch) -> Array:
    """Convert between float types with rounding."""
    mode = ROUNDINGS[None if isinstance(op, casts.ExtFOp) else op.rounding]
    return conversion.float_to_float(at[op.source], element(op.source), element(op.result), mode)


@evaluator(casts.BitcastOp)
def bitcast(op: casts.BitcastOp, at: Batch) -> Array:
    """Reinterpret the bits as another type."""
    return conversion.bitcast(at[op.source], element(op.result))


@evaluator(comparison.SelectOp)
def select(op: comparison.SelectOp, at: Batch) -> Any:
    """Select elementwise, or whole values by a scalar condition."""
    values: tuple[Array, Array] = at[op.true_value], at[op.false_value]
    condition: Array = at[op.condition]
    spread = condition.reshape(*condition.shape, *[1] * (values[0].ndim - condition.ndim))
    return np.where(spread, *values)
