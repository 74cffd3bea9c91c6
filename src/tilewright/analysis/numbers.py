"""Integers in tiles: how wide they are, and which of them the program writes down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import shape
from tilewright.ir.types import IntegerType

if TYPE_CHECKING:
    from tilewright.ir.values import Value


def integer_width(value: Value) -> int:
    """How many bits each element has; an index or an address has 64."""
    element = element_of(value.type)
    return element.width if isinstance(element, IntegerType) else 64


def uniform_pattern(value: Value) -> int | None:
    """The pattern of all elements, if it is written in the program."""
    op = value.defining_op()
    while isinstance(op, shape.SplatOp | shape.Rearrangement):
        op = op.operands[0].defining_op()
    return splat_of(op.value) if isinstance(op, ConstantOp) else None
