"""Folds of integer arithmetic on tiles that arith has no operations for."""

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
    promises: Callable[[Any], bool],
) -> Folds:
    """How operations fold that do these things; `promises`: whether one says not to overflow."""

    def negation(op: Operation, constants: Constants) -> Folded:
        """Compute on constants; `-(-x)` is `x`, since both wrap."""
        if (inner := op.operands[0].defined_by(negate)) is not None:
            return inner.operands[0]
        type = op.results[0].type
        bits, promised = width_of(type), promises(op)

        def negated(a: int) -> int | None:
            # A promise about negation speaks of signed integers alone.
            if promised and integer.negate_overflows(a, bits, signed=True):
                return None
            return integer.negate(a, bits)

        return elementwise(negated, type, constants)

    def magnitude(op: Operation, constants: Constants) -> Folded:
        """Compute on constants; the magnitude of a magnitude has the same bits."""
        source: Value = op.operands[0]
        if source.defined_by(absolute) is not None:
            return source
        type = op.results[0].type
        bits = width_of(type)
        return elementwise(lambda a: integer.absolute(a, bits), type, constants)

    return {negate: negation, absolute: magnitude, multiply_high: fold_high_product}


def fold_high_product(op: Operation, constants: Constants) -> Folded:
    """Compute on constants; a product with zero or one has nothing in its high half."""
    type = op.results[0].type
    if any(splat_of(constant) in (0, 1) for constant in constants):
        return literal([0], type)
    bits = width_of(type)
    return elementwise(lambda a, b: integer.multiply_high(a, b, bits), type, constants)
