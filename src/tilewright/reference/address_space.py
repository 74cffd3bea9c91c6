"""Global memory: allocations at virtual addresses, aliasing the arrays of the host.

Addresses are the same in every run, and allocations start at multiples of 256 with gaps between
them, much as on a GPU. An address outside of every allocation is an error.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tilewright.reference.errors import Fault
from tilewright.reference.tile import ADDRESS, Array, DType

if TYPE_CHECKING:
    from tilewright.reference.access import Access, Update

START: Final = 0x7000_0000_0000
ALIGNMENT: Final = 256
GAP: Final = 4096


class Allocation:
    """An allocation: its bytes, which are those of a host array, and its base address."""

    __slots__ = ("base", "bytes", "name", "owner", "writable")

    def __init__(
        self, name: str, base: int, bytes: Array, owner: tuple[int, ...] | None = None
    ) -> None:
        self.name = name
        self.base = base
        self.bytes = bytes
        self.owner = owner
        """The only block that may access it, if it is private."""
        self.writable: bool = bytes.flags.writeable

    @property
    def end(self) -> int:
        """The end address."""
        return self.base + len(self.bytes)

    def elements(self, dtype: DType) -> Array:
        """A view of it as elements."""
        whole = len(self.bytes) // dtype.itemsize * dtype.itemsize
        return self.bytes[:whole].view(dtype)


class Hit(NamedTuple):
    """The part of an access that lies in one allocation."""

    allocation: Allocation
    offsets: Array
    """Bytes from its start."""
    chosen: Array | None
    """A mask of the addresses in this allocation; None for all of them."""


class Window(NamedTuple):
    """Tiles of one shape in memory: their start addresses, and the strides of their elements."""

    starts: Array
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """Bytes from one element to the next, in each dimension."""

    def span(self, size: int) -> int:
        """The number of bytes from the start of a tile to the end of its last element."""
        steps = zip(self.shape, self.strides, strict=True)
        return sum((extent - 1) * stride for extent, stride in steps) + size


class AddressSpace:
    """All allocations of a launch."""

    __slots__ = ("_allocations", "_bases", "_next", "compares", "version")

    def __init__(self) -> None:
        self._allocations: list[Allocation] = []
        self._bases: list[int] = []
        self._next = START
        self.version = 0
        """A version number that increases whenever memory changes."""
        self.compares = False
        """Whether stores that change nothing leave the version as it is: blocks may poll memory."""

    @property
    def allocations(self) -> Sequence[Allocation]:
        """All of them, by address."""
        return self._allocations

    def allocate(
        self,
        name: str,
        bytes: Array,
        alignment: int = ALIGNMENT,
        owner: tuple[int, ...] | None = None,
    ) -> Allocation:
        """Map host memory to an address."""
        alignment = max(alignment, ALIGNMENT)
        base = -(-self._next // alignment) * alignment
        self._next = base + len(bytes) + GAP
        allocation = Allocation(name, base, bytes, owner)
        self._allocations.append(allocation)
        self._bases.append(base)
        return allocation

    def release(self, allocation: Allocation) -> None:
        """Unmap an allocation; its addresses are never reused."""
        at = self._allocations.index(allocation)
        del self._allocations[at], self._bases[at]

    def find(self, address: int) -> Allocation | None:
        """The allocation at an address, or the last one before it."""
        at = bisect_right(self._bases, address) - 1
        return self._allocations[at] if at >= 0 else None

    def load(self, access: Access, addresses: Array, dtype: DType) -> Array:
        """Load the elements at addresses."""

        def read(hit: Hit, elements: Array, indices: Array) -> Array:
            access.reads(hit, dtype.itemsize)
            return elements[indices]

        return self._each_hit(access, addresses, dtype, read)

    def store(self, access: Access, addresses: Array, values: Array) -> None:
        """Store the elements at addresses; of several at one address, the last one wins."""

        def write(hit: Hit, elements: Array, indices: Array) -> Array:
            access.writes(hit, values.dtype.itemsize)
            new = values if hit.chosen is None else values[hit.chosen]
            self.note_change(elements[indices] if self.compares else new, new)
            elements[indices] = new
            return new

        self._each_hit(access, addresses, values.dtype, write)

    def tiles(self, window: Window, dtype: DType) -> tuple[Allocation, Array, Array] | None:
        """All tile positions of an allocation as an array, and the indices of the window's tiles.

        None if they are not all in one allocation: then elements are accessed one by one.
        """
        low, high = int(window.starts.min()), int(window.starts.max())
        size, span = dtype.itemsize, window.span(dtype.itemsize)
        allocation = self.find(low)
        if allocation is None or high + span > allocation.end:
            return None
        offsets = window.starts - np.uint64(allocation.base)
        if (offsets & np.uint64(size - 1)).any() or any(s % size for s in window.strides):
            return None
        elements = allocation.elements(dtype)
        count = len(elements) - (span // size - 1)
        shape, strides = (count, *window.shape), (size, *window.strides)
        tiles = np.ndarray(shape, dtype, allocation.bytes, 0, strides)
        return allocation, tiles, offsets // np.uint64(size)

    def update(
        self, access: Access, addresses: Array, operands: Sequence[Array], update: Update
    ) -> Array:
        """Update elements serially by a function; return the old values."""
        dtype = operands[0].dtype

        def change(hit: Hit, elements: Array, indices: Array) -> Array:
            access.updates(hit, dtype.itemsize)
            chosen = [o if hit.chosen is None else o[hit.chosen] for o in operands]
            before = update(elements, indices, chosen)
            self.note_change(before, elements[indices])
            return before

        return self._each_hit(access, addresses, dtype, change)

    def note_change(self, before: Array, after: Array) -> None:
        """Increase the version if memory changed, so that blocks that poll it are run again."""
        if not self.compares or before.tobytes() != after.tobytes():
            self.version += 1

    def _each_hit(
        self,
        access: Access,
        addresses: Array,
        dtype: DType,
        access_hit: Callable[[Hit, Array, Array], Array],
    ) -> Array:
        """Apply a function to each accessed allocation, and gather the results."""
        result = np.empty(addresses.shape, dtype)
        size = np.uint64(dtype.itemsize)
        for hit in self._hits(access, addresses, dtype.itemsize):
            values = access_hit(hit, hit.allocation.elements(dtype), hit.offsets // size)
            if hit.chosen is None:
                return values
            result[hit.chosen] = values
        return result

    def _hits(self, access: Access, addresses: Array, size: int) -> Iterator[Hit]:
        """Split an access by allocation; report misaligned and out-of-bounds addresses."""
        if not addresses.size:
            return
        misalignment = addresses & np.uint64(size - 1)
        if misalignment.any():
            access.fault(Fault.MISALIGNED, misalignment != 0, addresses, size)
        low, high = int(addresses.min()), int(addresses.max())
        allocation = self.find(low)
        if allocation is not None and high + size <= allocation.end:
            yield Hit(allocation, addresses - np.uint64(allocation.base), None)
        else:
            yield from self._scattered_hits(access, addresses, size)

    def _scattered_hits(self, access: Access, addresses: Array, size: int) -> Iterator[Hit]:
        bases = np.array([0, *self._bases], ADDRESS)
        ends = np.array([0, *(allocation.end for allocation in self._allocations)], ADDRESS)
        owners = np.searchsorted(bases, addresses, side="right") - 1
        end = ends[owners]
        outside = (addresses >= end) | (end - addresses < np.uint64(size))
        if outside.any():
            access.fault(Fault.OUT_OF_BOUNDS, outside, addresses, size)
        for owner in np.unique(owners):
            chosen: Array = owners == owner
            allocation = self._allocations[int(owner) - 1]
            yield Hit(allocation, addresses[chosen] - np.uint64(allocation.base), chosen)
