"""How arith computes: all its folds, and how constants are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.attributes import CmpFPredicate
from tilewright.dialects.arith.cast_folds import CAST_FOLDS
from tilewright.dialects.arith.comparison import CmpFOp, CmpIOp, SelectOp
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


def fold_integer_comparison(op: CmpIOp, constants: Constants) -> Folded:
    """Compare constants; a value compared with itself is equal."""
    relation = op.predicate.keyword[-2:]
    if op.lhs is op.rhs:
        return literal([int(relation in _TRUE_OF_EQUALS)], op.result.type)
    bits, signed = width_of(op.lhs.type), op.predicate.keyword.startswith("s")
    predicate = _RELATIONS[relation]
    return elementwise(
        lambda a, b: int(compare_integers(predicate, a, b, bits, signed=signed)),
        op.result.type,
        constants,
    )


_CONSTANT: Final = {CmpFPredicate.FALSE: 0, CmpFPredicate.TRUE: 1}


def fold_float_comparison(op: CmpFOp, constants: Constants) -> Folded:
    """Compare constants; two predicates do not even look."""
    predicate = op.predicate
    if predicate in _CONSTANT:
        return literal([_CONSTANT[predicate]], op.result.type)
    format = format_of(op.lhs.type)
    if format is None:
        return None
    if predicate in (CmpFPredicate.ORD, CmpFPredicate.UNO):
        wanted = predicate is CmpFPredicate.UNO
        return elementwise(
            lambda a, b: int((is_nan(a, format) or is_nan(b, format)) == wanted),
            op.result.type,
            constants,
        )
    relation, ordered = _RELATIONS[predicate.keyword[1:]], predicate.keyword.startswith("o")
    return elementwise(
        lambda a, b: int(compare_floats(relation, a, b, format, ordered=ordered)),
        op.result.type,
        constants,
    )


def fold_choice(op: SelectOp, constants: Constants) -> Folded:
    """A known condition chooses; between equals there is nothing to choose."""
    if op.true_value is op.false_value:
        return op.true_value
    known = splat_of(constants[0])
    if known is not None:
        return op.true_value if known else op.false_value
    if op.result.type is I1 and [splat_of(value) for value in constants[1:]] == [1, 0]:
        return op.condition
    return None


FOLDS: Final[Folds] = {
    **INTEGER_FOLDS,
    **FLOAT_FOLDS,
    **CAST_FOLDS,
    CmpIOp: fold_integer_comparison,
    CmpFOp: fold_float_comparison,
    SelectOp: fold_choice,
}
