"""Common subexpression elimination."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tilewright.ir.dominance import immediate_dominators
from tilewright.ir.effects import is_effect_free, may_write
from tilewright.ir.equivalence import equivalent
from tilewright.ir.passes import Pass, statistic
from tilewright.ir.traits import COMMUTATIVE
from tilewright.support.location import UNKNOWN

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation, Region
    from tilewright.support.diagnostics import Sink

_Key: TypeAlias = tuple[object, ...]


class Cse(Pass):
    """Replace an operation by an equal one that dominates it.

    Operations without effects are merged wherever they dominate; reads only within a block, and
    only if nothing in between may write. Operations with regions are equal if these are.
    """

    name = "cse"
    merged = statistic("operations replaced by an equal one")

    def run(self, op: Operation, sink: Sink) -> None:
        for region in op.regions:
            scope = _Scope()
            scope.region(region)
            self.merged.add(sink, scope.merged)


class _Scope:
    """The operations that dominate the current one, by a key that is equal for equal operations."""

    __slots__ = ("_entered", "_known", "_memory", "merged")

    def __init__(self) -> None:
        self._known: dict[_Key, Operation] = {}
        self._entered: list[_Key] = []
        self.merged = 0
        self._memory = 0
        """The number of possible writes so far: reads are equal only at the same number."""

    def region(self, region: Region) -> None:
        """Go through the blocks along the dominator tree."""
        if len(region.blocks) == 1:
            self.leave(self.block(region.blocks[0]))
            return
        if not region.blocks:
            return
        dominators = immediate_dominators(region)
        children: dict[Block, list[Block]] = {block: [] for block in dominators}
        entry = region.blocks[0]
        for block, dominator in dominators.items():
            if block is not entry:
                children[dominator].append(block)
        stack: list[tuple[Block, int | None]] = [(entry, None)]
        while stack:
            block, mark = stack.pop()
            if mark is not None:
                self.leave(mark)
                continue
            stack.append((block, self.block(block)))
            stack += [(child, None) for child in reversed(children[block])]

    def block(self, block: Block) -> int:
        """Merge the operations of a block; returns the mark to leave it by."""
        mark = len(self._entered)
        self._memory += 1
        for op in block:
            if op.regions:
                self.inside(op)
            if not op.is_terminator:
                self.visit(op)
        return mark

    def inside(self, op: Operation) -> None:
        """Merge the operations in the regions of one; their memory effects are its own."""
        scope = _Scope() if op.is_isolated else self
        memory = self._memory
        for region in op.regions:
            scope.region(region)
        if scope is not self:
            self.merged += scope.merged
        self._memory = memory

    def leave(self, mark: int) -> None:
        """Forget what was entered since the mark, the latest first."""
        entered = self._entered
        while len(entered) > mark:
            del self._known[entered.pop()]

    def visit(self, op: Operation) -> None:
        """Replace one operation by an equal one, or remember it."""
        if is_effect_free(op):
            key = _key(op)
        elif may_write(op):
            self._memory += 1
            return
        else:
            key = (*_key(op), self._memory)
        known = self._known.get(key)
        if known is None:
            self._known[key] = op
            self._entered.append(key)
        elif not op.regions or equivalent(known, op):
            _merge(op, known)
            self.merged += 1


def _key(op: Operation) -> _Key:
    operands: list[int] = [id(value) for value in op.operands]
    if COMMUTATIVE in op.traits:
        operands.sort()
    attributes = op.attributes
    names = sorted(attributes) if len(attributes) > 1 else attributes
    return (
        type(op),
        op.segments,
        *operands,
        None,
        *[result.type for result in op.results],
        *[(name, attributes[name]) for name in names],
    )


def _merge(op: Operation, known: Operation) -> None:
    """Delete `op`. The operation that is kept keeps its location, if it has one."""
    if known.location is UNKNOWN:
        known.location = op.location
    for result, other in zip(op.results, known.results, strict=True):
        result.replace_all_uses_with(other)
    op.erase()
