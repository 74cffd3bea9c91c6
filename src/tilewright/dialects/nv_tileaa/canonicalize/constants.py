"""Constants: splat matching, and materialization of tiles of equal elements as splats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith import literals
from tilewright.dialects.arith.literals import literal, splat_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.shape import SplatOp
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.rules import constant_of

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def splat_value(value: Value) -> int | None:
    """The bit pattern of a constant of equal elements, or `None`."""
    return splat_of(constant_of(value))


def materialize(value: Attribute, type: Type, build: Builder) -> Operation | None:
    """Materialize a constant; a tile of equal elements as a splat."""
    if not isinstance(value, DenseElementsAttr) or not value.is_splat:
        return literals.materialize(value, type, build)
    element = element_of(type)
    number = literal(value.elements(), element)
    scalar = None if number is None else literals.materialize(number, element, build)
    if scalar is None:
        return None
    return build.create(SplatOp, source=scalar.result, types=[type])


def constant(pattern: int, type: Type, build: Builder) -> Value:
    """A constant tile of equal elements, given by their bit pattern."""
    number = literal([pattern], type)
    assert number is not None
    op = materialize(number, type, build)
    assert op is not None
    return op.results[0]
