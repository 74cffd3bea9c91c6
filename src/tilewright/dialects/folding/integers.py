"""Folds of integer operations without a counterpart in arith."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tilewright.dialects.arith.literals import elementwise, literal, splat_of
from tilewright.dialects.elements import width_of
from tilewright.support.numerics import integer

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.rules import Constants, Folded, Folds
    from tilewright.ir.values import Value


def integer_folds(
    negate: type[Operation],
    absolute: type[Operation],
    multiply_high: type[Operation],
    no_wrap: Callable[[Any], bool],
) -> Folds:
    """The folds of neg, abs and mulhi; `no_wrap` returns whether a negation has a no-wrap flag."""

    def negation(op: Operation, constants: Constants) -> Folded:
        """Compute on constants; `-(-x)` is `x`, since both wrap."""
        if (inner := op.operands[0].defined_by(negate)) is not None:
            return inner.operands[0]
        type = op.results[0].type
        bits, is_no_wrap = width_of(type), no_wrap(op)

        def negated(a: int) -> int | None:
            # The no-wrap flags of a negation are about signed overflow only.
            if is_no_wrap and integer.negate_overflows(a, bits, signed=True):
                return None
            return integer.negate(a, bits)

        return elementwise(negated, type, constants)

    def absolute_value(op: Operation, constants: Constants) -> Folded:
        """Compute on constants; `abs(abs(x))` is `abs(x)`."""
        source: Value = op.operands[0]
        if source.defined_by(absolute) is not None:
            return source
        type = op.results[0].type
        bits = width_of(type)
        return elementwise(lambda a: integer.absolute(a, bits), type, constants)

    return {negate: negation, absolute: absolute_value, multiply_high: fold_mulhi}


def fold_mulhi(op: Operation, constants: Constants) -> Folded:
    """Compute on constants; the high half of `x * 0` and `x * 1` is zero."""
    type = op.results[0].type
    if any(splat_of(constant) in (0, 1) for constant in constants):
        return literal([0], type)
    bits = width_of(type)
    return elementwise(lambda a, b: integer.multiply_high(a, b, bits), type, constants)
