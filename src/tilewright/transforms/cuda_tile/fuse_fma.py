"""Fusion of `mulf` and `addf` or `subf` into `fma`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.floating import AddFOp, FmaOp, MulFOp, NegFOp, SubFOp
from tilewright.dialects.cuda_tile.simplify.floats import mul_to_lhs
from tilewright.ir.passes import Pass
from tilewright.ir.rules import apply_rules, rule

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


@rule(AddFOp)
def fuse_add(op: AddFOp, build: Rewriter) -> Replacement:
    """`a * b + c` becomes `fma a, b, c`, if `a * b` has no other use and both round alike."""
    mul = _fusible_mul(op)
    return None if mul is None else _fused(op, mul, op.rhs, build)


@rule(SubFOp)
def fuse_sub(op: SubFOp, build: Rewriter) -> Replacement:
    """`a * b - c` becomes `fma a, b, -c`, under the same conditions: negation is exact."""
    mul = _fusible_mul(op)
    if mul is None:
        return None
    return _fused(op, mul, build.create(NegFOp, source=op.rhs).result, build)


def _fusible_mul(op: AddFOp | SubFOp) -> MulFOp | None:
    """The multiplication on the left, if it can be fused."""
    mul = op.lhs.defined_by(MulFOp)
    if mul is None or not op.lhs.has_one_use:
        return None
    if mul.rounding_mode is not op.rounding_mode:
        return None
    return mul if mul.flush_to_zero == op.flush_to_zero else None


def _fused(op: AddFOp | SubFOp, mul: MulFOp, addend: Value, build: Rewriter) -> FmaOp:
    build.fuse(mul)
    return build.create(
        FmaOp,
        lhs=mul.lhs,
        rhs=mul.rhs,
        acc=addend,
        rounding_mode=op.rounding_mode,
        flush_to_zero=op.flush_to_zero,
    )


RULES: Final[Rules] = (mul_to_lhs, fuse_add, fuse_sub)


class FuseFma(Pass):
    """Fuse a multiplication and an addition; the result is rounded once instead of twice."""

    name = "fuse-fma"

    def run(self, op: Operation, sink: Sink) -> None:
        apply_rules(op, RULES, sink=sink)
