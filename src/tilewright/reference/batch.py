"""Blocks that run together, and the values they have computed.

Blocks share one walk over the program as long as they take the same way. Where they part, a batch
is narrowed to those that go one way, and merged again behind the branch or loop. What runs in a
batch need not know: a narrowed batch has the same values, of fewer blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tilewright.reference.errors import ExecutionError, Fault
from tilewright.reference.tile import Array, is_array, per_block

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.reference.machine import Machine
    from tilewright.support.diagnostics import Diagnostic


class Batch:
    """Some blocks of a launch, and what their values are.

    `at[value]` is an array for a tile, and an object with a method `pick` for a token or a view.
    """

    __slots__ = ("_blocks", "count", "lanes", "machine", "parent", "values")

    def __init__(self, machine: Machine, count: int) -> None:
        self.machine = machine
        self.count = count
        """How many blocks there are."""
        self.values: dict[Value, Any] = {}
        self.parent: Batch | None = None
        self.lanes: Array | None = None
        """For each block, where in the parent it is."""
        self._blocks: Array | None = None

    @classmethod
    def of_blocks(cls, machine: Machine, blocks: Array) -> Batch:
        """A batch of blocks, given by their coordinates, one row for each."""
        batch = cls(machine, len(blocks))
        batch._blocks = blocks
        return batch

    @property
    def blocks(self) -> Array:
        """The three coordinates of each block."""
        if self._blocks is None:
            assert self.parent is not None
            self._blocks = self.parent.blocks[self.lanes]
        return self._blocks

    def __getitem__(self, value: Value) -> Any:
        found = self.values.get(value)
        if found is None:
            assert self.parent is not None
            found = self.values[value] = self._pick(self.parent[value])
        return found

    def get(self, value: Value | None) -> Any:
        """What an optional operand is, or nothing."""
        return None if value is None else self[value]

    def bind(self, values: Sequence[Value], found: Sequence[Any]) -> None:
        """Let values be what was found for them."""
        self.values.update(zip(values, found, strict=True))

    def _pick(self, value: Any) -> Any:
        """A value of the parent, for the blocks that are here."""
        if is_array(value):
            return value if len(value) == 1 else value[self.lanes]
        return value.pick(self.lanes)

    def narrow(self, lanes: Array) -> Batch:
        """The blocks at these places; one that is named twice runs twice."""
        inner = Batch(self.machine, len(lanes))
        inner.parent = self
        inner.lanes = lanes
        return inner

    def split(self, condition: Array) -> tuple[Batch | None, Batch | None]:
        """The blocks in which a scalar condition is true, and the others."""
        if len(condition) == 1:
            return (self, None) if condition[0] else (None, self)
        if condition.all():
            return self, None
        if not condition.any():
            return None, self
        return self.narrow(np.flatnonzero(condition)), self.narrow(np.flatnonzero(~condition))

    def lanes_in(self, base: Batch) -> Array:
        """Where in `base`, which this was narrowed from, each block is."""
        if self is base:
            return np.arange(base.count)
        assert self.parent is not None
        assert self.lanes is not None
        return self.parent.lanes_in(base)[self.lanes]

    def fail(
        self, op: Operation, fault: Fault, message: str, lane: int = 0, *notes: Diagnostic
    ) -> NoReturn:
        """Stop because of what an operation did in one of the blocks."""
        block = self.blocks[lane if lane < self.count else 0]
        place = ", ".join(str(coordinate) for coordinate in block)
        raise ExecutionError(fault, [op.error(f"{message}, in block ({place})", *notes)])

    def require(self, op: Operation, holds: Array, fault: Fault, message: str) -> None:
        """Stop unless something holds in every element of every block."""
        if not holds.all():
            lane = int(np.argmin(holds.reshape(len(holds), -1).all(axis=1)))
            self.fail(op, fault, message, lane)


def merge(base: Batch, parts: Sequence[tuple[Batch, Sequence[Any]]]) -> tuple[Batch, Sequence[Any]]:
    """The blocks of all parts, narrowed from `base`, with the values that each part found."""
    if len(parts) == 1:
        ((part, found),) = parts
        return _rebased(base, part), found
    lanes = np.concatenate([part.lanes_in(base) for part, _ in parts])
    order = np.argsort(lanes)
    merged = base if len(lanes) == base.count else base.narrow(lanes[order])
    columns = zip(*(found for _, found in parts), strict=True)
    counts = [part.count for part, _ in parts]
    return merged, [_join(column, counts, order) for column in columns]


def _rebased(base: Batch, part: Batch) -> Batch:
    """The blocks of a part, narrowed from `base` in one step, so that no chain grows in loops."""
    if part is base or part.parent is base:
        return part
    return base.narrow(part.lanes_in(base))


def _join(column: Sequence[Any], counts: Sequence[int], order: Array) -> Any:
    first = column[0]
    if not is_array(first):
        return first.join(column, order)
    if all(other is first for other in column) and len(first) == 1:
        return first
    whole = [per_block(value, count) for value, count in zip(column, counts, strict=True)]
    return np.concatenate(whole)[order]
