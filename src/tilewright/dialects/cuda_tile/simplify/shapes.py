"""Folds and rules of shape operations, `iota` and `offset`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.literals import splat_of
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
from tilewright.dialects.cuda_tile.simplify.constants import splat
from tilewright.dialects.cuda_tile.traits import tile
from tilewright.dialects.folding.shapes import (
    ShapeOps,
    merge_broadcasts,
    merge_permutes,
    shape_folds,
)
from tilewright.ir.rules import rule

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules


def fold_iota(op: IotaOp, constants: Constants) -> Folded:
    """An `iota` of one element is zero."""
    return splat(0, op.result.type) if tile(op.result).count == 1 else None


def fold_offset(op: OffsetOp, constants: Constants) -> Folded:
    """`offset p, 0` is `p`."""
    return op.ptr if splat_of(constants[1]) == 0 else None


@rule(ReshapeOp)
def reshape_of_reshape(op: ReshapeOp, build: Rewriter) -> Replacement:
    """`reshape (reshape x)` becomes one `reshape`."""
    if (inner := op.source.defined_by(ReshapeOp)) is None:
        return None
    build.set_operands(op, (inner.source,))
    return op


_OPS: Final = ShapeOps(
    reshapes=(ReshapeOp,),
    broadcast=BroadcastOp,
    permute=PermuteOp,
    order="permutation",
    cat=CatOp,
    axis="dim",
    extract=ExtractOp,
    insert=InsertOp,
    pack=PackOp,
    unpack=UnpackOp,
)
FOLDS: Final[Folds] = {
    **shape_folds(_OPS),
    IotaOp: fold_iota,
    OffsetOp: fold_offset,
}
RULES: Final[Rules] = (
    merge_broadcasts(BroadcastOp),
    reshape_of_reshape,
    merge_permutes(PermuteOp, "permutation"),
)
