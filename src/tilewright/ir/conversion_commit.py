"""Commit and rollback of a conversion: replace the blocks of a region, undo insertions."""

from __future__ import annotations

from tilewright.ir.operation import Block, Operation, Region


def undo_insertions(inserted: list[Operation | Block], mark: int) -> bool:
    """Remove all but the first `mark` insertions, last first; returns whether there were any."""
    if len(inserted) == mark:
        return False
    while len(inserted) > mark:
        last = inserted.pop()
        if isinstance(last, Operation):
            last.detach()
            last.drop_operands()
        elif last.parent is not None:
            last.parent.blocks.remove(last)
    return True


def replace_blocks(old: Region, new: Region) -> None:
    """Replace the blocks of a region by those of another."""
    for block in old.blocks:
        block.parent = None
    old.blocks = new.blocks
    for block in old.blocks:
        block.parent = old
