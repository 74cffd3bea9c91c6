"""Folds and rules of `select`, and the negation of conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.literals import elementwise, splat_of
from tilewright.dialects.cuda_tile.bitwise import XOrIOp
from tilewright.dialects.cuda_tile.conversion import ExtIOp
from tilewright.dialects.cuda_tile.core import BroadcastOp, ConstantOp, ReshapeOp, SelectOp
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate, Signedness
from tilewright.dialects.cuda_tile.integer import CmpIOp
from tilewright.dialects.cuda_tile.simplify.constants import is_true, ones, splat, splat_value
from tilewright.dialects.cuda_tile.traits import tile
from tilewright.ir.rules import rule
from tilewright.ir.types import I1, IntegerType

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules
    from tilewright.ir.values import Value


def negated(condition: Value) -> Value | None:
    """`x` for a condition `xori %x, true`, or `None` for any other."""
    if (flip := condition.defined_by(XOrIOp)) is None:
        return None
    if is_true(flip.rhs):
        return flip.lhs
    return flip.rhs if is_true(flip.lhs) else None


def negate(condition: Value, build: Rewriter) -> Value:
    """Create the negation of a tile of i1."""
    type = condition.type
    true = build.create(ConstantOp, value=splat(ones(type), type), types=[type])
    return build.create(XOrIOp, lhs=condition, rhs=true.result).result


def choose(condition: Value, on_true: Value, on_false: Value, build: Rewriter) -> Value:
    """Create a `select` between two tiles of any shape by a scalar condition."""
    shape = tile(on_true).shape
    if shape:
        scalar = tile(condition)
        unit = scalar.with_shape((1,) * len(shape))
        mask = build.create(ReshapeOp, source=condition, types=[unit]).result
        if unit.shape != shape:
            full = scalar.with_shape(shape)
            mask = build.create(BroadcastOp, source=mask, types=[full]).result
        condition = mask
    return build.create(SelectOp, cond=condition, val_if_true=on_true, val_if_false=on_false).result


def fold_select(op: SelectOp, constants: Constants) -> Folded:
    """Fold a constant condition, equal arms, `select c, true, false`, and constants."""
    condition, on_true, on_false = constants
    if op.val_if_true is op.val_if_false or (on_true is not None and on_true is on_false):
        return op.val_if_true
    chosen = splat_of(condition)
    if chosen is not None:
        return op.val_if_true if chosen else op.val_if_false
    if None not in constants:
        return elementwise(lambda c, a, b: a if c else b, op.result.type, constants)
    if tile(op.result).element is I1 and (splat_of(on_true), splat_of(on_false)) == (1, 0):
        return op.cond
    return _fold_comparison(op)


def _fold_comparison(op: SelectOp) -> Folded:
    """`a == b ? a : b` is `b`, and `a != b ? a : b` is `a`."""
    comparison = op.cond.defined_by(CmpIOp)
    arms = (op.val_if_true, op.val_if_false)
    if comparison is None or comparison.operands not in (arms, arms[::-1]):
        return None
    match comparison.comparison_predicate:
        case ComparisonPredicate.EQUAL:
            return op.val_if_false
        case ComparisonPredicate.NOT_EQUAL:
            return op.val_if_true
        case _:
            return None


@rule(SelectOp)
def select_by_negation(op: SelectOp, build: Rewriter) -> Replacement:
    """`!c ? a : b` becomes `c ? b : a`."""
    if (condition := negated(op.cond)) is None:
        return None
    build.set_operands(op, (condition, op.val_if_false, op.val_if_true))
    return op


@rule(SelectOp)
def select_of_select(op: SelectOp, build: Rewriter) -> Replacement:
    """`c ? (c ? a : b) : d` becomes `c ? a : d`, and likewise for the false arm."""
    on_true, on_false = op.val_if_true.defined_by(SelectOp), op.val_if_false.defined_by(SelectOp)
    if on_true is not None and on_true.cond is op.cond:
        build.set_operands(op, (op.cond, on_true.val_if_true, op.val_if_false))
        return op
    if on_false is not None and on_false.cond is op.cond:
        build.set_operands(op, (op.cond, op.val_if_true, on_false.val_if_false))
        return op
    return None


@rule(SelectOp)
def select_bits(op: SelectOp, build: Rewriter) -> Replacement:
    """`c ? 1 : 0` becomes the extension of `c`, and `c ? 0 : 1` that of `!c`."""
    element = tile(op.result).element
    if not isinstance(element, IntegerType):
        return None
    arms = splat_value(op.val_if_true), splat_value(op.val_if_false)
    if arms not in ((1, 0), (0, 1)):
        return None
    bit = op.cond if arms == (1, 0) else negate(op.cond, build)
    if element is I1:
        return bit
    return build.create(ExtIOp, source=bit, signedness=Signedness.UNSIGNED, types=[op.result.type])


FOLDS: Final[Folds] = {SelectOp: fold_select}
RULES: Final[Rules] = (select_by_negation, select_of_select, select_bits)
