"""Folds of powers with a constant exponent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.folding.floats import format_of
from tilewright.dialects.nv_tileaa.floating import MulFOp
from tilewright.dialects.nv_tileaa.functions import FPowFOp, FPowIOp
from tilewright.ir.rules import constant_of, rule
from tilewright.ir.types import IntegerType
from tilewright.support.bits import to_signed
from tilewright.support.floats import Exact, encode

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules


TWO: Final = Exact(False, 1, 1)


def integer_exponent(op: FPowIOp) -> int | None:
    """The exponent, if it is a splat constant."""
    pattern = splat_of(constant_of(op.exponent))
    element = element_of(op.exponent.type)
    assert isinstance(element, IntegerType)
    return None if pattern is None else to_signed(pattern, element.width)


def fold_power(op: FPowIOp, constants: Constants) -> Folded:
    """`x ** 1` is `x`."""
    return op.source if integer_exponent(op) == 1 else None


@rule(FPowIOp)
def square(op: FPowIOp, build: Rewriter) -> Replacement:
    """`x ** 2` is `x * x`: both are the square, rounded once."""
    if integer_exponent(op) != 2:
        return None
    return build.create(MulFOp, lhs=op.source, rhs=op.source)


@rule(FPowFOp)
def float_square(op: FPowFOp, build: Rewriter) -> Replacement:
    """`x ** 2.0` is `x * x`: both are the square, rounded once."""
    format = format_of(op.result.type)
    if splat_of(constant_of(op.rhs)) != encode(TWO, format):
        return None
    return build.create(MulFOp, lhs=op.lhs, rhs=op.lhs)


FOLDS: Final[Folds] = {FPowIOp: fold_power}
RULES: Final[Rules] = (square, float_square)
