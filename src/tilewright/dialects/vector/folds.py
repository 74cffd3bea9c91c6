"""Folds of vector: elements of what was just made, and constants in other shapes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.attributes import Literal
from tilewright.dialects.arith.literals import LIMIT, literal, materialize, splat_of
from tilewright.dialects.elements import vector
from tilewright.dialects.vector.elements import (
    ExtractOp,
    FromElementsOp,
    InsertOp,
    ToElementsOp,
)
from tilewright.dialects.vector.shapes import BroadcastOp, ShapeCastOp, SplatOp
from tilewright.ir.attributes import Attribute, DenseElementsAttr, FloatAttr, IntegerAttr
from tilewright.ir.types import VectorType

if TYPE_CHECKING:
    from tilewright.ir.rules import Constants, Folded, Folds

__all__ = ["FOLDS", "materialize"]


def _flat(shape: tuple[int, ...], position: tuple[int, ...]) -> int | None:
    """The number of an element in row-major order; nothing if an index is unknown."""
    if len(position) != len(shape) or any(index < 0 for index in position):
        return None
    place = 0
    for extent, index in zip(shape, position, strict=True):
        place = place * extent + index
    return place


def fold_extract(op: ExtractOp, constants: Constants) -> Folded:
    """An element of a constant, or of a vector whose making is known."""
    if not op.static_position:
        return op.source if op.source.type is op.result.type else None
    splat = splat_of(constants[0])
    if splat is not None:
        return literal([splat], op.result.type)
    source = op.source.defining_op()
    if isinstance(source, BroadcastOp | SplatOp) and source.operands[0].type is op.result.type:
        return source.operands[0]
    place = _flat(vector(op.source).shape, op.static_position)
    if place is None:
        return None
    if isinstance(constants[0], DenseElementsAttr):
        return literal([constants[0].elements()[place]], op.result.type)
    if isinstance(source, FromElementsOp):
        return source.elements[place]
    return _from_insert(op, place)


def _from_insert(op: ExtractOp, place: int) -> Folded:
    """The element that was just put in."""
    source = op.source.defined_by(InsertOp)
    if source is None:
        return None
    put = _flat(vector(source.dest).shape, source.static_position)
    return source.value if put == place else None


def fold_repetition(op: BroadcastOp | SplatOp, constants: Constants) -> Folded:
    """A constant, repeated; what keeps its type is not repeated."""
    source, result = op.operands[0], op.results[0]
    if source.type is result.type:
        return source
    splat = splat_of(constants[0])
    return None if splat is None else literal([splat], result.type)


def fold_shape(op: ShapeCastOp, constants: Constants) -> Folded:
    """A constant in another shape; there and back again is where it began."""
    if op.source.type is op.result.type:
        return op.source
    inner = op.source.defined_by(ShapeCastOp)
    if inner is not None and inner.source.type is op.result.type:
        return inner.source
    constant = constants[0]
    if isinstance(constant, DenseElementsAttr):
        return DenseElementsAttr(constant.data, op.result.type)
    return None


def fold_making(op: FromElementsOp, constants: Constants) -> Folded:
    """A vector of constants; or one that is taken apart only to be put together."""
    first = op.elements[0].defining_op() if op.elements else None
    if isinstance(first, ToElementsOp) and op.elements == first.elements:
        return first.source if first.source.type is op.result.type else None
    numbers = [each for each in constants if isinstance(each, IntegerAttr | FloatAttr)]
    if not constants or len(numbers) < len(constants) or len(numbers) > LIMIT:
        return None
    patterns = [pattern for each in numbers if (pattern := splat_of(each)) is not None]
    return literal(patterns, op.result.type)


def fold_parts(op: ToElementsOp, constants: Constants) -> Folded:
    """The elements of a constant, or those that a vector was just made of."""
    source = op.source.defined_by(FromElementsOp)
    if source is not None:
        return source.elements
    constant = constants[0]
    if not isinstance(constant, DenseElementsAttr) or len(op.elements) > LIMIT:
        return None
    type = constant.type
    assert isinstance(type, VectorType)
    patterns = constant.elements() * (prod(type.shape) if constant.is_splat else 1)
    parts: list[Attribute | None] = [literal([pattern], type.element) for pattern in patterns]
    return [part for part in parts if isinstance(part, Literal)]


FOLDS: Final[Folds] = {
    ExtractOp: fold_extract,
    BroadcastOp: fold_repetition,
    SplatOp: fold_repetition,
    ShapeCastOp: fold_shape,
    FromElementsOp: fold_making,
    ToElementsOp: fold_parts,
}
