"""Folds of dots: of constants, with an operand of zeros, and into the accumulator of a dot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from tilewright.dialects.arith.attributes import Literal
from tilewright.dialects.arith.literals import LIMIT, expanded, literal, splat_of
from tilewright.dialects.elements import element_of, width_of
from tilewright.dialects.folding.floats import format_of
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.canonicalize.constants import materialize
from tilewright.dialects.nv_tileaa.canonicalize.finite import is_finite
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.integer import AddIOp
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.ir.rules import constant_of, rule
from tilewright.ir.types import F32, FloatType
from tilewright.support.bits import mask
from tilewright.support.floats import FORMATS, decode
from tilewright.support.numerics import floating, integer

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules
    from tilewright.ir.values import Value

_MAX_MULTIPLICATIONS: Final = 1 << 16
"""The largest number of multiplications that folding a dot may take."""

Dot: TypeAlias = Callable[[Sequence[int], Sequence[int], int], int]
"""Compute an element from a row of A, a column of B and the accumulator."""


@rule(DotOp)
def fold_constant_dot(op: DotOp, build: Rewriter) -> Replacement:
    """`dot 0, b, c` is `c` where `b` is finite; a dot of constants is a constant."""
    if _is_zero_dot(op):
        return op.c
    constants = [constant_of(value) for value in (op.a, op.b, op.c)]
    if None in constants or op.a_scale is not None:
        return None
    folded = _fold_constants(op, constants)
    return None if folded is None else materialize(folded, op.result.type, build)


@rule(AddIOp)
def fold_addition_into_dot(op: AddIOp, build: Rewriter) -> Replacement:
    """`x + dot a, b, 0` of integers is `dot a, b, x`: both wrap around.

    Floats would be rounded in another order: `promote-dots` in nv_tileas keeps it.
    """
    for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        dot = value.defining_op()
        if not isinstance(dot, DotOp) or dot.parent is not op.parent:
            continue
        if value.has_one_use and _is_zero(dot.c):
            operands = [other if operand is dot.c else operand for operand in dot.operands]
            return build.insert(dot.like(operands, [op.result.type])).results[0]
    return None


def _is_zero(tile: Value) -> bool:
    """Whether all elements are zero, of either sign."""
    pattern = splat_of(constant_of(tile))
    if pattern is None:
        return False
    element = element_of(tile.type)
    if not isinstance(element, FloatType):
        return pattern == 0
    return decode(pattern, FORMATS[element.format]).is_zero


def _is_zero_dot(op: DotOp) -> bool:
    """Whether `a @ b` is zero: one operand is, and the other is finite, so there are no NaNs.

    The sign of a zero result depends on the order of accumulation, which is unspecified.
    """
    zeros = [side for side in (op.a, op.b) if _is_zero(side)]
    if not zeros or not op.is_float:
        return bool(zeros)
    if "nnan" in op.fastmath:
        return True
    others = [op.b if zeros[0] is op.a else op.a, op.a_scale, op.b_scale]
    return all(other is None or is_finite(other) for other in others)


def _fold_constants(op: DotOp, constants: Sequence[Attribute | None]) -> Literal | None:
    """Fold a dot of constants, unless it is too large or truncates its operands."""
    tiles = [constant for constant in constants if isinstance(constant, Literal)]
    *_, rows, k = shape(op.a.type)
    columns = shape(op.b.type)[-1]
    if len(tiles) < 3 or (op.is_float and not _is_full_precision(op, tiles[:2])):
        return None
    dot = _float_dot(op) if op.is_float else _integer_dot(op)
    splats = [splat_of(tile) for tile in tiles]
    if None not in splats and k <= _MAX_MULTIPLICATIONS:
        a, b, c = (splat or 0 for splat in splats)
        return literal([dot([a] * k, [b] * k, c)], op.result.type)
    elements = count(op.result.type)
    if (
        elements * k > _MAX_MULTIPLICATIONS
        or max(elements, count(op.a.type), count(op.b.type)) > LIMIT
    ):
        return None
    values = zip(tiles, (op.a, op.b, op.c), strict=True)
    a, b, c = (expanded(tile, count(value.type)) for tile, value in values)
    patterns = [
        dot(
            a[(batch * rows + row) * k : (batch * rows + row + 1) * k],
            b[batch * k * columns + column : (batch + 1) * k * columns : columns],
            c[(batch * rows + row) * columns + column],
        )
        for batch in range(elements // (rows * columns))
        for row in range(rows)
        for column in range(columns)
    ]
    return literal(patterns, op.result.type)


def _is_full_precision(op: DotOp, operands: Sequence[Literal]) -> bool:
    """Whether the operands are exact in the input precision, which may be tf32 for f32."""
    if element_of(op.a.type) is not F32 or op.input_precision == "ieee":
        return True
    truncated = mask(FORMATS["f32"].mantissa_bits - FORMATS["tf32"].mantissa_bits)
    return not any(pattern & truncated for operand in operands for pattern in expanded(operand, 1))


def _float_dot(op: DotOp) -> Dot:
    """A float dot with exact intermediate results, rounded once to the accumulator type."""
    operands, accumulator = format_of(op.a.type), format_of(op.c.type)
    return lambda a, b, c: floating.dot(a, b, c, operands, accumulator)


def _integer_dot(op: DotOp) -> Dot:
    bits, accumulator_bits = width_of(op.a.type), width_of(op.c.type)
    signed = (op.signedness_a is Signedness.SIGNED, op.signedness_b is Signedness.SIGNED)
    return lambda a, b, c: integer.dot(a, b, c, bits, accumulator_bits, signed=signed)


RULES: Final[Rules] = (fold_constant_dot, fold_addition_into_dot)
