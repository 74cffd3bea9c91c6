"""Whether two operations are the same program, whatever their values are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation, Region
    from tilewright.ir.values import Value


def equivalent(a: Operation, b: Operation, *, locations: bool = False) -> bool:
    """Whether `a` and `b` have equal structure, attributes and types; on request, locations."""
    return _Comparison(locations).operations(a, b)


class _Comparison:
    __slots__ = ("_blocks", "_locations", "_twin")

    def __init__(self, locations: bool) -> None:
        self._locations = locations
        self._twin: dict[Value, Value] = {}
        self._blocks: dict[Block, Block] = {}

    def operations(self, a: Operation, b: Operation) -> bool:
        twin = self._twin
        if (
            a.name != b.name
            or a.attributes != b.attributes
            or a.segments != b.segments
            or len(a.operands) != len(b.operands)
            or [twin.get(value, value) for value in a.operands] != list(b.operands)
            or [result.type for result in a.results] != [result.type for result in b.results]
            or [self._blocks.get(s, s) for s in a.successors] != list(b.successors)
            or len(a.regions) != len(b.regions)
            or (self._locations and a.location != b.location)
        ):
            return False
        twin.update(zip(a.results, b.results, strict=True))
        return all(self.regions(x, y) for x, y in zip(a.regions, b.regions, strict=True))

    def regions(self, a: Region, b: Region) -> bool:
        if len(a.blocks) != len(b.blocks):
            return False
        for x, y in zip(a.blocks, b.blocks, strict=True):
            self._blocks[x] = y
            if [arg.type for arg in x.args] != [arg.type for arg in y.args]:
                return False
            self._twin.update(zip(x.args, y.args, strict=True))
        return all(self.block_bodies(x, y) for x, y in zip(a.blocks, b.blocks, strict=True))

    def block_bodies(self, a: Block, b: Block) -> bool:
        x, y = a.first, b.first
        while x is not None and y is not None:
            if not self.operations(x, y):
                return False
            x, y = x.next, y.next
        return x is None and y is None
