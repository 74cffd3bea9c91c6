"""Tiles of other shapes and parts of tiles: constants, and wrappers that change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tilewright.dialects import row_major
from tilewright.dialects.arith.literals import LIMIT, elementwise, expanded, literal, splat_of
from tilewright.dialects.elements import width_of, with_element
from tilewright.dialects.nv_tileaa.constraints import count, shape
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
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.rules import rule
from tilewright.ir.types import I1
from tilewright.support.bits import mask

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules
    from tilewright.ir.values import Value


def _known(constant: Attribute | None) -> DenseElementsAttr | None:
    """The elements of a constant tile, if it is one and they are not too many."""
    if not isinstance(constant, DenseElementsAttr):
        return None
    return constant if constant.is_splat or count(constant.type) <= LIMIT else None


def _gathered(
    constant: Attribute | None, type: Type, steps: Sequence[int], start: int | None = 0
) -> Folded:
    """The elements of a constant that a walk in other steps meets."""
    elements = _known(constant)
    if elements is None:
        return None
    if elements.is_splat:
        return DenseElementsAttr(elements.data, type)
    if start is None or count(type) > LIMIT:
        return None
    patterns = elements.elements()
    return literal([patterns[at] for at in row_major.offsets(shape(type), steps, start)], type)


def fold_range(op: MakeRangeOp, constants: Constants) -> Folded:
    """One element alone is known."""
    type = op.result.type
    return literal([op.start & mask(width_of(type))], type) if count(type) == 1 else None


def fold_view(op: ViewOp | ExpandDimsOp, constants: Constants) -> Folded:
    """Give constants another shape; where it stays or comes back, so does the value."""
    type = op.result.type
    if op.source.type is type:
        return op.source
    inner = op.source.defining_op()
    if isinstance(inner, ViewOp | ExpandDimsOp) and inner.source.type is type:
        return inner.source
    constant = constants[0]
    return (
        DenseElementsAttr(constant.data, type) if isinstance(constant, DenseElementsAttr) else None
    )


def fold_broadcast(op: BroadcastOp, constants: Constants) -> Folded:
    """Repeat the elements of constants; where the shape stays, so does the value."""
    if op.source.type is op.result.type:
        return op.source
    return _gathered(constants[0], op.result.type, row_major.repeated(shape(op.source.type)))


def fold_permute(op: PermuteOp, constants: Constants) -> Folded:
    """Exchange the dimensions of constants; nothing happens if each stays where it is."""
    if list(op.order) == list(range(len(op.order))):
        return op.source
    steps = row_major.strides(shape(op.source.type))
    return _gathered(constants[0], op.result.type, [steps[dim] for dim in op.order])


def fold_cat(op: CatOp, constants: Constants) -> Folded:
    """Put constants one after the other."""
    lhs, rhs = _known(constants[0]), _known(constants[1])
    if lhs is None or rhs is None:
        return None
    type, axis = op.result.type, op.axis
    if lhs.is_splat and lhs.data == rhs.data:
        return DenseElementsAttr(lhs.data, type)
    if count(type) > LIMIT:
        return None
    extents = [shape(side.type) for side in (op.lhs, op.rhs)]
    runs = [row_major.strides(each)[axis] * each[axis] for each in extents]
    left, right = expanded(lhs, count(op.lhs.type)), expanded(rhs, count(op.rhs.type))
    return literal(row_major.alternated(left, right, *runs), type)


def fold_slice(op: ExtractSliceOp, constants: Constants) -> Folded:
    """Cut a part out of a constant; the only part there is, is the whole."""
    whole, part = op.source.type, op.result.type
    if whole is part:
        return op.source
    start = row_major.part_start(shape(whole), shape(part), [splat_of(c) for c in constants[1:]])
    return _gathered(constants[0], part, row_major.strides(shape(whole)), start)


def fold_insertion(op: InsertSliceOp, constants: Constants) -> Folded:
    """Put a constant into another; a part as large as the whole takes its place."""
    part, whole = op.source.type, op.destination.type
    if part is whole:
        return op.source
    source, destination = _known(constants[0]), _known(constants[1])
    if source is None or destination is None:
        return None
    if source.is_splat and source.data == destination.data:
        return op.destination
    indices = [splat_of(constant) for constant in constants[2:]]
    start = row_major.part_start(shape(whole), shape(part), indices)
    if start is None or count(whole) > LIMIT:
        return None
    places = row_major.offsets(shape(part), row_major.strides(shape(whole)), start)
    inner, outer = expanded(source, count(part)), expanded(destination, count(whole))
    return literal(row_major.replaced(outer, inner, places), whole)


def fold_select(op: SelectOp, constants: Constants) -> Folded:
    """Choose where it is known what is chosen, or where it makes no difference."""
    condition, on_true, on_false = constants
    if op.true_value is op.false_value or (on_true is not None and on_true is on_false):
        return op.true_value
    chosen = splat_of(condition)
    if chosen is not None:
        return op.true_value if chosen else op.false_value
    if op.result.type is op.condition.type and (splat_of(on_true), splat_of(on_false)) == (1, 0):
        return op.condition
    return elementwise(lambda c, a, b: a if c else b, op.result.type, constants)


def fold_packing(op: PackOp | UnpackOp, constants: Constants) -> Folded:
    """Read the bytes of constants; packing and unpacking undo each other."""
    inner = op.source.defining_op()
    opposite = UnpackOp if isinstance(op, PackOp) else PackOp
    if isinstance(inner, opposite) and inner.source.type is op.result.type:
        return inner.source
    constant, size = constants[0], count(op.source.type)
    # Constants hold whole bytes in the same order, if elements are some bytes, and a power of two.
    wide = width_of(op.source.type if isinstance(op, PackOp) else op.result.type)
    if not isinstance(constant, DenseElementsAttr) or wide not in (8, 16, 32, 64) or size > LIMIT:
        return None
    return DenseElementsAttr(constant.data * (size if constant.is_splat else 1), op.result.type)


def _splat(scalar: Value, type: Type, build: Rewriter) -> Value:
    return build.create(SplatOp, source=scalar, types=[type]).result


@rule(SplatOp)
def push_select_through_splat(op: SplatOp, build: Rewriter) -> Replacement:
    """`splat (select c, t, f)` becomes `select (splat c), (splat t), (splat f)` of one shape."""
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


def _splat_again(op: Rearrangement | ExtractSliceOp, build: Rewriter) -> Replacement:
    """A tile made of a splat is a splat of the result's type."""
    if (splat := op.source.defined_by(SplatOp)) is None:
        return None
    build.fuse(splat)
    return _splat(splat.source, op.result.type, build)


@rule(ExpandDimsOp)
def fold_expand_dims_of_splat(op: ExpandDimsOp, build: Rewriter) -> Replacement:
    """`expand_dims (splat x)` becomes `splat x` of the result's type."""
    return _splat_again(op, build)


@rule(ViewOp)
def fold_view_chain(op: ViewOp, build: Rewriter) -> Replacement:
    """`view (view x)` becomes one `view`, and `view (splat x)` a splat: the elements stay in order.

    A dimension of extent one that was added in between changes no order either.
    """
    inner = op.source.defining_op()
    if not isinstance(inner, ViewOp | ExpandDimsOp):
        return _splat_again(op, build)
    build.fuse(inner)
    return build.create(ViewOp, source=inner.source, types=[op.result.type])


@rule(BroadcastOp)
def fold_broadcast_of_splat(op: BroadcastOp, build: Rewriter) -> Replacement:
    """`broadcast (splat x)` becomes `splat x` of the result's type."""
    return _splat_again(op, build)


@rule(BroadcastOp)
def broadcast_of_broadcast(op: BroadcastOp, build: Rewriter) -> Replacement:
    """`broadcast (broadcast x)` becomes one `broadcast`: both repeat what has extent one."""
    if (inner := op.source.defined_by(BroadcastOp)) is None:
        return None
    build.set_operands(op, (inner.source,))
    return op


@rule(PermuteOp)
def permute_of_permute(op: PermuteOp, build: Rewriter) -> Replacement:
    """`permute (permute x)` becomes one `permute`, of the two exchanges in a row."""
    inner = op.source.defined_by(PermuteOp)
    if inner is None:
        return None
    build.fuse(inner)
    chained = tuple(inner.order[dim] for dim in op.order)
    return build.create(PermuteOp, source=inner.source, order=chained, types=[op.result.type])


@rule(PermuteOp, ExtractSliceOp)
def part_of_splat(op: PermuteOp | ExtractSliceOp, build: Rewriter) -> Replacement:
    """A permutation or a part of a splat is a splat: all elements are the same."""
    return _splat_again(op, build)


FOLDS: Final[Folds] = {
    MakeRangeOp: fold_range,
    BroadcastOp: fold_broadcast,
    PermuteOp: fold_permute,
    CatOp: fold_cat,
    ExtractSliceOp: fold_slice,
    InsertSliceOp: fold_insertion,
    SelectOp: fold_select,
    **dict.fromkeys((ViewOp, ExpandDimsOp), fold_view),
    **dict.fromkeys((PackOp, UnpackOp), fold_packing),
}
RULES: Final[Rules] = (
    push_select_through_splat,
    fold_expand_dims_of_splat,
    fold_view_chain,
    fold_broadcast_of_splat,
    broadcast_of_broadcast,
    permute_of_permute,
    part_of_splat,
)
