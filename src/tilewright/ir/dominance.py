"""Dominator trees of regions, and whether a value is visible to an operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation, Region
    from tilewright.ir.values import Value


def reverse_post_order(region: Region) -> list[Block]:
    """The blocks reachable from the entry in reverse post-order."""
    entry = region.blocks[0]
    seen = {entry}
    order: list[Block] = []
    stack = [(entry, iter(entry.last.successors if entry.last else ()))]
    while stack:
        block, successors = stack[-1]
        fresh = next((s for s in successors if s not in seen), None)
        if fresh is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(fresh)
            stack.append((fresh, iter(fresh.last.successors if fresh.last else ())))
    order.reverse()
    return order


def immediate_dominators(region: Region) -> dict[Block, Block]:
    """The immediate dominator of every reachable block; the entry's is itself.

    The algorithm is Cooper, Harvey and Kennedy's: intersect along the tree until a fixed point.
    """
    order = reverse_post_order(region)
    number = {block: index for index, block in enumerate(order)}
    predecessors: dict[Block, list[Block]] = {block: [] for block in order}
    for block in order:
        for successor in block.last.successors if block.last else ():
            predecessors[successor].append(block)
    dominator = {order[0]: order[0]}
    moved = True
    while moved:
        moved = False
        for block in order[1:]:
            known = [p for p in predecessors[block] if p in dominator]
            best = known[0]
            for other in known[1:]:
                best = _intersect(best, other, dominator, number)
            if dominator.get(block) is not best:
                dominator[block] = best
                moved = True
    return dominator


def _intersect(
    a: Block, b: Block, dominator: dict[Block, Block], number: dict[Block, int]
) -> Block:
    while a is not b:
        while number[a] > number[b]:
            a = dominator[a]
        while number[b] > number[a]:
            b = dominator[b]
    return a


class Dominance:
    """Answers dominance questions; trees are made once for each region that is asked about."""

    __slots__ = ("_trees",)

    def __init__(self) -> None:
        self._trees: dict[Region, dict[Block, Block]] = {}

    def dominates(self, value: Value, op: Operation) -> bool:
        """Whether `value` is defined on every path that leads to `op`."""
        home = value.parent_block
        if home is None:
            return False
        user = _ancestor_in_region(op, home.parent)
        if user is None or user.parent is None:
            return False
        if user.parent is not home:
            return self.block_dominates(home, user.parent)
        definition = value.defining_op()
        return definition is None or (definition is not user and _is_before(definition, user))

    def block_dominates(self, a: Block, b: Block) -> bool:
        """Whether every path from the entry to `b` passes `a`; both in one region."""
        region = a.parent
        assert region is not None
        tree = self._trees.get(region)
        if tree is None:
            tree = self._trees[region] = immediate_dominators(region)
        if b not in tree:
            return True  # nothing reaches b, so every path to it passes whatever one likes
        while b is not a:
            above = tree[b]
            if above is b:
                return False
            b = above
        return True


def _ancestor_in_region(op: Operation, region: Region | None) -> Operation | None:
    """The ancestor of `op`, or `op` itself, that lies directly in `region`."""
    ancestor: Operation | None = op
    while ancestor is not None and ancestor.parent_region is not region:
        ancestor = ancestor.parent_op
    return ancestor


def _is_before(a: Operation, b: Operation) -> bool:
    """Whether `a` stands before `b` in their common block."""
    op = a.next
    while op is not None:
        if op is b:
            return True
        op = op.next
    return False
