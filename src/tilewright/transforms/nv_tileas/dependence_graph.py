"""The dependence graph of a block: which operations keep their order in every schedule.

An edge leads from an operation to one that follows it. Values have edges from their definition to
their uses, also in regions. Memory tokens are values, so that they order accesses: a plain load has
no other order, as in Tile IR. Operations that are fixed keep their order: those with other effects,
such as stores, waits and barriers; dots; and those that allocate shared memory, which would be live
elsewhere.

Threads also meet in exchanges of layout conversions and reductions. Those have no edges: each is
complete when it ends, and the memory that it writes and reads is not allocated yet.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import LoadOp, TiledLoadOp
from tilewright.ir.effects import is_effect_free
from tilewright.plans.allocations import allocated_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.ir.operation import Block, Operation

Load: TypeAlias = LoadOp | TiledLoadOp


class DependenceGraph:
    """The operations of a block, by their numbers in program order, and the edges between them."""

    __slots__ = ("block", "fixed", "ops", "predecessors", "successors")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.ops = list(block)
        self.fixed = [_is_fixed(op) for op in self.ops]
        self.predecessors: list[set[int]] = [set() for _ in self.ops]
        self.successors: list[set[int]] = [set() for _ in self.ops]
        for first, second in self._edges():
            self.successors[first].add(second)
            self.predecessors[second].add(first)

    def _edges(self) -> Iterator[tuple[int, int]]:
        yield from pairwise(number for number, is_fixed in enumerate(self.fixed) if is_fixed)
        defined: dict[object, int] = {}
        for number, op in enumerate(self.ops):
            used = {operand.defining_op() for inner in op.walk() for operand in inner.operands}
            yield from ((defined[each], number) for each in used & defined.keys())
            defined[op] = number

    def needed(self, number: int, start: int) -> set[int]:
        """The operations from `start` on that precede another one in every schedule."""
        needed: set[int] = set()
        pending = [number]
        while pending:
            added = {n for n in self.predecessors[pending.pop()] if n >= start} - needed
            needed |= added
            pending += added
        return needed

    def free_until(self, end: int) -> set[int]:
        """The operations before `end` that no load and no fixed operation before it depends on."""
        free: set[int] = set()
        for number in reversed(range(end)):
            is_free = not self.fixed[number] and not is_plain_load(self.ops[number])
            if is_free and all(n >= end or n in free for n in self.successors[number]):
                free.add(number)
        return free


def is_plain_load(op: Operation) -> TypeGuard[Load]:
    """Whether an operation is a load that tokens alone order."""
    return isinstance(op, LoadOp | TiledLoadOp) and op.is_plain


def _is_fixed(op: Operation) -> bool:
    """Whether an operation keeps its order with others that do."""
    if isinstance(op, DotOp) or op.is_terminator or allocated_bytes(op):
        return True
    return not is_plain_load(op) and not is_effect_free(op)
