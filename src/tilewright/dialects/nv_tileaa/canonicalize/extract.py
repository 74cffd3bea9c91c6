"""Single elements of tiles: taken as far up as they can be found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tilewright.dialects import row_major
from tilewright.dialects.arith.literals import literal, splat_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.canonicalize.constants import constant, known
from tilewright.dialects.nv_tileaa.constraints import ELEMENTWISE, shape
from tilewright.dialects.nv_tileaa.shape import (
    ExpandDimsOp,
    ExtractOp,
    MakeRangeOp,
    SplatOp,
    ViewOp,
)
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.effects import is_effect_free
from tilewright.ir.rules import rule
from tilewright.ir.traits import CONSTANT_LIKE
from tilewright.ir.types import I32

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules
    from tilewright.ir.values import Value

_STANDARD: Final = ("arith", "math")
"""Dialects whose operations on tensors all compute element by element."""


def _place(extents: Sequence[int], indices: Sequence[int | None]) -> int | None:
    """The number of an element in row-major order; none if it is not known, or outside."""
    return row_major.part_start(extents, (1,) * len(extents), indices)


def fold_extract(op: ExtractOp, constants: Constants) -> Folded:
    """An element of a splat is its scalar; one of a constant or of a range is known."""
    splat = op.source.defined_by(SplatOp)
    if splat is not None:
        return splat.source
    place = _place(shape(op.source.type), [splat_of(index) for index in constants[1:]])
    if place is None:
        return None
    if (numbers := op.source.defined_by(MakeRangeOp)) is not None:
        return literal([numbers.start + place], op.result.type)
    tile = constants[0]
    if not isinstance(tile, DenseElementsAttr):
        return None
    elements = tile.elements()
    return literal([elements[0 if tile.is_splat else place]], op.result.type)


def is_elementwise(op: Operation) -> bool:
    """Whether each element of the results comes from the same place of the operands alone."""
    if ELEMENTWISE in op.traits:
        return is_effect_free(op)
    return op.dialect in _STANDARD and CONSTANT_LIKE not in op.traits


@rule(ExtractOp)
def hoist_extract_through_elementwise(op: ExtractOp, build: Rewriter) -> Replacement:
    """`extract (f x, y)[i]` becomes `f (extract x[i]), (extract y[i])`: element `i` needs no other.

    The tile must have no other use than for its elements, or it would be computed twice. An
    element of `expand_dims x` is one of `x`, at the indices without that of the new dimension.
    """
    source = op.source.defining_op()
    if isinstance(source, ExpandDimsOp):
        indices = [index for dim, index in enumerate(op.indices) if dim != source.axis]
        build.fuse(source)
        return _element(source.source, indices, build)
    if source is None or not is_elementwise(source) or not _serves_elements(source):
        return None
    build.fuse(source)
    elements = [_element(value, op.indices, build) for value in source.operands]
    made = source.like(elements, [element_of(result.type) for result in source.results])
    made.location = build.location
    return build.insert(made).results[op.source.index]


def _element(tile: Value, indices: Sequence[Value], build: Rewriter) -> Value:
    """An element of a tile; a scalar among tiles is the same for all elements."""
    if not shape(tile.type):
        return tile
    types = [element_of(tile.type)]
    return build.create(ExtractOp, source=tile, indices=indices, types=types).result


def _serves_elements(op: Operation) -> bool:
    return all(isinstance(user, ExtractOp) for result in op.results for user in result.users)


@rule(ExtractOp)
def extract_of_view(op: ExtractOp, build: Rewriter) -> Replacement:
    """`extract (view x)[i]` with known indices is the element of `x` at the same place in order."""
    view = op.source.defined_by(ViewOp)
    if view is None:
        return None
    place = _place(shape(view.result.type), [known(index) for index in op.indices])
    if place is None:
        return None
    build.fuse(view)
    extents = shape(view.source.type)
    steps = zip(row_major.strides(extents), extents, strict=True)
    indices = [constant(place // step % extent, I32, build) for step, extent in steps]
    return _element(view.source, indices, build)


FOLDS: Final[Folds] = {ExtractOp: fold_extract}
RULES: Final[Rules] = (hoist_extract_through_elementwise, extract_of_view)
