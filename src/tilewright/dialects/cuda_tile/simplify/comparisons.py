"""Folds of comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.literals import elementwise, splat_of
from tilewright.dialects.cuda_tile.enums import ComparisonOrdering, ComparisonPredicate
from tilewright.dialects.cuda_tile.floating import CmpFOp
from tilewright.dialects.cuda_tile.integer import CmpIOp
from tilewright.dialects.cuda_tile.simplify.constants import is_signed, splat, width
from tilewright.dialects.folding.floats import format_of
from tilewright.support.bits import mask, sign_bit
from tilewright.support.numerics.comparison import Predicate, compare_floats, compare_integers

if TYPE_CHECKING:
    from tilewright.ir.rules import Constants, Folded, Folds

_REFLEXIVE: Final = (
    ComparisonPredicate.EQUAL,
    ComparisonPredicate.LESS_THAN_OR_EQUAL,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL,
)

_BEYOND_LEAST: Final = {
    ComparisonPredicate.LESS_THAN: 0,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: 1,
}
_BEYOND_GREATEST: Final = {
    ComparisonPredicate.GREATER_THAN: 0,
    ComparisonPredicate.LESS_THAN_OR_EQUAL: 1,
}


def fold_integers(op: CmpIOp, constants: Constants) -> Folded:
    """Compare constants; a value with itself; a value with the ends of its range."""
    predicate, type = op.comparison_predicate, op.result.type
    if op.lhs is op.rhs:
        return splat(predicate in _REFLEXIVE, type)
    bits, signed = width(op.lhs.type), is_signed(op.signedness)
    if None not in constants:
        asked = Predicate(predicate.keyword)
        return elementwise(
            lambda a, b: compare_integers(asked, a, b, bits, signed=signed), type, constants
        )
    answer = _at_the_end(predicate, splat_of(constants[1]), bits, signed)
    return None if answer is None else splat(answer, type)


def _at_the_end(
    predicate: ComparisonPredicate, right: int | None, bits: int, signed: bool
) -> int | None:
    """`x < least` is false, whatever `x` is."""
    least = sign_bit(bits) if signed else 0
    if right == least:
        return _BEYOND_LEAST.get(predicate)
    return _BEYOND_GREATEST.get(predicate) if right == mask(bits) - least else None


def fold_floats(op: CmpFOp, constants: Constants) -> Folded:
    """Compare constants; a value with itself, where NaN does not matter."""
    predicate, type = op.comparison_predicate, op.result.type
    ordered = op.comparison_ordering is ComparisonOrdering.ORDERED
    if op.lhs is op.rhs and (predicate in _REFLEXIVE) != ordered:
        return splat(not ordered, type)
    if None in constants:
        return None
    asked, format = Predicate(predicate.keyword), format_of(op.lhs.type)
    return elementwise(
        lambda a, b: compare_floats(asked, a, b, format, ordered=ordered), type, constants
    )


FOLDS: Final[Folds] = {CmpIOp: fold_integers, CmpFOp: fold_floats}
