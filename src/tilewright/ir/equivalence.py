"""Structural equivalence of two operations, up to the names of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.ir.operation import Block, Operation, Region
    from tilewright.ir.values import Value


def equivalent(
    a: Operation,
    b: Operation,
    *,
    locations: bool = False,
    twins: Mapping[Value, Value] | None = None,
) -> bool:
    """Whether `a` and `b` have equal structure, attributes and types; on request, locations.

    `twins` maps values of `a` to those that `b` has in their stead.
    """
    comparison = _Comparison(locations, twins or {})
    return comparison.operations(a, b) and comparison.is_consistent()


class _Comparison:
    __slots__ = ("_blocks", "_locations", "_pending", "_twin")

    def __init__(self, locations: bool, twins: Mapping[Value, Value]) -> None:
        self._locations = locations
        self._twin = dict(twins)
        self._blocks: dict[Block, Block] = {}
        self._pending: list[tuple[Value, Value]] = []
        """Operands from outside, or whose definitions come later in the text."""

    def operations(self, a: Operation, b: Operation) -> bool:
        if (
            a.name != b.name
            or a.attributes != b.attributes
            or a.segments != b.segments
            or len(a.operands) != len(b.operands)
            or not self.operands(a, b)
            or [result.type for result in a.results] != [result.type for result in b.results]
            or [self._blocks.get(s, s) for s in a.successors] != list(b.successors)
            or len(a.regions) != len(b.regions)
            or (self._locations and a.location != b.location)
        ):
            return False
        self._twin.update(zip(a.results, b.results, strict=True))
        return all(self.regions(x, y) for x, y in zip(a.regions, b.regions, strict=True))

    def operands(self, a: Operation, b: Operation) -> bool:
        for x, y in zip(a.operands, b.operands, strict=True):
            twin = self._twin.get(x)
            if twin is None:
                self._pending.append((x, y))
            elif twin is not y:
                return False
        return True

    def is_consistent(self) -> bool:
        return all(self._twin.get(x, x) is y for x, y in self._pending)

    def regions(self, a: Region, b: Region) -> bool:
        if len(a.blocks) != len(b.blocks):
            return False
        for x, y in zip(a.blocks, b.blocks, strict=True):
            self._blocks[x] = y
            if [arg.type for arg in x.args] != [arg.type for arg in y.args]:
                return False
            if self._locations and not self.same_locations(x, y):
                return False
            self._twin.update(zip(x.args, y.args, strict=True))
        return all(self.block_bodies(x, y) for x, y in zip(a.blocks, b.blocks, strict=True))

    def same_locations(self, a: Block, b: Block) -> bool:
        return [arg.location for arg in a.args] == [arg.location for arg in b.args]

    def block_bodies(self, a: Block, b: Block) -> bool:
        x, y = a.first, b.first
        while x is not None and y is not None:
            if not self.operations(x, y):
                return False
            x, y = x.next, y.next
        return x is None and y is None
