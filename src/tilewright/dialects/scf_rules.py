"""Rules of scf: constant conditions and trip counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.literals import materialize, splat_of
from tilewright.dialects.elements import width_of
from tilewright.dialects.scf import ForOp, IfOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.dialect import Dialect
from tilewright.ir.rules import constant_of, rule
from tilewright.support.numerics.integer import number

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules
    from tilewright.ir.values import Value

__all__ = ["RULES", "materialize"]


def _inline(
    block: Block, op: Operation, build: Rewriter, arguments: Sequence[Value] = ()
) -> Sequence[Value]:
    """Inline a block before `op`; returns the operands of its `yield`, which is erased."""
    last = block.last
    assert last is not None
    build.inline_block(block, InsertPoint.before(op), arguments)
    passed = last.operands
    build.erase(last)
    return passed


@rule(IfOp)
def constant_condition(op: IfOp, build: Rewriter) -> Replacement:
    """`if` on a constant is replaced by the branch taken."""
    condition = splat_of(constant_of(op.condition))
    if condition is None:
        return None
    branch = op.then_region if condition else op.else_region
    return _inline(branch.block, op, build) if branch.blocks else ()


@rule(IfOp)
def same_results(op: IfOp, build: Rewriter) -> Replacement:
    """A result is its yielded value, if both branches yield the same one from outside."""
    if not op.else_region.blocks:
        return None
    yielded = [region.block.last for region in op.regions]
    changed = False
    for index, result in enumerate(op.results):
        values = {last.operands[index] for last in yielded if last is not None}
        if result.is_used and len(values) == 1:
            build.replace_value(result, values.pop())
            changed = True
    return op if changed else None


@rule(ForOp)
def constant_trip_count(op: ForOp, build: Rewriter) -> Replacement:
    """Fold a trip count of zero to the initial values, and inline the body for one."""
    patterns = [splat_of(constant_of(value)) for value in op.operands[:3]]
    if op.lower_bound is op.upper_bound:
        return op.init_args
    lower, upper, step = patterns
    if lower is None or upper is None:
        return None
    bits, signed = width_of(op.lower_bound.type), not op.unsigned_cmp
    start, end = (number(each, bits, signed=signed) for each in (lower, upper))
    if start >= end:
        return op.init_args
    if step is None or number(step, bits, signed=signed) < max(end - start, 1):
        return None
    # Some attributes are verified against the loop that an operation is in.
    checks = Dialect.attribute_checks.keys()
    if not all(checks.isdisjoint(each.attributes) for each in op.body.block):
        return None
    return _inline(op.body.block, op, build, [op.lower_bound, *op.init_args])


RULES: Final[Rules] = (constant_condition, same_results, constant_trip_count)
