"""Folds of shape operations: constants, splats and identities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.literals import elementwise, literal, splat_of
from tilewright.dialects.elements import width_of, with_element
from tilewright.dialects.folding.shapes import (
    ShapeOps,
    merge_broadcasts,
    merge_permutes,
    shape_folds,
)
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileaa.shape import (
    BroadcastOp,
    CatOp,
    ExpandDimsOp,
    ExtractSliceOp,
    InsertSliceOp,
    MakeRangeOp,
    PackOp,
    PermuteOp,
    Rearrangement,
    SelectOp,
    SplatOp,
    UnpackOp,
    ViewOp,
)
from tilewright.ir.rules import rule
from tilewright.ir.types import I1
from tilewright.support.bits import mask

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules
    from tilewright.ir.values import Value


def fold_range(op: MakeRangeOp, constants: Constants) -> Folded:
    """A range of one element is a constant."""
    type = op.result.type
    return literal([op.start & mask(width_of(type))], type) if count(type) == 1 else None


def fold_select(op: SelectOp, constants: Constants) -> Folded:
    """Fold a constant condition, equal arms, `select c, true, false`, and constants."""
    condition, on_true, on_false = constants
    if op.true_value is op.false_value or (on_true is not None and on_true is on_false):
        return op.true_value
    chosen = splat_of(condition)
    if chosen is not None:
        return op.true_value if chosen else op.false_value
    if op.result.type is op.condition.type and (splat_of(on_true), splat_of(on_false)) == (1, 0):
        return op.condition
    return elementwise(lambda c, a, b: a if c else b, op.result.type, constants)


def _splat(scalar: Value, type: Type, build: Rewriter) -> Value:
    return build.create(SplatOp, source=scalar, types=[type]).result


@rule(SplatOp)
def push_select_through_splat(op: SplatOp, build: Rewriter) -> Replacement:
    """`splat (select c, t, f)` becomes `select (splat c), (splat t), (splat f)`."""
    choice = op.source.defined_by(SelectOp)
    if choice is None:
        return None
    build.fuse(choice)
    type = op.result.type
    condition = _splat(choice.condition, with_element(type, I1), build)
    true_value, false_value = (_splat(arm, type, build) for arm in choice.operands[1:])
    return build.create(
        SelectOp, condition=condition, true_value=true_value, false_value=false_value
    )


def _resplat(op: Rearrangement | ExtractSliceOp, build: Rewriter) -> Replacement:
    """A rearranged splat is a splat of the result type."""
    if (splat := op.source.defined_by(SplatOp)) is None:
        return None
    build.fuse(splat)
    return _splat(splat.source, op.result.type, build)


@rule(ExpandDimsOp)
def fold_expand_dims_of_splat(op: ExpandDimsOp, build: Rewriter) -> Replacement:
    """`expand_dims (splat x)` becomes `splat x` of the result type."""
    return _resplat(op, build)


@rule(ViewOp)
def fold_view_chain(op: ViewOp, build: Rewriter) -> Replacement:
    """`view (view x)` becomes one `view`, and `view (splat x)` a splat.

    `view (expand_dims x)` is a `view` of `x` as well.
    """
    inner = op.source.defining_op()
    if not isinstance(inner, ViewOp | ExpandDimsOp):
        return _resplat(op, build)
    build.fuse(inner)
    return build.create(ViewOp, source=inner.source, types=[op.result.type])


@rule(BroadcastOp)
def fold_broadcast_of_splat(op: BroadcastOp, build: Rewriter) -> Replacement:
    """`broadcast (splat x)` becomes `splat x` of the result type."""
    return _resplat(op, build)


@rule(PermuteOp, ExtractSliceOp)
def part_of_splat(op: PermuteOp | ExtractSliceOp, build: Rewriter) -> Replacement:
    """`permute (splat x)` and `extract_slice (splat x)` are splats."""
    return _resplat(op, build)


_OPS: Final = ShapeOps(
    reshapes=(ViewOp, ExpandDimsOp),
    broadcast=BroadcastOp,
    permute=PermuteOp,
    order="order",
    cat=CatOp,
    axis="axis",
    extract=ExtractSliceOp,
    insert=InsertSliceOp,
    pack=PackOp,
    unpack=UnpackOp,
)
FOLDS: Final[Folds] = {
    **shape_folds(_OPS),
    MakeRangeOp: fold_range,
    SelectOp: fold_select,
}
RULES: Final[Rules] = (
    push_select_through_splat,
    fold_expand_dims_of_splat,
    fold_view_chain,
    fold_broadcast_of_splat,
    merge_broadcasts(BroadcastOp),
    merge_permutes(PermuteOp, "order"),
    part_of_splat,
)
