"""Rules of `if`: constant conditions, hoisted and unused results, nested `if`s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.bitwise import AndIOp
from tilewright.dialects.cuda_tile.control_flow import IfOp, YieldOp
from tilewright.dialects.cuda_tile.simplify.constants import splat_value
from tilewright.dialects.cuda_tile.simplify.regions import (
    else_block,
    erase_after,
    exits,
    has_only_terminator,
    inline,
    inline_exiting,
    is_outside,
    keep,
    rebuild,
    refill,
    terminator_of,
    then_block,
)
from tilewright.dialects.cuda_tile.simplify.selection import choose, negated
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.rules import rule
from tilewright.ir.types import F4E2M1FN

if TYPE_CHECKING:
    from tilewright.ir.operation import Block
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules
    from tilewright.ir.values import Value


@rule(IfOp)
def constant_condition(op: IfOp, build: Rewriter) -> Replacement:
    """`if` on a constant becomes the branch taken; if that exits, the rest is erased."""
    condition = splat_value(op.condition)
    return None if condition is None else take_branch(op, bool(condition), build)


def take_branch(op: IfOp, condition: bool, build: Rewriter) -> Sequence[Value]:
    """Inline the branch taken before an `if`; returns the replacements of its results."""
    branch = then_block(op) if condition else else_block(op)
    if branch is None:
        return ()
    return inline_exiting(branch, op, build) if exits(branch) else inline(branch, op, build)


@rule(IfOp)
def unused_results(op: IfOp, build: Rewriter) -> Replacement:
    """Remove unused results."""
    used = [result.index for result in op.results if result.is_used]
    if len(used) == len(op.results):
        return None
    rebuilt = rebuild(op, op.operands, [op.results[at].type for at in used], build)
    refill(rebuilt, op, build)
    for region in rebuilt.regions:
        last = terminator_of(region.block)
        if isinstance(last, YieldOp):
            build.set_operands(last, keep(last.operands, used))
    values = dict(zip(used, rebuilt.results, strict=True))
    return [values.get(result.index, result) for result in op.results]


@rule(IfOp)
def hoist_results(op: IfOp, build: Rewriter) -> Replacement:
    """Replace results whose yielded values are defined outside of the `if`.

    If both branches yield the same value, or the other one exits, it is that value; two different
    tiles become a `select`.
    """
    changed = False
    for result in op.results:
        if result.is_used and (value := _hoisted(op, result.index, build)) is not None:
            build.replace_value(result, value)
            changed = True
    return op if changed else None


def _hoisted(op: IfOp, position: int, build: Rewriter) -> Value | None:
    """The replacement of a result before the `if`, or `None`."""
    blocks = [block for region in op.regions for block in region.blocks if not exits(block)]
    yielded = [terminator_of(block).operands[position] for block in blocks]
    if not all(is_outside(v, block) for v, block in zip(yielded, blocks, strict=True)):
        return None
    match yielded:
        case [value]:
            return value
        case [on_true, on_false] if on_true is on_false:
            return on_true
        case [on_true, on_false] if _is_selectable(on_true):
            return choose(op.condition, on_true, on_false, build)
        case _:
            return None


def _is_selectable(value: Value) -> bool:
    """Whether `select` supports the type of a value: no tokens and no f4E2M1FN tiles."""
    return isinstance(value.type, TileType) and value.type.element is not F4E2M1FN


@rule(IfOp)
def negated_condition(op: IfOp, build: Rewriter) -> Replacement:
    """`if !c { A } else { B }` becomes `if c { B } else { A }`."""
    condition, otherwise = negated(op.condition), else_block(op)
    if condition is None or otherwise is None:
        return None
    types = [result.type for result in op.results]
    rebuilt = rebuild(op, (condition,), types, build)
    build.merge_blocks(otherwise, then_block(rebuilt))
    build.merge_blocks(then_block(op), rebuilt.else_region.block)
    return rebuilt


@rule(IfOp)
def empty_else(op: IfOp, build: Rewriter) -> Replacement:
    """Remove an empty `else`."""
    otherwise = else_block(op)
    if op.results or otherwise is None or exits(otherwise) or not has_only_terminator(otherwise):
        return None
    build.erase_block(otherwise)
    return op


@rule(IfOp)
def both_branches_exit(op: IfOp, build: Rewriter) -> Replacement:
    """If both branches exit, erase the code after the `if` and inline its `else` branch there."""
    otherwise = else_block(op)
    if otherwise is None or not exits(otherwise) or not exits(then_block(op)):
        return None
    erase_after(op, build)
    rebuilt = rebuild(op, op.operands, (), build)
    build.merge_blocks(then_block(op), then_block(rebuilt))
    build.erase_block(rebuilt.else_region.block)
    return inline_exiting(otherwise, op, build)


@rule(IfOp)
def nested_ifs(op: IfOp, build: Rewriter) -> Replacement:
    """`if a { if b { A } }` becomes `if a & b { A }`.

    With results, both `else` branches must yield the same values.
    """
    inner = then_block(op).first
    if not isinstance(inner, IfOp) or inner.next is not then_block(op).last:
        return None
    if exits(then_block(op)) or not _is_trivial(else_block(op), else_block(inner)):
        return None
    passed = terminator_of(then_block(op)).operands
    if not all(value.defining_op() is inner for value in passed):
        return None
    order = [value.index for value in passed]
    if op.results:
        if exits(then_block(inner)) or not _yield_same(op, inner, order):
            return None
    elif inner.results:
        return None
    return _merge_nested(op, inner, order, build)


def _is_trivial(*branches: Block | None) -> bool:
    return all(b is None or (has_only_terminator(b) and not exits(b)) for b in branches)


def _yield_same(op: IfOp, inner: IfOp, order: list[int]) -> bool:
    """Whether both `else` branches yield the same values."""
    outer_else, inner_else = else_block(op), else_block(inner)
    assert outer_else is not None
    assert inner_else is not None
    return list(terminator_of(outer_else).operands) == keep(
        terminator_of(inner_else).operands, order
    )


def _merge_nested(op: IfOp, inner: IfOp, order: list[int], build: Rewriter) -> IfOp:
    build.fuse(inner)
    condition = build.create(AndIOp, lhs=op.condition, rhs=inner.condition).result
    merged = rebuild(op, (condition,), [result.type for result in op.results], build)
    body = then_block(merged)
    if merged.results:
        build.merge_blocks(op.else_region.block, merged.else_region.block)
    elif (otherwise := else_block(merged)) is not None:
        build.erase_block(otherwise)
    build.erase(terminator_of(then_block(op)))
    build.merge_blocks(then_block(inner), body)
    last = terminator_of(body)
    if isinstance(last, YieldOp):
        build.set_operands(last, keep(last.operands, order))
    return merged


RULES: Final[Rules] = (
    constant_condition,
    unused_results,
    hoist_results,
    negated_condition,
    empty_else,
    both_branches_exit,
    nested_ifs,
)
