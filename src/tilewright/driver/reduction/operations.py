"""Removal of operations, of regions, and of the control flow around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.driver.reduction.strategy import Strategy
from tilewright.driver.reduction.values import (
    SUBSTITUTES,
    any_substitute,
    constant_or_value,
    is_inside,
    remove,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Block, Operation, Region
    from tilewright.ir.values import Value


def nesting(op: Operation) -> int:
    """The number of operations around an operation."""
    return sum(1 for _ in op.ancestors())


class RemoveOperations(Strategy["Operation"]):
    """Remove operations at one level of nesting, and replace their results."""

    def __init__(self, prefer: str, level: int | None = None) -> None:
        level_text = "" if level is None else f" at level {level}"
        self.name = f"remove operations{level_text}, prefer {prefer}"
        self._substitute = SUBSTITUTES[prefer]
        self._level = level

    def targets(self, module: Operation) -> Sequence[Operation]:
        """All operations but terminators."""
        inner = [op for op in module.walk() if op is not module and not op.is_terminator]
        if self._level is None:
            return inner
        base = nesting(module)
        return [op for op in inner if nesting(op) - base == self._level]

    def edit(self, target: Operation, module: Operation) -> None:
        """Remove the operation."""
        if is_inside(target, module):
            remove(target, self._substitute)


class InlineRegions(Strategy[tuple["Operation", int]]):
    """Replace an operation by the body of one of its regions."""

    name = "inline regions"

    def targets(self, module: Operation) -> Sequence[tuple[Operation, int]]:
        """The regions of one block, of operations that are not isolated."""
        return [
            (op, index)
            for op in module.walk()
            if op is not module and op.parent is not None and not op.is_isolated
            for index, region in enumerate(op.regions)
            if len(region.blocks) == 1
        ]

    def edit(self, target: tuple[Operation, int], module: Operation) -> None:
        """Put the body before the operation, and remove it."""
        op, index = target
        if is_inside(op, module) and len(op.regions[index].blocks) == 1:
            _inline(op, op.regions[index].blocks[0])


def _inline(op: Operation, block: Block) -> None:
    # Loop-carried values are the last operands and the last block arguments.
    for argument, initial in zip(block.args, _aligned(op.operands, block.args), strict=True):
        if not argument.users:
            continue
        other = initial or constant_or_value(argument, op)
        if other is None:
            return
        argument.replace_all_uses_with(other)
    last = block.terminator
    if last is not None:
        for result, value in zip(op.results, _aligned(last.operands, op.results), strict=True):
            if value is not None:
                result.replace_all_uses_with(value)
        last.erase()
    for inner in list(block):
        inner.detach().insert_before(op)
    remove(op, any_substitute)


def _aligned(values: Sequence[Value], slots: Sequence[Value]) -> list[Value | None]:
    """For each slot the value of the same position counted from the end, if types agree."""
    shift = len(values) - len(slots)
    pairs = [
        (values[index + shift] if 0 <= index + shift else None, slot)
        for index, slot in enumerate(slots)
    ]
    return [value if value and value.type is slot.type else None for value, slot in pairs]


class DropRegions(Strategy[tuple["Operation", int]]):
    """Empty the regions that may have no block, such as those of else."""

    name = "drop regions"

    def targets(self, module: Operation) -> Sequence[tuple[Operation, int]]:
        """The regions that are declared without a least number of blocks."""
        return [
            (op, index)
            for op in module.walk()
            for index, (region, field) in enumerate(
                zip(op.regions, op.schema.regions, strict=False)
            )
            if region.blocks and not field.min_blocks
        ]

    def edit(self, target: tuple[Operation, int], module: Operation) -> None:
        """Remove all blocks of the region."""
        op, index = target
        if is_inside(op, module):
            clear(op.regions[index])


def clear(region: Region) -> None:
    """Remove all blocks of a region."""
    for inner in list(region.walk()):
        inner.drop_operands()
    region.blocks.clear()
