"""Removal of branches, blocks, block arguments and loop-carried values."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from tilewright.dialects.cf import BranchOp
from tilewright.dialects.llvm.control_flow import BrOp
from tilewright.driver.reduction.strategy import Strategy
from tilewright.driver.reduction.values import constant_or_value, is_inside, same_operand
from tilewright.ir.dominance import reverse_post_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.ir.operation import Block, Operation, Region
    from tilewright.ir.values import Value

UNCONDITIONAL: Final[dict[str, type[Operation]]] = {"cf": BranchOp, "llvm": BrOp}
"""The branch without a condition of each dialect."""


def passed_operands(branch: Operation) -> list[range] | None:
    """The operands that a branch passes to each successor; None if its form is another."""
    count = len(branch.successors)
    if count == 1:
        return [range(len(branch.operands))]
    sizes = branch.schema.group_sizes(branch)
    if len(sizes) != count + 1:
        return None
    ends = [sum(sizes[: index + 1]) for index in range(len(sizes))]
    return [range(start, end) for start, end in pairwise(ends)]


class SimplifyBranches(Strategy[tuple["Operation", int]]):
    """Replace a branch with several successors by one to the first or to the second."""

    name = "simplify branches"

    def targets(self, module: Operation) -> Sequence[tuple[Operation, int]]:
        """The conditional branches, with each successor."""
        return [
            (op, index)
            for op in module.walk()
            if len(op.successors) == 2 and op.dialect in UNCONDITIONAL
            for index in range(2)
        ]

    def edit(self, target: tuple[Operation, int], module: Operation) -> None:
        """Branch to the successor, and remove blocks that are not reachable any more."""
        op, index = target
        passed = passed_operands(op) if is_inside(op, module) else None
        if passed is None:
            return
        values = [op.operands[number] for number in passed[index]]
        kind = UNCONDITIONAL[op.dialect]
        branch = kind(values, (), {}, (), op.location, [op.successors[index]])
        region = op.parent_region
        branch.insert_before(op)
        op.erase()
        assert region is not None
        tidy(region)


def tidy(region: Region) -> None:
    """Remove unreachable blocks, and merge blocks into their only predecessor."""
    reachable = set(reverse_post_order(region))
    for block in region.blocks:
        if block not in reachable:
            for op in block:
                op.drop_all_operands()
    region.blocks[:] = [block for block in region.blocks if block in reachable]
    for block in region.blocks[1:]:
        before = block.predecessors()
        if len(before) == 1 and before[0] is not block:
            _merge(before[0], block, region)


def _merge(first: Block, second: Block, region: Region) -> None:
    branch = first.last
    assert branch is not None
    if len(branch.successors) != 1 or type(branch) not in UNCONDITIONAL.values():
        return
    for argument, value in zip(second.args, branch.operands, strict=True):
        argument.replace_all_uses_with(value)
    branch.erase()
    for op in list(second):
        first.append(op.detach())
    region.blocks.remove(second)


class RemoveBlockArguments(Strategy["Value"]):
    """Remove arguments of blocks that branches pass."""

    name = "remove block arguments"

    def targets(self, module: Operation) -> Sequence[Value]:
        """The arguments of all blocks but entries."""
        return [
            argument
            for op in module.walk()
            for region in op.regions
            for block in region.blocks[1:]
            for argument in block.args
        ]

    def edit(self, target: Value, module: Operation) -> None:
        """Remove the argument, and what branches pass for it."""
        block = target.parent_block
        owner = block.parent_op if block is not None else None
        if block is None or owner is None or not is_inside(owner, module):
            return
        branches = [each.last for each in block.predecessors() if each.last is not None]
        if any(passed_operands(branch) is None for branch in branches):
            return
        if target.users:
            first = block.first
            other = None if first is None else constant_or_value(target, first)
            if other is None or other in block.args:
                return
            target.replace_all_uses_with(other)
        for branch in branches:
            _drop_passed(branch, block, target.index)
        remove_argument(block, target.index)


def _drop_passed(branch: Operation, block: Block, index: int) -> None:
    ranges = passed_operands(branch)
    assert ranges is not None
    dropped = {
        passed[index]
        for passed, successor in zip(ranges, branch.successors, strict=True)
        if successor is block
    }
    remove_operands(branch, dropped)


def remove_operands(op: Operation, dropped: set[int]) -> None:
    """Remove operands by their numbers, and adapt the sizes of their groups."""
    segments = op.segments
    if segments is not None:
        starts = [sum(segments[:index]) for index in range(len(segments))]
        segments = tuple(
            size - len(dropped & set(range(start, start + size)))
            for start, size in zip(starts, segments, strict=True)
        )
    kept = [value for index, value in enumerate(op.operands) if index not in dropped]
    op.set_operands(kept, segments)


def remove_argument(block: Block, index: int) -> None:
    """Remove an argument of a block that has no uses."""
    block.args = (*block.args[:index], *block.args[index + 1 :])
    for position, argument in enumerate(block.args):
        argument.index = position


class RemoveCarriedValues(Strategy[tuple["Operation", int]]):
    """Remove results of operations with regions: loop-carried values, and results of branches."""

    name = "remove loop-carried values"

    def targets(self, module: Operation) -> Sequence[tuple[Operation, int]]:
        """The results of operations with regions."""
        return [(op, result.index) for op in module.walk() if op.regions for result in op.results]

    def edit_all(self, targets: Sequence[tuple[Operation, int]], module: Operation) -> None:
        """Remove the results, their initial values, block arguments and what is passed on."""
        by_op: dict[Operation, list[int]] = {}
        for op, index in targets:
            by_op.setdefault(op, []).append(index)
        for op, indices in by_op.items():
            current = op
            for index in sorted(indices, reverse=True):
                current = _without_result(current, index) or current


def _without_result(op: Operation, index: int) -> Operation | None:
    """The operation that replaces another, without a result; None if the result is needed."""
    result = op.results[index]
    from_end = len(op.results) - index
    if result.users:
        other = same_operand(result, op) or constant_or_value(result, op)
        if other is None:
            return None
        result.replace_all_uses_with(other)
    has_initial = _last(op.operands, op.results)
    initial = op.operands[-from_end] if has_initial else None
    for region in op.regions:
        for block in region.blocks[:1]:
            if _last(block.args, op.results) and not _drop_carried(block, from_end, initial):
                return None
    for last in list(_terminators_to(op)):
        if _last(last.operands, op.results):
            remove_operands(last, {len(last.operands) - from_end})
    if has_initial:
        remove_operands(op, {len(op.operands) - from_end})
    return _with_results(op, [each for each in op.results if each is not result])


def _drop_carried(block: Block, from_end: int, initial: Value | None) -> bool:
    """Remove a block argument, whose uses become its initial value."""
    argument = block.args[-from_end]
    if argument.users:
        if initial is None:
            return False
        argument.replace_all_uses_with(initial)
    remove_argument(block, argument.index)
    return True


def _with_results(op: Operation, kept: Sequence[Value]) -> Operation:
    """Replace an operation by one with some of its results."""
    made = op.like(op.operands, [each.type for each in kept], op.successors)
    regions = op.regions
    op.set_regions(())
    made.set_regions(regions)
    for earlier, now in zip(kept, made.results, strict=True):
        earlier.replace_all_uses_with(now)
    made.insert_before(op)
    op.erase()
    return made


def _last(values: Sequence[Value], results: Sequence[Value]) -> bool:
    """Whether the last values have the types of the results."""
    if len(values) < len(results):
        return False
    last = values[len(values) - len(results) :]
    return all(value.type is result.type for value, result in zip(last, results, strict=True))


def _terminators_to(op: Operation) -> Iterator[Operation]:
    """The terminators inside that pass values to the operation."""
    for region in op.regions:
        for inner in region.walk():
            if not inner.is_terminator:
                continue
            if not inner.jumps_to:
                if inner.parent_op is op:
                    yield inner
                continue
            outer = next((each for each in inner.ancestors() if each.name in inner.jumps_to), None)
            if outer is op:
                yield inner
