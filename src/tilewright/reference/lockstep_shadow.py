"""What is recorded of the elements of an allocation whose accesses only tokens order.

An event is a block and a step, in 64 bits with the block in the upper half.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from tilewright.reference.tile import Array

BLOCK: Final = np.int64(32)
"""The position of the number of the block in an event."""
LOWER: Final = np.int64(0xFFFFFFFF)
WRITTEN: Final = {size: int.from_bytes(b"\1" * size) for size in (1, 2, 4, 8)}
"""What the marks of that many initialised bytes are as one number."""


class Elements(NamedTuple):
    """Elements of an allocation that some blocks access."""

    rows: Array
    size: int
    """The bytes of an element."""
    lanes: Array
    """The block of each row, in a shape that broadcasts to that of the rows."""
    is_uniform: bool = False
    """Whether all blocks access them, of which the lanes name the first."""

    def split(self, parts: int) -> Elements:
        """The same bytes as elements that are smaller."""
        if parts == 1:
            return self
        rows = self.rows[..., np.newaxis] * parts + np.arange(parts)
        return Elements(rows, self.size // parts, self.lanes[..., np.newaxis], self.is_uniform)

    def first(self, mask: Array) -> tuple[int, int]:
        """The row and the lane of the first element where a mask holds."""
        at = int(np.flatnonzero(mask)[0])
        return int(self.rows.flat[at]), int(np.broadcast_to(self.lanes, self.rows.shape).flat[at])


class LockstepShadow:
    """The shadow state of an allocation: an element for `size` bytes, the smallest accessed."""

    __slots__ = ("_initialised", "bytes", "other", "reader", "size", "writer")

    def __init__(self, bytes: int) -> None:
        self.bytes = bytes
        self._initialised: Array | None = None
        self.size = 0
        self.writer: Array | None = None
        """The last write; 0 is the host."""
        self.reader: Array | None = None
        """A block that has read it since, and the number of the set of its steps; 0 for none."""
        self.other: Array | None = None
        """A read of another block since; 0 for none."""

    @property
    def initialised(self) -> Array:
        """Whether each byte has been written."""
        return np.ones(self.bytes, np.bool_) if self._initialised is None else self._initialised

    def uninitialise(self, bytes: Any) -> None:
        """Mark some bytes as never written."""
        self._initialised = self.initialised
        self._initialised[bytes] = False

    def unwritten(self, elements: Elements) -> Array | None:
        """Which elements have bytes that were never written; None if there are none."""
        if self._initialised is None:
            return None
        unwritten = self._marks(elements.size)[elements.rows] != WRITTEN[elements.size]
        return unwritten if unwritten.any() else None

    def note_written(self, elements: Elements) -> None:
        """Record that elements are written."""
        if self._initialised is not None:
            self._marks(elements.size)[elements.rows] = WRITTEN[elements.size]

    def _marks(self, size: int) -> Array:
        assert self._initialised is not None
        return self._initialised[: self.bytes // size * size].view(f"u{size}")

    def none(self) -> Array:
        """No event for each element."""
        return np.zeros(-(-self.bytes // self.size), np.int64)

    def divide(self, accessed: Elements) -> Elements:
        """The accessed bytes as elements of the shadow state, whose size may shrink to theirs."""
        if not self.size:
            self.size = accessed.size
        if accessed.size < self.size:
            parts, self.size = self.size // accessed.size, accessed.size
            self.writer, self.reader, self.other = (
                None if events is None else events.repeat(parts)
                for events in (self.writer, self.reader, self.other)
            )
        return accessed.split(accessed.size // self.size)


def same_block(events: Array, others: Array) -> Array:
    """Whether events are those of the same block."""
    return (events ^ others) >> BLOCK == 0


def block_and_step(event: int) -> tuple[int, int]:
    """The parts of an event."""
    return event >> int(BLOCK), event & int(LOWER)
