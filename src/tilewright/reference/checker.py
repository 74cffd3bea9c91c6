"""Memory-model checker: happens-before between the accesses of a launch.

Every memory operation of every block is an event with a number. Its past is the set of events that
happen before it, as the bits of an integer: those of its token, and, if it acquires what another
block has released, the past of that release. Two accesses to one byte, one of which is a write,
must be ordered so, or both be strong with scopes that cover both blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import numpy as np

from tilewright.dialects.cuda_tile.enums import MemoryOrdering, MemoryScope
from tilewright.ir.types import F4E2M1FN
from tilewright.reference.access import Access, Token, Update
from tilewright.reference.errors import Fault
from tilewright.reference.ordering import ordering_of, scope_of
from tilewright.reference.tile import Array, dtype, element, from_memory
from tilewright.reference.undefined import Undefined, UndefinedElements
from tilewright.reference.uninitialised import note_written, uninitialised_bytes

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.reference.address_space import AddressSpace, Allocation, Hit
    from tilewright.reference.batch import Batch

ACQUIRES: Final = (MemoryOrdering.ACQUIRE, MemoryOrdering.ACQ_REL, MemoryOrdering.SEQ_CST)
RELEASES: Final = (MemoryOrdering.RELEASE, MemoryOrdering.ACQ_REL, MemoryOrdering.SEQ_CST)


class Event(NamedTuple):
    """A memory operation of a block."""

    op: Operation
    block: tuple[int, ...]
    ordering: MemoryOrdering
    scope: MemoryScope | None

    def covers(self, other: Event) -> bool:
        """Whether this is strong with a scope that includes the block of another event."""
        if self.ordering is MemoryOrdering.WEAK:
            return False
        return self.scope is not MemoryScope.TL_BLK or self.block == other.block


class Release(NamedTuple):
    """The release that an acquire of a byte synchronizes with."""

    event: Event
    past: int


class Shadow:
    """The shadow state of each byte of an allocation."""

    __slots__ = ("initialised", "readers", "releases", "writer")

    def __init__(self, size: int) -> None:
        self.initialised = np.ones(size, np.bool_)
        self.writer = np.zeros(size, np.int32)
        """The last event that wrote it; 0 is the host."""
        self.readers = np.zeros(size, np.int32)
        """The number of the set of events that have read it since; 0 for none."""
        self.releases: dict[int, Release] = {}
        """The releases that a read of it acquires."""


class Checker:
    """Checks the memory accesses of a launch, and chooses among unordered interleavings."""

    __slots__ = (
        "_numbers",
        "_pending",
        "_sets",
        "_shadows",
        "events",
        "random",
        "space",
        "undefined",
    )

    def __init__(self, space: AddressSpace, seed: int) -> None:
        self.space = space
        self.random = np.random.default_rng(seed)
        self.events: list[Event | None] = [None]
        self._shadows: dict[Allocation, Shadow] = {}
        self._sets: list[int] = [0]
        self._numbers: dict[int, int] = {0: 0}
        self._pending: list[CheckedAccess] = []
        self.undefined = UndefinedElements()
        """The undefined elements of tiles."""

    def access(self, op: Any, at: Batch, token: Token) -> CheckedAccess:
        """Begin a memory operation; delayed stores that precede it are performed first."""
        self._perform(token.past)
        block = tuple(int(coordinate) for coordinate in at.blocks[0])
        number = len(self.events)
        self.events.append(Event(op, block, ordering_of(op), scope_of(op)))
        return CheckedAccess(op, at, self, number, token.past | 1 << number | 1)

    def choose(self, count: int) -> int:
        """Choose the next of several blocks at random."""
        return int(self.random.integers(count))

    def undefined_values(self, shape: tuple[int, ...], type: Type) -> Array:
        """Random elements for undefined values, so that their use is noticed."""
        storage = dtype(type)
        size = int(np.prod(shape)) * storage.itemsize
        bits = np.frombuffer(self.random.bytes(size), np.uint8)
        if type is F4E2M1FN:
            bits = bits & np.uint8(15)
        return from_memory(bits.view(storage), type).reshape(shape)

    def defined(self, op: Operation, at: Batch, result: Array, holds: Array, gist: str) -> Array:
        """A result that is undefined where a condition does not hold.

        An undefined scalar is an error. Undefined elements of a tile, which may be unused, are
        random.
        """
        if holds.all():
            return result
        if result.ndim == 1:
            at.require(op, holds, Fault.UNDEFINED, gist)
        return np.where(holds, result, self.undefined_values(result.shape, element(op.results[0])))

    def shadow(self, allocation: Allocation) -> Shadow:
        """The shadow state of an allocation."""
        shadow = self._shadows.get(allocation)
        if shadow is None:
            shadow = self._shadows[allocation] = Shadow(len(allocation.bytes))
        return shadow

    def uninitialise(self, allocation: Allocation) -> None:
        """Mark an allocation as uninitialised."""
        self.shadow(allocation).initialised[:] = False

    def begin(self) -> None:
        """Take over which bytes of the arguments the host has marked as uninitialised."""
        for allocation in self.space.allocations:
            uninitialised = uninitialised_bytes(allocation.bytes)
            if uninitialised is not None:
                self.shadow(allocation).initialised[uninitialised] = False

    def end(self) -> None:
        """Record what has been written, for later launches."""
        for allocation, shadow in self._shadows.items():
            note_written(allocation.bytes, shadow.initialised)

    def delay(self, access: CheckedAccess) -> None:
        """Delay a store at random, at most until an operation that is ordered after it."""
        self._pending.append(access)
        for waiting in list(self._pending):
            if self.random.random() < 0.5:
                self._finish(waiting)

    def settle(self) -> bool:
        """Perform all delayed stores; return whether there were any."""
        waiting = list(self._pending)
        for access in waiting:
            self._finish(access)
        return bool(waiting)

    def _perform(self, past: int) -> None:
        for access in list(self._pending):
            if past >> access.number & 1:
                self._finish(access)

    def _finish(self, access: CheckedAccess) -> None:
        self._pending.remove(access)
        access.finish()

    def members(self, number: int) -> int:
        """The set with a number."""
        return self._sets[number]

    def number_of(self, members: int) -> int:
        """The number of a set of events."""
        number = self._numbers.get(members)
        if number is None:
            number = self._numbers[members] = len(self._sets)
            self._sets.append(members)
        return number


class CheckedAccess(Access):
    """A checked memory operation of one block."""

    __slots__ = ("checker", "delayed", "event", "number", "past")

    def __init__(self, op: Operation, at: Batch, checker: Checker, number: int, past: int) -> None:
        super().__init__(op, at)
        self.checker = checker
        self.number = number
        self.past = past
        """The events that happen before, and this one."""
        event = checker.events[number]
        assert event is not None
        self.event = event
        self.delayed: tuple[Array, Type, Array] | None = None

    @property
    def token(self) -> Token:
        return Token(self.past)

    def _store(self, addresses: Array, element: Type, values: Array) -> None:
        self.delayed = addresses, element, np.array(values)
        self.checker.delay(self)

    def finish(self) -> None:
        """Perform a delayed store."""
        assert self.delayed is not None
        super()._store(*self.delayed)

    def _undefined(self, shape: tuple[int, ...], element: Type) -> Array:
        return self.checker.undefined_values(shape, element)

    def _note_undefined(self, values: Array, undefined: Array) -> None:
        nothing = np.zeros(undefined.shape, np.bool_)
        self.checker.undefined.put(values, Undefined(undefined, nothing, self.op))

    def store(
        self, addresses: Array, element: Type, values: Array, mask: Array | None = None
    ) -> None:
        self._check_defined(values, mask)
        super().store(addresses, element, values, mask)

    def update(
        self,
        addresses: Array,
        operands: Sequence[Array],
        update: Update,
        mask: Array | None = None,
        otherwise: Any = 0,
    ) -> Array:
        for operand in operands:
            self._check_defined(operand, mask)
        return super().update(addresses, operands, update, mask, otherwise)

    def _check_defined(self, values: Array, mask: Array | None) -> None:
        """Report a stored result of a reduction over elements of which some are undefined."""
        undefined = self.checker.undefined.get(values)
        if undefined is None or undefined.reduction is None:
            return
        stored = undefined.combined if mask is None else undefined.combined & mask
        if not stored.any():
            return
        load = undefined.load.note(
            "leaves elements out of bounds undefined: it has no padding value "
            "(padding_mode of cuTile)"
        )
        gist = "combines elements in bounds with undefined ones, which are out of bounds"
        notes = load, self.op.note("stores the result, which is undefined")
        self.at.fail(undefined.reduction, Fault.UNDEFINED, gist, 0, *notes)

    def reads(self, hit: Hit, size: int) -> None:
        self._check_owner(hit.allocation)
        shadow, rows = self._examine(hit, size)
        self._acquire(shadow, rows, size)
        self._check_writers(hit, _bytes(shadow.writer, size)[rows])
        readers = _bytes(shadow.readers, size)
        for number in np.unique(readers[rows]):
            chosen: Array = readers[rows] == number
            kept = self.checker.members(int(number)) & ~self.past
            readers[rows] = np.where(
                chosen, self.checker.number_of(kept | 1 << self.number), readers[rows]
            )

    def writes(self, hit: Hit, size: int) -> None:
        super().writes(hit, size)
        self._check_owner(hit.allocation)
        shadow, rows = self.checker.shadow(hit.allocation), _rows(hit, size)
        if self.event.ordering is MemoryOrdering.WEAK and len(np.unique(rows)) < rows.size:
            self.at.fail(self.op, Fault.RACE, "writes twice to one address, in no order")
        self._conflict(hit, shadow, rows, size)
        if shadow.releases:
            for row in rows.tolist():
                shadow.releases.pop(row * size, None)
        if self.event.ordering in RELEASES:
            release = Release(self.event, self.past)
            shadow.releases.update((row * size, release) for row in rows.tolist())

    def updates(self, hit: Hit, size: int) -> None:
        super().updates(hit, size)
        self._check_owner(hit.allocation)
        shadow, rows = self._examine(hit, size)
        self._acquire(shadow, rows, size)
        self._conflict(hit, shadow, rows, size)
        if self.event.ordering not in RELEASES:
            return  # a read of this still acquires earlier releases
        for row in rows.tolist():
            before = shadow.releases.get(row * size)
            past = self.past if before is None else self.past | before.past
            shadow.releases[row * size] = Release(self.event, past)

    def _check_owner(self, allocation: Allocation) -> None:
        if allocation.owner not in (None, self.event.block):
            message = f"accesses {allocation.name}, which belongs to another block"
            self.at.fail(self.op, Fault.OUT_OF_BOUNDS, message)

    def _examine(self, hit: Hit, size: int) -> tuple[Shadow, Array]:
        """The accessed elements of an allocation; reports uninitialised ones."""
        shadow, rows = self.checker.shadow(hit.allocation), _rows(hit, size)
        written = _bytes(shadow.initialised, size)[rows]
        if not written.all():
            row = int(rows[np.argmin(written.all(axis=1))])
            offset = f"byte {row * size} of {hit.allocation.name}"
            element = f" (element {row})" if size > 1 else ""
            gist = f"reads {offset}{element}, which was never written"
            self.at.fail(self.op, Fault.UNINITIALISED, gist)
        return shadow, rows

    def _acquire(self, shadow: Shadow, rows: Array, size: int) -> None:
        if self.event.ordering not in ACQUIRES or not shadow.releases:
            return
        for row in rows.tolist():
            release = shadow.releases.get(row * size)
            if release is not None and _are_morally_strong(release.event, self.event):
                self.past |= release.past

    def _conflict(self, hit: Hit, shadow: Shadow, rows: Array, size: int) -> None:
        """Check a write against earlier accesses, and record it."""
        writer, readers = _bytes(shadow.writer, size), _bytes(shadow.readers, size)
        self._check_writers(hit, writer[rows])
        for number in np.unique(readers[rows]):
            self._check_events(hit, self.checker.members(int(number)))
        writer[rows] = self.number
        readers[rows] = 0
        _bytes(shadow.initialised, size)[rows] = True

    def _check_writers(self, hit: Hit, writers: Array) -> None:
        self._check_events(hit, sum(1 << int(number) for number in np.unique(writers)))

    def _check_events(self, hit: Hit, events: int) -> None:
        """Report a race with an event that neither happens before nor is morally strong."""
        unordered = events & ~self.past
        while unordered:
            number = unordered.bit_length() - 1
            unordered ^= 1 << number
            other = self.checker.events[number]
            assert other is not None
            if not _are_morally_strong(other, self.event):
                self._race(hit, other)

    def _race(self, hit: Hit, other: Event) -> NoReturn:
        block = ", ".join(map(str, other.block[:3]))
        message = f"is the other access, in block ({block})"
        gist = f"races with another access to {hit.allocation.name}: no token orders them"
        self.at.fail(self.op, Fault.RACE, gist, 0, other.op.note(message))


def _are_morally_strong(one: Event, other: Event) -> bool:
    """Whether two events are strong with scopes that include each other."""
    return one.covers(other) and other.covers(one)


def _rows(hit: Hit, size: int) -> Array:
    """The indices of the accessed elements."""
    return (hit.offsets.reshape(-1) // np.uint64(size)).astype(np.int64)


def _bytes(per_byte: Array, size: int) -> Array:
    """Reshape per-byte state to a row per element."""
    return per_byte[: len(per_byte) // size * size].reshape(-1, size)
