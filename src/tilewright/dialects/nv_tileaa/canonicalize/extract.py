"""Folds of `extract`: hoisted through the operations that compute the tile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tilewright.dialects import row_major
from tilewright.dialects.arith.literals import literal, splat_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.canonicalize.constants import constant, splat_value
from tilewright.dialects.nv_tileaa.constraints import shape
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
from tilewright.ir.traits import ELEMENTWISE
from tilewright.ir.types import I32

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules
    from tilewright.ir.values import Value


def _linear_index(extents: Sequence[int], indices: Sequence[int | None]) -> int | None:
    """The row-major index of an element; `None` if unknown or out of bounds."""
    return row_major.slice_start(extents, (1,) * len(extents), indices)


def fold_extract(op: ExtractOp, constants: Constants) -> Folded:
    """An element of a splat is its scalar; one of a constant or of a range is a constant."""
    splat = op.source.defined_by(SplatOp)
    if splat is not None:
        return splat.source
    index = _linear_index(shape(op.source.type), [splat_of(each) for each in constants[1:]])
    if index is None:
        return None
    if (numbers := op.source.defined_by(MakeRangeOp)) is not None:
        return literal([numbers.start + index], op.result.type)
    tile = constants[0]
    if not isinstance(tile, DenseElementsAttr):
        return None
    elements = tile.elements()
    return literal([elements[0 if tile.is_splat else index]], op.result.type)


def is_elementwise(op: Operation) -> bool:
    """Whether each result element depends only on the operand elements at the same index."""
    return ELEMENTWISE in op.traits and is_effect_free(op)


@rule(ExtractOp)
def hoist_extract_through_elementwise(op: ExtractOp, build: Rewriter) -> Replacement:
    """`extract (f x, y)[i]` becomes `f (extract x[i]), (extract y[i])` for elementwise `f`.

    The tile must only be used by `extract`, or it would be computed twice. An element of
    `expand_dims x` is one of `x`, without the index of the new dimension.
    """
    source = op.source.defining_op()
    if isinstance(source, ExpandDimsOp):
        indices = [index for dim, index in enumerate(op.indices) if dim != source.axis]
        build.fuse(source)
        return _element(source.source, indices, build)
    if source is None or not is_elementwise(source) or not _is_only_extracted(source):
        return None
    build.fuse(source)
    elements = [_element(value, op.indices, build) for value in source.operands]
    scalar_op = source.like(elements, [element_of(result.type) for result in source.results])
    scalar_op.location = build.location
    return build.insert(scalar_op).results[op.source.index]


def _element(tile: Value, indices: Sequence[Value], build: Rewriter) -> Value:
    """Extract an element of a tile; a scalar operand is used as it is."""
    if not shape(tile.type):
        return tile
    types = [element_of(tile.type)]
    return build.create(ExtractOp, source=tile, indices=indices, types=types).result


def _is_only_extracted(op: Operation) -> bool:
    return all(isinstance(user, ExtractOp) for result in op.results for user in result.users)


@rule(ExtractOp)
def extract_of_view(op: ExtractOp, build: Rewriter) -> Replacement:
    """`extract (view x)[i]` is `extract x[j]` at the same row-major index, if `i` is constant."""
    view = op.source.defined_by(ViewOp)
    if view is None:
        return None
    linear = _linear_index(shape(view.result.type), [splat_value(index) for index in op.indices])
    if linear is None:
        return None
    build.fuse(view)
    extents = shape(view.source.type)
    steps = zip(row_major.strides(extents), extents, strict=True)
    indices = [constant(linear // step % extent, I32, build) for step, extent in steps]
    return _element(view.source, indices, build)


FOLDS: Final[Folds] = {ExtractOp: fold_extract}
RULES: Final[Rules] = (hoist_extract_through_elementwise, extract_of_view)
