"""Which floats are known to be numbers: neither NaN nor infinite."""

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

_DEPTH: Final = 8
"""How far back a value is followed."""

_PARTS: Final = (
    AbsFOp, NegFOp, Rearrangement, SplatOp, SelectOp, CatOp, ExtractSliceOp, InsertSliceOp,
)  # fmt: skip
"""What gives numbers if all its operands that are floats are numbers."""


def is_finite(value: Value, depth: int = _DEPTH) -> bool:
    """Whether every element of a tile of floats is known to be a number."""
    format = format_of(value.type)
    if format.specials is Specials.NONE:
        return True
    constant = constant_of(value)
    if constant is not None:
        return _is_number(constant, format)
    op = value.defining_op()
    return op is not None and depth > 0 and _gives_numbers(op, format, depth - 1)


def _is_number(constant: Attribute, format: FloatFormat) -> bool:
    if not isinstance(constant, FloatAttr | DenseElementsAttr):
        return False
    return all(pattern & ~format.sign <= format.max_finite for pattern in expanded(constant, 1))


def _gives_numbers(op: Operation, format: FloatFormat, depth: int) -> bool:
    match op:
        case SIToFPOp() | UIToFPOp():
            # The largest integer is below 2**width, and so is what it rounds to, or exactly that.
            return width_of(op.operands[0].type) <= format.max_exponent
        case FpToFpOp():
            return _stays_finite(format_of(op.source.type), format) and is_finite(op.source, depth)
        case _ if isinstance(op, _PARTS):
            floats = [part for part in op.operands if isinstance(element_of(part.type), FloatType)]
            return all(is_finite(part, depth) for part in floats)
        case _:
            return False


def _stays_finite(source: FloatFormat, result: FloatFormat) -> bool:
    """Whether a conversion makes numbers of all numbers, even of those that it rounds up."""
    if saturates(result) or widens(source, result):
        return True
    return source.max_exponent < result.max_exponent
