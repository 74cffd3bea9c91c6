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

_WITH_LEAST: Final = {
    ComparisonPredicate.LESS_THAN: 0,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: 1,
}
_WITH_GREATEST: Final = {
    ComparisonPredicate.GREATER_THAN: 0,
    ComparisonPredicate.LESS_THAN_OR_EQUAL: 1,
}


def fold_integers(op: CmpIOp, constants: Constants) -> Folded:
    """Compare constants, a value with itself, or a value with a limit of its range."""
    predicate, type = op.comparison_predicate, op.result.type
    if op.lhs is op.rhs:
        return splat(predicate in _REFLEXIVE, type)
    bits, signed = width(op.lhs.type), is_signed(op.signedness)
    if None not in constants:
        relation = Predicate(predicate.keyword)
        return elementwise(
            lambda a, b: compare_integers(relation, a, b, bits, signed=signed), type, constants
        )
    result = _fold_limit(predicate, splat_of(constants[1]), bits, signed)
    return None if result is None else splat(result, type)


def _fold_limit(
    predicate: ComparisonPredicate, right: int | None, bits: int, signed: bool
) -> int | None:
    """Fold a comparison with the least or greatest value, such as `x < least`."""
    least = sign_bit(bits) if signed else 0
    if right == least:
        return _WITH_LEAST.get(predicate)
    return _WITH_GREATEST.get(predicate) if right == mask(bits) - least else None


def fold_floats(op: CmpFOp, constants: Constants) -> Folded:
    """Compare constants, or a value with itself if the result is the same for NaN."""
    predicate, type = op.comparison_predicate, op.result.type
    ordered = op.comparison_ordering is ComparisonOrdering.ORDERED
    if op.lhs is op.rhs and (predicate in _REFLEXIVE) != ordered:
        return splat(not ordered, type)
    if None in constants:
        return None
    relation, format = Predicate(predicate.keyword), format_of(op.lhs.type)
    return elementwise(
        lambda a, b: compare_floats(relation, a, b, format, ordered=ordered), type, constants
    )


FOLDS: Final[Folds] = {CmpIOp: fold_integers, CmpFOp: fold_floats}
