"""Folds of math, only of functions that are exact or correctly rounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.literals import elementwise, format_of, materialize
from tilewright.dialects.elements import width_of
from tilewright.dialects.math.ops import (
    AbsFOp,
    AbsIOp,
    CeilOp,
    CopySignOp,
    CtlzOp,
    CtPopOp,
    CttzOp,
    FloorOp,
    FmaOp,
    SqrtOp,
    UnaryFloat,
    UnaryInteger,
)
from tilewright.support.bits import to_unsigned, trailing_zeros
from tilewright.support.floats import FloatFormat
from tilewright.support.numerics import floating, integer

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.rules import Constants, Folded, Folds

__all__ = ["FOLDS", "materialize"]


def _computable(op: Operation) -> FloatFormat | None:
    """The format of the result, or `None` if folding does not support it."""
    format = format_of(op.results[0].type)
    return format if format is not None and format.signed and format.width > 8 else None


_FLOATS: Final[dict[type[Operation], Callable[[int, FloatFormat], int]]] = {
    AbsFOp: floating.absolute,
    CeilOp: floating.ceil,
    FloorOp: floating.floor,
    SqrtOp: lambda a, format: floating.sqrt(a, format),
}

_INTEGERS: Final[dict[type[Operation], Callable[[int, int], int]]] = {
    AbsIOp: lambda a, bits: to_unsigned(integer.absolute(a, bits), bits),
    CtlzOp: lambda a, bits: bits - a.bit_length(),
    CttzOp: lambda a, bits: trailing_zeros(a) if a else bits,
    CtPopOp: lambda a, bits: a.bit_count(),
}


def fold_float(op: UnaryFloat, constants: Constants) -> Folded:
    """Compute on constants, unless approximation is permitted."""
    format = _computable(op)
    if format is None or "afn" in op.fastmath:
        return None
    compute = _FLOATS[type(op)]
    return elementwise(lambda a: compute(a, format), op.result.type, constants)


def fold_fma(op: FmaOp, constants: Constants) -> Folded:
    """Compute on constants."""
    format = _computable(op)
    if format is None:
        return None
    return elementwise(lambda a, b, c: floating.fma(a, b, c, format), op.result.type, constants)


def fold_sign(op: CopySignOp, constants: Constants) -> Folded:
    """Compute on constants."""
    format = _computable(op)
    if format is None:
        return None
    sign = format.sign
    return elementwise(lambda a, b: (a & ~sign) | (b & sign), op.result.type, constants)


def fold_integer(op: UnaryInteger, constants: Constants) -> Folded:
    """Compute on constants."""
    bits, compute = width_of(op.result.type), _INTEGERS[type(op)]
    return elementwise(lambda a: compute(a, bits), op.result.type, constants)


FOLDS: Final[Folds] = {
    **dict.fromkeys(_FLOATS, fold_float),
    **dict.fromkeys(_INTEGERS, fold_integer),
    FmaOp: fold_fma,
    CopySignOp: fold_sign,
}
