"""Rules of `if`: known conditions, results that need no branch, branches that go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.bitwise import AndIOp
from tilewright.dialects.cuda_tile.control_flow import IfOp, YieldOp
from tilewright.dialects.cuda_tile.simplify.constants import splat_value
from tilewright.dialects.cuda_tile.simplify.regions import (
    else_block,
    erase_behind,
    exits,
    inline,
    inline_exit,
    is_outside,
    keep,
    leaving,
    only_leaves,
    rebuild,
    refill,
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
def known_condition(op: IfOp, build: Rewriter) -> Replacement:
    """`if` on a constant becomes the branch that runs; if that exits, all behind it goes."""
    condition = splat_value(op.condition)
    return None if condition is None else take_branch(op, bool(condition), build)


def take_branch(op: IfOp, condition: bool, build: Rewriter) -> Sequence[Value]:
    """Move the branch that runs in front of an `if`; gives what stands for its results."""
    branch = then_block(op) if condition else else_block(op)
    if branch is None:
        return ()
    return inline_exit(branch, op, build) if exits(branch) else inline(branch, op, build)


@rule(IfOp)
def unused_results(op: IfOp, build: Rewriter) -> Replacement:
    """Results that nobody uses are not yielded."""
    used = [result.index for result in op.results if result.is_used]
    if len(used) == len(op.results):
        return None
    made = rebuild(op, op.operands, [op.results[at].type for at in used], build)
    refill(made, op, build)
    for region in made.regions:
        last = leaving(region.block)
        if isinstance(last, YieldOp):
            build.set_operands(last, keep(last.operands, used))
    values = dict(zip(used, made.results, strict=True))
    return [values.get(result.index, result) for result in op.results]


@rule(IfOp)
def results_without_branch(op: IfOp, build: Rewriter) -> Replacement:
    """A result that is computed before the `if` needs no branch.

    If both branches yield it, or the other one exits, it is that value; of two different tiles a
    `select` chooses.
    """
    changed = False
    for result in op.results:
        if result.is_used and (value := _hoisted(op, result.index, build)) is not None:
            build.replace_value(result, value)
            changed = True
    return op if changed else None


def _hoisted(op: IfOp, position: int, build: Rewriter) -> Value | None:
    """What stands for a result in front of the `if`, if that can be."""
    blocks = [block for region in op.regions for block in region.blocks if not exits(block)]
    yielded = [leaving(block).operands[position] for block in blocks]
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
    """Whether `select` takes a value: it cannot choose between tokens or parts of bytes."""
    return isinstance(value.type, TileType) and value.type.element is not F4E2M1FN


@rule(IfOp)
def negated_condition(op: IfOp, build: Rewriter) -> Replacement:
    """`if !c { A } else { B }` becomes `if c { B } else { A }`."""
    condition, otherwise = negated(op.condition), else_block(op)
    if condition is None or otherwise is None:
        return None
    types = [result.type for result in op.results]
    made = rebuild(op, (condition,), types, build)
    build.merge_blocks(otherwise, then_block(made))
    build.merge_blocks(then_block(op), made.else_region.block)
    return made


@rule(IfOp)
def empty_else(op: IfOp, build: Rewriter) -> Replacement:
    """An `else` that does nothing goes."""
    otherwise = else_block(op)
    if op.results or otherwise is None or exits(otherwise) or not only_leaves(otherwise):
        return None
    build.erase_block(otherwise)
    return op


@rule(IfOp)
def both_branches_exit(op: IfOp, build: Rewriter) -> Replacement:
    """If both branches exit, what follows goes, and the `else` branch takes its place."""
    otherwise = else_block(op)
    if otherwise is None or not exits(otherwise) or not exits(then_block(op)):
        return None
    erase_behind(op, build)
    made = rebuild(op, op.operands, (), build)
    build.merge_blocks(then_block(op), then_block(made))
    build.erase_block(made.else_region.block)
    return inline_exit(otherwise, op, build)


@rule(IfOp)
def nested_ifs(op: IfOp, build: Rewriter) -> Replacement:
    """`if a { if b { A } }` becomes `if a & b { A }`.

    Results pass through, if the same values come out where either condition does not hold.
    """
    inner = then_block(op).first
    if not isinstance(inner, IfOp) or inner.next is not then_block(op).last:
        return None
    if exits(then_block(op)) or not _is_trivial(else_block(op), else_block(inner)):
        return None
    passed = leaving(then_block(op)).operands
    if not all(value.defining_op() is inner for value in passed):
        return None
    order = [value.index for value in passed]
    if op.results:
        if exits(then_block(inner)) or not _yield_alike(op, inner, order):
            return None
    elif inner.results:
        return None
    return _joined(op, inner, order, build)


def _is_trivial(*branches: Block | None) -> bool:
    return all(b is None or (only_leaves(b) and not exits(b)) for b in branches)


def _yield_alike(op: IfOp, inner: IfOp, order: list[int]) -> bool:
    """Whether both `else` branches give the same values."""
    outer_else, inner_else = else_block(op), else_block(inner)
    assert outer_else is not None
    assert inner_else is not None
    return list(leaving(outer_else).operands) == keep(leaving(inner_else).operands, order)


def _joined(op: IfOp, inner: IfOp, order: list[int], build: Rewriter) -> IfOp:
    build.fuse(inner)
    both = build.create(AndIOp, lhs=op.condition, rhs=inner.condition).result
    made = rebuild(op, (both,), [result.type for result in op.results], build)
    body = then_block(made)
    if made.results:
        build.merge_blocks(op.else_region.block, made.else_region.block)
    elif (otherwise := else_block(made)) is not None:
        build.erase_block(otherwise)
    build.erase(leaving(then_block(op)))
    build.merge_blocks(then_block(inner), body)
    last = leaving(body)
    if isinstance(last, YieldOp):
        build.set_operands(last, keep(last.operands, order))
    return made


RULES: Final[Rules] = (
    known_condition,
    unused_results,
    results_without_branch,
    negated_condition,
    empty_else,
    both_branches_exit,
    nested_ifs,
)
