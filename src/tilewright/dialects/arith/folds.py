"""The folds of arith, and constant materialization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.attributes import CmpFPredicate, CmpIPredicate
from tilewright.dialects.arith.cast_folds import CAST_FOLDS
from tilewright.dialects.arith.comparison import CmpFOp, CmpIOp, ComparisonOp, SelectOp
from tilewright.dialects.arith.float_folds import FLOAT_FOLDS
from tilewright.dialects.arith.integer_folds import INTEGER_FOLDS
from tilewright.dialects.arith.literals import (
    elementwise,
    format_of,
    literal,
    materialize,
    splat_of,
)
from tilewright.dialects.elements import width_of
from tilewright.ir.types import I1
from tilewright.support.floats import is_nan
from tilewright.support.numerics.comparison import Predicate, compare_floats, compare_integers

if TYPE_CHECKING:
    from tilewright.ir.rules import Constants, Folded, Folds

__all__ = ["FOLDS", "materialize"]

_RELATIONS: Final = {
    "eq": Predicate.EQUAL,
    "ne": Predicate.NOT_EQUAL,
    "lt": Predicate.LESS_THAN,
    "le": Predicate.LESS_THAN_OR_EQUAL,
    "gt": Predicate.GREATER_THAN,
    "ge": Predicate.GREATER_THAN_OR_EQUAL,
}

_TRUE_OF_EQUALS: Final = ("eq", "le", "ge")


def fold_integers(predicate: CmpIPredicate, op: ComparisonOp, constants: Constants) -> Folded:
    """Compare constants, or a value with itself."""
    lhs, rhs = op.operands
    type, relation = op.results[0].type, predicate.keyword[-2:]
    if lhs is rhs:
        return literal([int(relation in _TRUE_OF_EQUALS)], type)
    bits, signed = width_of(lhs.type), predicate.keyword.startswith("s")
    comparison = _RELATIONS[relation]
    return elementwise(
        lambda a, b: int(compare_integers(comparison, a, b, bits, signed=signed)), type, constants
    )


_CONSTANT: Final = {CmpFPredicate.FALSE: 0, CmpFPredicate.TRUE: 1}


def fold_floats(predicate: CmpFPredicate, op: ComparisonOp, constants: Constants) -> Folded:
    """Compare constants; the predicates `false` and `true` are constant."""
    type = op.results[0].type
    if predicate in _CONSTANT:
        return literal([_CONSTANT[predicate]], type)
    format = format_of(op.operands[0].type)
    if format is None:
        return None
    if predicate in (CmpFPredicate.ORD, CmpFPredicate.UNO):
        unordered = predicate is CmpFPredicate.UNO
        return elementwise(
            lambda a, b: int((is_nan(a, format) or is_nan(b, format)) == unordered), type, constants
        )
    relation, ordered = _RELATIONS[predicate.keyword[1:]], predicate.keyword.startswith("o")
    return elementwise(
        lambda a, b: int(compare_floats(relation, a, b, format, ordered=ordered)), type, constants
    )


def fold_select(op: SelectOp, constants: Constants) -> Folded:
    """Fold a constant condition, equal arms, and `select c, true, false`."""
    if op.true_value is op.false_value:
        return op.true_value
    condition = splat_of(constants[0])
    if condition is not None:
        return op.true_value if condition else op.false_value
    if op.result.type is I1 and [splat_of(value) for value in constants[1:]] == [1, 0]:
        return op.condition
    return None


FOLDS: Final[Folds] = {
    **INTEGER_FOLDS,
    **FLOAT_FOLDS,
    **CAST_FOLDS,
    CmpIOp: lambda op, constants: fold_integers(op.predicate, op, constants),
    CmpFOp: lambda op, constants: fold_floats(op.predicate, op, constants),
    SelectOp: fold_select,
}
