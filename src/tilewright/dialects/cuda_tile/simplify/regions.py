"""Regions taken apart: branches and bodies moved to where they belong, and how they end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from tilewright.dialects.cuda_tile.control_flow import (
    BreakOp,
    ContinueOp,
    IfOp,
    LeavingOp,
    YieldOp,
)
from tilewright.ir.builder import InsertPoint
from tilewright.ir.operation import Block, Operation, Region

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.values import Value

OpT = TypeVar("OpT", bound=Operation)


def then_block(op: IfOp) -> Block:
    """The branch that runs if the condition holds."""
    return op.then_region.block


def else_block(op: IfOp) -> Block | None:
    """The branch that runs if the condition does not hold, if it is written."""
    blocks = op.else_region.blocks
    return blocks[0] if blocks else None


def leaving(block: Block) -> LeavingOp:
    """The operation that ends a branch or a body."""
    assert isinstance(block.last, LeavingOp)
    return block.last


def exits(block: Block | None) -> bool:
    """Whether a branch leaves for good, so that what follows its `if` does not run."""
    return block is not None and not isinstance(block.last, YieldOp)


def only_leaves(block: Block) -> bool:
    """Whether a branch holds nothing but the operation that ends it."""
    return block.first is block.last


def jumps(body: Block) -> Iterator[BreakOp | ContinueOp]:
    """The operations that end or repeat the loop of this body; other loops have their own."""
    last = body.last
    if isinstance(last, BreakOp | ContinueOp):
        yield last
    for op in body:
        if isinstance(op, IfOp):
            for branch in (block for region in op.regions for block in region.blocks):
                yield from jumps(branch)


def is_outside(value: Value, block: Block) -> bool:
    """Whether a value that a block passes on was defined before the block was entered."""
    return value.parent_block is not block


def erase_behind(op: Operation, build: Rewriter) -> None:
    """Delete all that follows an operation in its block."""
    block = op.parent
    assert block is not None
    for later in reversed(block):
        if later is op:
            return
        build.erase(later)


def inline(
    block: Block, op: Operation, build: Rewriter, arguments: Sequence[Value] = ()
) -> Sequence[Value]:
    """Move what a block holds in front of `op`; gives what the block passes on at its end."""
    last = leaving(block)
    build.inline_block(block, InsertPoint.before(op), arguments)
    passed = last.operands
    build.erase(last)
    return passed


def inline_exit(
    block: Block, op: Operation, build: Rewriter, arguments: Sequence[Value] = ()
) -> Sequence[Value]:
    """Let a block that leaves for good take the place of `op` and of all behind it.

    Nobody uses the results of `op` any more, so they may stand for themselves.
    """
    erase_behind(op, build)
    build.inline_block(block, InsertPoint.before(op), arguments)
    return op.results


def rebuild(op: OpT, operands: Sequence[Value], types: Sequence[Type], build: Rewriter) -> OpT:
    """Insert an operation of the same kind with other operands and results, and empty blocks."""
    made = op.like(operands, types)
    made.set_regions([Region([Block()] if region.blocks else ()) for region in op.regions])
    return build.insert(made)


def refill(made: Operation, op: Operation, build: Rewriter) -> None:
    """Move the contents of the regions of `op` to those of an operation rebuilt from it."""
    for target, source in zip(made.regions, op.regions, strict=True):
        for block in target.blocks:
            build.merge_blocks(source.block, block, block.args)


def keep(values: Sequence[Value], positions: Sequence[int]) -> list[Value]:
    """The values at certain positions."""
    return [values[position] for position in positions]
