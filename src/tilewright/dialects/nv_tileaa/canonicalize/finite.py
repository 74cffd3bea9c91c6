"""Analysis of finite floats: neither NaN nor infinite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.casts import SIToFPOp, UIToFPOp
from tilewright.dialects.arith.literals import expanded
from tilewright.dialects.elements import element_of, width_of
from tilewright.dialects.folding.floats import format_of
from tilewright.dialects.nv_tileaa.conversion import FpToFpOp
from tilewright.dialects.nv_tileaa.floating import AbsFOp, NegFOp
from tilewright.dialects.nv_tileaa.shape import (
    CatOp,
    ExtractSliceOp,
    InsertSliceOp,
    Rearrangement,
    SelectOp,
    SplatOp,
)
from tilewright.ir.attributes import DenseElementsAttr, FloatAttr
from tilewright.ir.rules import constant_of
from tilewright.ir.types import FloatType
from tilewright.support.floats import Specials, widens
from tilewright.support.numerics.conversion import saturates

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.floats import FloatFormat

_MAX_DEFINITIONS: Final = 8
"""The length of the longest def-use chain that is followed."""

_PARTS: Final = (
    AbsFOp, NegFOp, Rearrangement, SplatOp, SelectOp, CatOp, ExtractSliceOp, InsertSliceOp,
)  # fmt: skip
"""Operations whose results are finite if all their float operands are."""


def is_finite(value: Value, limit: int = _MAX_DEFINITIONS) -> bool:
    """Whether every element of a float tile is known to be finite."""
    format = format_of(value.type)
    if format.specials is Specials.NONE:
        return True
    constant = constant_of(value)
    if constant is not None:
        return _is_finite_constant(constant, format)
    op = value.defining_op()
    return op is not None and limit > 0 and _is_result_finite(op, format, limit - 1)


def _is_finite_constant(constant: Attribute, format: FloatFormat) -> bool:
    if not isinstance(constant, FloatAttr | DenseElementsAttr):
        return False
    return all(pattern & ~format.sign <= format.max_finite for pattern in expanded(constant, 1))


def _is_result_finite(op: Operation, format: FloatFormat, limit: int) -> bool:
    match op:
        case SIToFPOp() | UIToFPOp():
            # Every integer rounds to at most 2**width.
            return width_of(op.operands[0].type) <= format.max_exponent
        case FpToFpOp():
            return _stays_finite(format_of(op.source.type), format) and is_finite(op.source, limit)
        case _ if isinstance(op, _PARTS):
            floats = [part for part in op.operands if isinstance(element_of(part.type), FloatType)]
            return all(is_finite(part, limit) for part in floats)
        case _:
            return False


def _stays_finite(source: FloatFormat, result: FloatFormat) -> bool:
    """Whether a conversion of a finite float is finite, even if rounded up."""
    if saturates(result) or widens(source, result):
        return True
    return source.max_exponent < result.max_exponent
