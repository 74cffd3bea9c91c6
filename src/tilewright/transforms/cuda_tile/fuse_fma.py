"""Fusion of products and sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.floating import AddFOp, FmaOp, MulFOp, NegFOp, SubFOp
from tilewright.dialects.cuda_tile.simplify.floats import product_on_the_left
from tilewright.ir.passes import Pass
from tilewright.ir.rules import apply_rules, rule

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


@rule(AddFOp)
def fuse_sum(op: AddFOp, build: Rewriter) -> Replacement:
    """`a * b + c` becomes `fma a, b, c`, if nobody else needs the product and both round alike."""
    product = _product(op)
    return None if product is None else _fused(op, product, op.rhs, build)


@rule(SubFOp)
def fuse_difference(op: SubFOp, build: Rewriter) -> Replacement:
    """`a * b - c` becomes `fma a, b, -c`, under the same conditions: negation is exact."""
    product = _product(op)
    if product is None:
        return None
    return _fused(op, product, build.create(NegFOp, source=op.rhs).result, build)


def _product(op: AddFOp | SubFOp) -> MulFOp | None:
    """The product on the left, if it can be fused."""
    product = op.lhs.defined_by(MulFOp)
    if product is None or not op.lhs.has_one_use:
        return None
    if product.rounding_mode is not op.rounding_mode:
        return None
    return product if product.flush_to_zero == op.flush_to_zero else None


def _fused(op: AddFOp | SubFOp, product: MulFOp, addend: Value, build: Rewriter) -> FmaOp:
    build.fuse(product)
    return build.create(
        FmaOp,
        lhs=product.lhs,
        rhs=product.rhs,
        acc=addend,
        rounding_mode=op.rounding_mode,
        flush_to_zero=op.flush_to_zero,
    )


RULES: Final[Rules] = (product_on_the_left, fuse_sum, fuse_difference)


class FuseFma(Pass):
    """Make one operation of a product and a sum; it rounds once where there were two roundings."""

    name = "fuse-fma"

    def run(self, op: Operation, sink: Sink) -> None:
        apply_rules(op, RULES, sink=sink)
