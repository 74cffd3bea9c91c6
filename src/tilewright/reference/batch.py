"""Batches of blocks that run in lockstep, and their values.

Blocks share one interpretation of the program as long as control flow is uniform. At a divergent
branch the batch is narrowed to the blocks of each side, and merged after the branch or loop. A
narrowed batch has the same values, of fewer blocks, so operations need not know about it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tilewright.reference.errors import ExecutionError, Fault
from tilewright.reference.tile import Array, is_array, per_block

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.reference.machine import Machine
    from tilewright.reference.undefined import UndefinedElements
    from tilewright.support.diagnostics import Diagnostic


class Values(dict["Value", Any]):
    """The SSA values of a batch; those of its parent are selected on first use."""

    __slots__ = ("lanes", "outer", "undefined")

    def __init__(self, machine: Machine, outer: Values | None, lanes: Array | None) -> None:
        super().__init__()
        self.outer = outer
        self.lanes = lanes
        self.undefined = None if machine.checker is None else machine.checker.undefined

    def __missing__(self, value: Value) -> Any:
        assert self.outer is not None
        content = self.outer[value]
        if not is_array(content):
            content = content.pick(self.lanes)
        else:
            content = picked(content, self.lanes, self.undefined)
        self[value] = content
        return content


def picked(tile: Array, lanes: Array | None, undefined: UndefinedElements | None) -> Array:
    """Select the tiles of some of the blocks, and note which of their elements are undefined."""
    if len(tile) == 1:
        return tile
    chosen: Array = tile[lanes]
    if undefined:
        undefined.pick(tile, chosen, lanes)
    return chosen


class Batch:
    """Some blocks of a launch, and their SSA values.

    `at[value]` is an array for a tile, and an object with a method `pick` for a token or a view.
    """

    __slots__ = ("_blocks", "count", "history", "lanes", "machine", "parent", "values")

    def __init__(
        self,
        machine: Machine,
        count: int,
        parent: Batch | None = None,
        lanes: Array | None = None,
    ) -> None:
        self.machine = machine
        self.count = count
        """The number of blocks."""
        self.parent = parent
        self.lanes = lanes
        """For each block, its index in the parent."""
        self.values = Values(machine, None if parent is None else parent.values, lanes)
        self._blocks: Array | None = None
        self.history: Any = None
        """What the checker records of its blocks, in a batch that was not narrowed."""

    @classmethod
    def of_blocks(cls, machine: Machine, blocks: Array) -> Batch:
        """A batch of blocks, given by their coordinates, one row each."""
        batch = cls(machine, len(blocks))
        batch._blocks = blocks
        return batch

    @property
    def root(self) -> Batch:
        """The batch from which this was narrowed."""
        return self if self.parent is None else self.parent.root

    @property
    def blocks(self) -> Array:
        """The three coordinates of each block, and its rank in its cluster."""
        if self._blocks is None:
            assert self.parent is not None
            self._blocks = self.parent.blocks[self.lanes]
        return self._blocks

    def __getitem__(self, value: Value) -> Any:
        return self.values[value]

    def get(self, value: Value | None) -> Any:
        """The value of an optional operand, or None."""
        return None if value is None else self.values[value]

    def bind(self, values: Sequence[Value], contents: Sequence[Any]) -> None:
        """Bind SSA values to their contents."""
        self.values.update(zip(values, contents, strict=True))

    def narrow(self, lanes: Array) -> Batch:
        """Narrow to the blocks at these indices; a repeated index runs the block twice."""
        return Batch(self.machine, len(lanes), self, lanes)

    def split(self, condition: Array) -> tuple[Batch | None, Batch | None]:
        """Split into the blocks in which a scalar condition is true, and the others."""
        if len(condition) == 1:
            return (self, None) if condition[0] else (None, self)
        if condition.all():
            return self, None
        if not condition.any():
            return None, self
        return self.narrow(np.flatnonzero(condition)), self.narrow(np.flatnonzero(~condition))

    def lanes_in(self, base: Batch) -> Array:
        """For each block its index in `base`, from which this was narrowed."""
        if self is base:
            return np.arange(base.count)
        assert self.parent is not None
        assert self.lanes is not None
        return self.parent.lanes_in(base)[self.lanes]

    def fail(
        self, op: Operation, fault: Fault, message: str, lane: int = 0, *notes: Diagnostic
    ) -> NoReturn:
        """Raise an error for an operation in one of the blocks."""
        block = self.blocks[lane if lane < self.count else 0]
        coordinates = ", ".join(str(coordinate) for coordinate in block[:3])
        raise ExecutionError(fault, [op.error(f"{message}, in block ({coordinates})", *notes)])

    def require(
        self,
        op: Operation,
        holds: Array,
        fault: Fault,
        message: str,
        got: Callable[[tuple[int, ...]], str] | None = None,
    ) -> None:
        """Raise an error unless a condition holds for every element of every block.

        `got` describes the first element for which it does not, by its index in `holds`.
        """
        if not holds.all():
            first = tuple(int(i) for i in np.argwhere(~holds)[0])
            values = "" if got is None else f"{got(first)}{_element_text(first[1:])}"
            self.fail(op, fault, f"{message}{values}", first[0])


def _element_text(index: tuple[int, ...]) -> str:
    """The index of an element of a tile, as the end of a sentence; empty for a scalar."""
    return f" at element [{', '.join(map(str, index))}]" if index else ""


def element_at(array: Array, index: tuple[int, ...]) -> Any:
    """The element at an index of the shape that an array is broadcast to."""
    extents: tuple[int, ...] = array.shape
    return array[tuple(min(i, extent - 1) for i, extent in zip(index, extents, strict=True))]


def merge(base: Batch, parts: Sequence[tuple[Batch, Sequence[Any]]]) -> tuple[Batch, Sequence[Any]]:
    """Merge batches that were narrowed from `base`, with the values of each part."""
    if len(parts) == 1:
        ((part, values),) = parts
        return _rebased(base, part), values
    lanes = np.concatenate([part.lanes_in(base) for part, _ in parts])
    order = np.argsort(lanes)
    merged = base if len(lanes) == base.count else base.narrow(lanes[order])
    columns = zip(*(values for _, values in parts), strict=True)
    counts = [part.count for part, _ in parts]
    return merged, [_join(base, column, counts, order) for column in columns]


def _rebased(base: Batch, part: Batch) -> Batch:
    """Narrow `base` to the blocks of a part in one step, so that chains do not grow in loops."""
    if part is base or part.parent is base:
        return part
    return base.narrow(part.lanes_in(base))


def _join(base: Batch, column: Sequence[Any], counts: Sequence[int], order: Array) -> Any:
    first = column[0]
    if not is_array(first):
        return first.join(column, counts, order)
    if all(other is first for other in column) and len(first) == 1:
        return first
    whole = [per_block(value, count) for value, count in zip(column, counts, strict=True)]
    joined = np.concatenate(whole)[order]
    checker = base.machine.checker
    if checker is not None and checker.undefined:
        checker.undefined.join(column, counts, order, joined)
    return joined
