"""Folds of vector: extraction of known elements, and constants."""

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


def _flat_index(shape: tuple[int, ...], position: tuple[int, ...]) -> int | None:
    """Return the row-major index of an element, or `None` if an index is dynamic."""
    if len(position) != len(shape) or any(index < 0 for index in position):
        return None
    flat_index = 0
    for extent, index in zip(shape, position, strict=True):
        flat_index = flat_index * extent + index
    return flat_index


def fold_extract(op: ExtractOp, constants: Constants) -> Folded:
    """Fold the extraction of an element of a constant, a splat or known elements."""
    if not op.static_position:
        return op.source if op.source.type is op.result.type else None
    splat = splat_of(constants[0])
    if splat is not None:
        return literal([splat], op.result.type)
    source = op.source.defining_op()
    if isinstance(source, BroadcastOp | SplatOp) and source.operands[0].type is op.result.type:
        return source.operands[0]
    index = _flat_index(vector(op.source).shape, op.static_position)
    if index is None:
        return None
    if isinstance(constants[0], DenseElementsAttr):
        return literal([constants[0].elements()[index]], op.result.type)
    if isinstance(source, FromElementsOp):
        return source.elements[index]
    return _from_insert(op, index)


def _from_insert(op: ExtractOp, index: int) -> Folded:
    """Fold the extraction of an inserted element."""
    source = op.source.defined_by(InsertOp)
    if source is None:
        return None
    inserted = _flat_index(vector(source.dest).shape, source.static_position)
    return source.value if inserted == index else None


def fold_broadcast(op: BroadcastOp | SplatOp, constants: Constants) -> Folded:
    """Fold a splat of a constant, or a broadcast to the same type."""
    source, result = op.operands[0], op.results[0]
    if source.type is result.type:
        return source
    splat = splat_of(constants[0])
    return None if splat is None else literal([splat], result.type)


def fold_shape_cast(op: ShapeCastOp, constants: Constants) -> Folded:
    """Fold a shape cast of a constant, to the same type, or back to the original type."""
    if op.source.type is op.result.type:
        return op.source
    inner = op.source.defined_by(ShapeCastOp)
    if inner is not None and inner.source.type is op.result.type:
        return inner.source
    constant = constants[0]
    if isinstance(constant, DenseElementsAttr):
        return DenseElementsAttr(constant.data, op.result.type)
    return None


def fold_from_elements(op: FromElementsOp, constants: Constants) -> Folded:
    """Fold a vector of constants, or of all elements of one vector."""
    first = op.elements[0].defining_op() if op.elements else None
    if isinstance(first, ToElementsOp) and op.elements == first.elements:
        return first.source if first.source.type is op.result.type else None
    numbers = [each for each in constants if isinstance(each, IntegerAttr | FloatAttr)]
    if not constants or len(numbers) < len(constants) or len(numbers) > LIMIT:
        return None
    patterns = [pattern for each in numbers if (pattern := splat_of(each)) is not None]
    return literal(patterns, op.result.type)


def fold_to_elements(op: ToElementsOp, constants: Constants) -> Folded:
    """Fold the elements of a constant, or of a vector built from elements."""
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
    BroadcastOp: fold_broadcast,
    SplatOp: fold_broadcast,
    ShapeCastOp: fold_shape_cast,
    FromElementsOp: fold_from_elements,
    ToElementsOp: fold_to_elements,
}
