"""Region utilities: inlining of branches and bodies, and their terminators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from tilewright.dialects.cuda_tile.control_flow import (
    BreakOp,
    ContinueOp,
    IfOp,
    RegionTerminatorOp,
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
    """The block of the `then` region."""
    return op.then_region.block


def else_block(op: IfOp) -> Block | None:
    """The block of the `else` region, or `None` if it is empty."""
    blocks = op.else_region.blocks
    return blocks[0] if blocks else None


def terminator_of(block: Block) -> RegionTerminatorOp:
    """The terminator of a branch or body."""
    assert isinstance(block.last, RegionTerminatorOp)
    return block.last


def exits(block: Block | None) -> bool:
    """Whether a branch exits by `break`, `continue` or `return`, so that control skips the rest."""
    return block is not None and not isinstance(block.last, YieldOp)


def has_only_terminator(block: Block) -> bool:
    """Whether a branch contains only its terminator."""
    return block.first is block.last


def jumps(body: Block) -> Iterator[BreakOp | ContinueOp]:
    """The `break` and `continue` operations of the loop of this body, not of nested loops."""
    last = body.last
    if isinstance(last, BreakOp | ContinueOp):
        yield last
    for op in body:
        if isinstance(op, IfOp):
            for branch in (block for region in op.regions for block in region.blocks):
                yield from jumps(branch)


def is_outside(value: Value, block: Block) -> bool:
    """Whether a value is defined outside of a block."""
    return value.parent_block is not block


def erase_after(op: Operation, build: Rewriter) -> None:
    """Erase all operations after an operation in its block."""
    block = op.parent
    assert block is not None
    for later in reversed(block):
        if later is op:
            return
        build.erase(later)


def inline(
    block: Block, op: Operation, build: Rewriter, arguments: Sequence[Value] = ()
) -> Sequence[Value]:
    """Inline a block before `op`; returns the operands of its terminator, which is erased."""
    last = terminator_of(block)
    build.inline_block(block, InsertPoint.before(op), arguments)
    passed = last.operands
    build.erase(last)
    return passed


def inline_exiting(
    block: Block, op: Operation, build: Rewriter, arguments: Sequence[Value] = ()
) -> Sequence[Value]:
    """Inline a block that exits before `op`, and erase all operations after `op`.

    The results of `op` have no uses left, so any replacement is valid.
    """
    erase_after(op, build)
    build.inline_block(block, InsertPoint.before(op), arguments)
    return op.results


def rebuild(op: OpT, operands: Sequence[Value], types: Sequence[Type], build: Rewriter) -> OpT:
    """Insert an operation of the same kind with other operands and results, and empty blocks."""
    rebuilt = op.like(operands, types)
    rebuilt.set_regions([Region([Block()] if region.blocks else ()) for region in op.regions])
    return build.insert(rebuilt)


def refill(rebuilt: Operation, op: Operation, build: Rewriter) -> None:
    """Move the contents of the regions of `op` to those of an operation rebuilt from it."""
    for target, source in zip(rebuilt.regions, op.regions, strict=True):
        for block in target.blocks:
            build.merge_blocks(source.block, block, block.args)


def keep(values: Sequence[Value], positions: Sequence[int]) -> list[Value]:
    """The values at the given positions."""
    return [values[position] for position in positions]
