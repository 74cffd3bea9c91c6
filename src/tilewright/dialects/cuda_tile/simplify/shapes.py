"""Folds and rules of the operations that move elements: shapes, parts, bytes, addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tilewright.dialects import row_major
from tilewright.dialects.cuda_tile.core import (
    BroadcastOp,
    CatOp,
    ExtractOp,
    InsertOp,
    IotaOp,
    OffsetOp,
    PackOp,
    PermuteOp,
    ReshapeOp,
    UnpackOp,
)
from tilewright.dialects.cuda_tile.simplify.constants import (
    LIMIT,
    dense,
    dense_of,
    expanded,
    splat,
    splat_of,
    width,
)
from tilewright.dialects.cuda_tile.traits import tile
from tilewright.dialects.row_major import offsets, strides
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.rules import rule

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.types import TileType
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules


def _gathered(
    constant: DenseElementsAttr, type: TileType, steps: Sequence[int], start: int = 0
) -> Folded:
    """The elements of a constant that a walk with other strides meets."""
    if constant.is_splat:
        return DenseElementsAttr(constant.data, type)
    elements = expanded(constant)
    if elements is None or type.count > LIMIT:
        return None
    return dense_of([elements[at] for at in offsets(type.shape, steps, start)], type)


def fold_iota(op: IotaOp, constants: Constants) -> Folded:
    """One element alone is zero."""
    return splat(0, op.result.type) if tile(op.result).count == 1 else None


def fold_broadcast(op: BroadcastOp, constants: Constants) -> Folded:
    """Repeat the elements of constants; where the shape stays, so does the value."""
    if op.source.type is op.result.type:
        return op.source
    if (constant := dense(constants[0])) is None:
        return None
    return _gathered(constant, tile(op.result), row_major.repeated(tile(op.source).shape))


def fold_reshape(op: ReshapeOp, constants: Constants) -> Folded:
    """Give constants another shape; where it stays or comes back, so does the value."""
    if op.source.type is op.result.type:
        return op.source
    inner = op.source.defined_by(ReshapeOp)
    if inner is not None and inner.source.type is op.result.type:
        return inner.source
    constant = dense(constants[0])
    return None if constant is None else DenseElementsAttr(constant.data, op.result.type)


def fold_permute(op: PermuteOp, constants: Constants) -> Folded:
    """Exchange the dimensions of constants; nothing happens if each stays where it is."""
    if list(op.permutation) == list(range(len(op.permutation))):
        return op.source
    if (constant := dense(constants[0])) is None:
        return None
    steps = strides(tile(op.source).shape)
    return _gathered(constant, tile(op.result), [steps[dim] for dim in op.permutation])


def fold_cat(op: CatOp, constants: Constants) -> Folded:
    """Put constants one after the other."""
    lhs, rhs = dense(constants[0]), dense(constants[1])
    if lhs is None or rhs is None:
        return None
    result = tile(op.result)
    if lhs.is_splat and lhs.data == rhs.data:
        return DenseElementsAttr(lhs.data, result)
    left, right = expanded(lhs), expanded(rhs)
    if left is None or right is None or result.count > LIMIT:
        return None
    # Everything inside the dimension comes in runs, one of each side by turns.
    run, other = (strides(tile(side).shape)[op.dim] * tile(side).shape[op.dim]
                  for side in (op.lhs, op.rhs))  # fmt: skip
    return dense_of(row_major.alternated(left, right, run, other), result)


def _start(whole: TileType, part: TileType, indices: Constants) -> int | None:
    """Where a part begins in a tile; none if that is not known, or outside."""
    return row_major.part_start(whole.shape, part.shape, [splat_of(index) for index in indices])


def fold_extract(op: ExtractOp, constants: Constants) -> Folded:
    """Cut a part out of a constant; the only part there is, is the whole."""
    whole, part = tile(op.source), tile(op.result)
    if whole is part:
        return op.source
    if (constant := dense(constants[0])) is None:
        return None
    if constant.is_splat:
        return DenseElementsAttr(constant.data, part)
    start = _start(whole, part, constants[1:])
    return None if start is None else _gathered(constant, part, strides(whole.shape), start)


def fold_insert(op: InsertOp, constants: Constants) -> Folded:
    """Put a constant into another; a part as large as the whole takes its place."""
    part, whole = tile(op.source), tile(op.destination)
    if part is whole:
        return op.source
    source, destination = dense(constants[0]), dense(constants[1])
    if source is None or destination is None:
        return None
    if source.is_splat and source.data == destination.data:
        return destination
    start = _start(whole, part, constants[2:])
    inner, outer = expanded(source), expanded(destination)
    if start is None or inner is None or outer is None:
        return None
    places = offsets(part.shape, strides(whole.shape), start)
    return dense_of(row_major.replaced(outer, inner, places), whole)


def fold_packing(op: PackOp | UnpackOp, constants: Constants) -> Folded:
    """Read the bytes of constants; packing and unpacking undo each other."""
    inner = op.source.defining_op()
    opposite = UnpackOp if isinstance(op, PackOp) else PackOp
    if isinstance(inner, opposite) and inner.source.type is op.result.type:
        return inner.source
    constant = dense(constants[0])
    # Constants hold whole bytes in the same order, if elements are some bytes, and a power of two.
    wide = width(op.source.type if isinstance(op, PackOp) else op.result.type)
    if constant is None or wide not in (8, 16, 32, 64) or tile(op.source).count > LIMIT:
        return None
    count = tile(op.source).count if constant.is_splat else 1
    return DenseElementsAttr(constant.data * count, op.result.type)


def fold_offset(op: OffsetOp, constants: Constants) -> Folded:
    """An address moved by nothing is itself."""
    return op.ptr if splat_of(constants[1]) == 0 else None


@rule(BroadcastOp)
def broadcast_of_broadcast(op: BroadcastOp, build: Rewriter) -> Replacement:
    """`broadcast (broadcast x)` becomes one `broadcast`: both repeat what has extent one."""
    if (inner := op.source.defined_by(BroadcastOp)) is None:
        return None
    build.set_operands(op, (inner.source,))
    return op


@rule(ReshapeOp)
def reshape_of_reshape(op: ReshapeOp, build: Rewriter) -> Replacement:
    """`reshape (reshape x)` becomes one `reshape`: the order of the elements never changes."""
    if (inner := op.source.defined_by(ReshapeOp)) is None:
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
    chained = tuple(inner.permutation[dim] for dim in op.permutation)
    return build.create(PermuteOp, source=inner.source, permutation=chained, types=[op.result.type])


FOLDS: Final[Folds] = {
    IotaOp: fold_iota,
    BroadcastOp: fold_broadcast,
    ReshapeOp: fold_reshape,
    PermuteOp: fold_permute,
    CatOp: fold_cat,
    ExtractOp: fold_extract,
    InsertOp: fold_insert,
    **dict.fromkeys((PackOp, UnpackOp), fold_packing),
    OffsetOp: fold_offset,
}
RULES: Final[Rules] = (broadcast_of_broadcast, reshape_of_reshape, permute_of_permute)
