"""Constants as bit patterns, for constant folding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from tilewright.dialects.arith.attributes import Literal
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import element_of, extents_of
from tilewright.ir.attributes import DenseElementsAttr, FloatAttr, IntegerAttr, element_bytes
from tilewright.ir.types import (
    I1,
    FloatType,
    IndexType,
    IntegerType,
)
from tilewright.support.bits import mask, to_signed
from tilewright.support.floats import FORMATS, FloatFormat

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.builder import Builder

LIMIT: Final = 4096
"""The maximum number of elements of a folded constant that is not a splat."""

Unary: TypeAlias = Callable[[int], "int | None"]
Binary: TypeAlias = Callable[[int, int], "int | None"]
Ternary: TypeAlias = Callable[[int, int, int], "int | None"]
Compute: TypeAlias = Unary | Binary | Ternary
"""Compute the bit pattern of a result from those of the operands; `None` if undefined."""


def format_of(type: Type) -> FloatFormat | None:
    """The format of float elements, or `None` if folding does not support it."""
    element = element_of(type)
    return FORMATS.get(element.format) if isinstance(element, FloatType) else None


def pattern_of(number: IntegerAttr | FloatAttr) -> int:
    """The bit pattern of a scalar constant."""
    if isinstance(number, FloatAttr):
        return number.bits
    width = number.type.width if isinstance(number.type, IntegerType | IndexType) else 64
    return number.value & mask(width)


def splat_of(constant: Attribute | None) -> int | None:
    """The bit pattern of a scalar or splat constant, or `None`."""
    if isinstance(constant, IntegerAttr | FloatAttr):
        return pattern_of(constant)
    if isinstance(constant, DenseElementsAttr) and constant.is_splat:
        return constant.elements()[0]
    return None


def count_of(type: Type) -> int:
    """The number of elements of a type."""
    return prod(extents_of(type))


def literal(patterns: Sequence[int], type: Type) -> Literal | None:
    """Make a constant of bit patterns; a single one is a splat."""
    element = element_of(type)
    if element is type:
        return _number(patterns[0], type)
    if not isinstance(element, IntegerType | FloatType | IndexType):
        return None
    size = element_bytes(element)
    return DenseElementsAttr(b"".join([p.to_bytes(size, "little") for p in patterns]), type)


def _number(pattern: int, type: Type) -> Literal | None:
    match type:
        case FloatType():
            return FloatAttr(pattern, type)
        case IntegerType() | IndexType():
            value = pattern if type is I1 else to_signed(pattern, type.width)
            return IntegerAttr(value, type)
        case _:
            return None


def elementwise(
    compute: Compute, type: Type, constants: Sequence[Attribute | None]
) -> Literal | None:
    """Fold an elementwise computation; `None` if an element is undefined."""
    literals = [constant for constant in constants if isinstance(constant, Literal)]
    if len(literals) < len(constants):
        return None
    splats = [splat_of(constant) for constant in literals]
    if None not in splats:
        columns = [[splat] for splat in cast("list[int]", splats)]
    elif count_of(type) > LIMIT:
        return None
    else:
        columns = [expanded(constant, count_of(type)) for constant in literals]
    function = cast("Callable[..., int | None]", compute)
    results = [function(*row) for row in zip(*columns, strict=True)]
    return None if None in results else literal(cast("list[int]", results), type)


def expanded(constant: Literal, count: int) -> list[int]:
    """The `count` elements of a constant in row-major order, with splats expanded."""
    splat = splat_of(constant)
    if splat is not None:
        return [splat] * count
    assert isinstance(constant, DenseElementsAttr)
    return constant.elements()


def materialize(value: Attribute, type: Type, build: Builder) -> ConstantOp | None:
    """Materialize a constant."""
    return (
        build.create(ConstantOp, value=value, types=[type]) if isinstance(value, Literal) else None
    )
