"""Happens-before between the accesses of blocks that may synchronize.

Every memory operation of a block is an event, a step of the block. Its past is the set of events
that happen before it: steps of its block, those of its token, and, if one of these steps acquires
what another block has released, the past of that release. Two accesses to one byte, one of which is
a write, must be ordered so, or both be strong with scopes that cover both blocks.

A token has the steps of its block only, the bits of an integer. The events of other blocks follow
from the steps that acquire. As most events are never released to another block, those that are have
numbers of their own, which are the bits of what a block has acquired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tilewright.dialects.cuda_tile.enums import MemoryOrdering, MemoryScope
from tilewright.reference.access import Token
from tilewright.reference.checker import CheckedAccess, Checker, distinct
from tilewright.reference.errors import Fault
from tilewright.reference.ordering import ordering_of, scope_of
from tilewright.reference.tile import Array

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.reference.address_space import AddressSpace, Allocation, Hit
    from tilewright.reference.batch import Batch

ACQUIRES: Final = (MemoryOrdering.ACQUIRE, MemoryOrdering.ACQ_REL, MemoryOrdering.SEQ_CST)
RELEASES: Final = (MemoryOrdering.RELEASE, MemoryOrdering.ACQ_REL, MemoryOrdering.SEQ_CST)


class History:
    """The steps of a block that acquire and that are released."""

    __slots__ = ("_acquired", "_released", "acquires", "block", "numbers", "steps")

    def __init__(self, block: tuple[int, ...]) -> None:
        self.block = block
        self.steps = 1
        """The number of its steps; the first one is the host's."""
        self.acquires: dict[int, int] = {}
        """What a step acquires: the numbers of released events, as bits."""
        self.numbers: dict[int, int] = {}
        """The numbers of its released steps."""
        self._acquired = Union()
        self._released = Union()

    def acquire(self, step: int, released: int) -> None:
        """Acquire events."""
        self.acquires[step] = self.acquires.get(step, 0) | released
        self._acquired.forget(step)

    def acquired(self, steps: int) -> int:
        """The released events that happen before some steps."""
        if not self.acquires:
            return 0
        return self._acquired.over(steps, lambda step: self.acquires.get(step, 0))

    def released(self, steps: int, number: Callable[[], int]) -> int:
        """The numbers of some steps, as bits; a step gets a number when it is released."""

        def bit(step: int) -> int:
            if step not in self.numbers:
                self.numbers[step] = number()
            return 1 << self.numbers[step]

        return self._released.over(steps, bit)


class Union:
    """The union of a set for each step, kept for the steps that were asked for last."""

    __slots__ = ("_steps", "_union")

    def __init__(self) -> None:
        self._steps = 0
        self._union = 0

    def forget(self, step: int) -> None:
        """Note that the set of a step has changed."""
        if self._steps >> step & 1:
            self._steps = self._union = 0

    def over(self, steps: int, members: Callable[[int], int]) -> int:
        """The union over some steps, often more of them than the last time."""
        union, rest = self._union, steps & ~self._steps
        if self._steps & ~steps:
            union, rest = 0, steps
        while rest:
            step = (rest & -rest).bit_length() - 1
            union |= members(step)
            rest &= rest - 1
        self._steps, self._union = steps, union
        return union


class Event(NamedTuple):
    """A memory operation of a block."""

    op: Operation
    history: History
    step: int
    ordering: MemoryOrdering
    scope: MemoryScope | None

    def covers(self, other: Event) -> bool:
        """Whether this is strong with a scope that includes the block of another event."""
        if self.ordering is MemoryOrdering.WEAK:
            return False
        return self.scope is not MemoryScope.TL_BLK or self.history is other.history


class Release(NamedTuple):
    """The release that an acquire of a byte synchronizes with."""

    event: Event
    past: int
    """The numbers of the events that happen before, as bits."""


class EventShadow:
    """The shadow state of each byte of an allocation."""

    __slots__ = ("_initialised", "readers", "releases", "writer")

    def __init__(self, size: int) -> None:
        self._initialised = np.ones(size, np.bool_)
        self.writer = np.zeros(size, np.int32)
        """The last event that wrote it; 0 is the host."""
        self.readers = np.zeros(size, np.int32)
        """The number of the set of events that have read it since; 0 for none."""
        self.releases: dict[int, Release] = {}
        """The releases that a read of it acquires."""

    @property
    def initialised(self) -> Array:
        """Whether each byte has been written."""
        return self._initialised

    def uninitialise(self, bytes: Any) -> None:
        """Mark some bytes as never written."""
        self._initialised[bytes] = False


class EventChecker(Checker[EventShadow]):
    """Checks the accesses of blocks that run alone, interleaved with the others."""

    __slots__ = ("_numbers", "_released", "_sets", "events")

    def __init__(self, space: AddressSpace, seed: int) -> None:
        super().__init__(space, seed)
        self.events: list[Event | None] = [None]
        self._released = count()
        self._sets: list[tuple[int, int]] = [(0, 0)]
        """Sets of events: a member, and the number of the set of the others."""
        self._numbers: dict[tuple[int, int], int] = {}

    def access(self, op: Any, at: Batch, token: Token) -> EventAccess:
        """Begin a memory operation; delayed stores that precede it are performed first."""
        root = at.root
        if root.history is None:
            root.history = History(tuple(root.blocks[0].tolist()))
        history, past = root.history, token.past
        self.perform(lambda access: happens_before(access.event, history, past))
        event = Event(op, history, history.steps, ordering_of(op), scope_of(op))
        history.steps += 1
        self.events.append(event)
        return EventAccess(at, self, event, past | 1 << event.step)

    def release(self, history: History, past: int) -> int:
        """The numbers of the events that happen before a release, as bits."""
        released = history.released(past, lambda: next(self._released))
        return released | history.acquired(past)

    def _make_shadow(self, allocation: Allocation) -> EventShadow:
        return EventShadow(len(allocation.bytes))

    def members(self, number: int) -> Iterator[Event]:
        """The members of the set with a number, the last one first."""
        while number:
            member, number = self._sets[number]
            event = self.events[member]
            assert event is not None
            yield event

    def with_reader(self, number: int, access: EventAccess) -> int:
        """The number of a set and one more event; the members that happen before may be lost."""
        while number and access.follows(self.events[self._sets[number][0]]):
            number = self._sets[number][1]
        extended = access.number, number
        if extended not in self._numbers:
            self._numbers[extended] = len(self._sets)
            self._sets.append(extended)
        return self._numbers[extended]


class EventAccess(CheckedAccess):
    """A checked memory operation of one block."""

    __slots__ = ("event", "events", "number", "past")

    def __init__(self, at: Batch, checker: EventChecker, event: Event, past: int) -> None:
        super().__init__(event.op, at, checker)
        self.events = checker
        self.number = len(checker.events) - 1
        self.event = event
        self.past = past
        """The steps of the block that happen before, and this one."""

    @property
    def token(self) -> Token:
        return Token((self.past,))

    def reads(self, hit: Hit, size: int) -> None:
        self._check_owner(hit.allocation)
        shadow, rows = self._examine(hit, size)
        self._acquire(shadow, rows, size)
        self._check_writers(hit, _bytes(shadow.writer, size)[rows])
        readers = _bytes(shadow.readers, size)
        before = readers[rows]
        after = np.empty_like(before)
        for number in distinct(before):
            after[before == number] = self.events.with_reader(number, self)
        readers[rows] = after

    def writes(self, hit: Hit, size: int) -> None:
        super().writes(hit, size)
        self._check_owner(hit.allocation)
        shadow, rows = self.events.shadow(hit.allocation), _rows(hit, size)
        if self.event.ordering is MemoryOrdering.WEAK and len(np.unique(rows)) < rows.size:
            self.at.fail(self.op, Fault.RACE, "writes twice to one address, in no order")
        self._conflict(hit, shadow, rows, size)
        if shadow.releases:
            for row in rows.tolist():
                shadow.releases.pop(row * size, None)
        if self.event.ordering in RELEASES:
            release = Release(self.event, self.events.release(self.event.history, self.past))
            shadow.releases.update((row * size, release) for row in rows.tolist())

    def updates(self, hit: Hit, size: int) -> None:
        super().updates(hit, size)
        self._check_owner(hit.allocation)
        shadow, rows = self._examine(hit, size)
        self._acquire(shadow, rows, size)
        self._conflict(hit, shadow, rows, size)
        if self.event.ordering not in RELEASES:
            return  # a read of this still acquires earlier releases
        released = self.events.release(self.event.history, self.past)
        for row in rows.tolist():
            before = shadow.releases.get(row * size)
            past = released if before is None else released | before.past
            shadow.releases[row * size] = Release(self.event, past)

    def _check_owner(self, allocation: Allocation) -> None:
        if allocation.owner not in (None, self.event.history.block):
            message = f"accesses {allocation.name}, which belongs to another block"
            self.at.fail(self.op, Fault.OUT_OF_BOUNDS, message)

    def _examine(self, hit: Hit, size: int) -> tuple[EventShadow, Array]:
        """The accessed elements of an allocation; reports uninitialised ones."""
        shadow, rows = self.events.shadow(hit.allocation), _rows(hit, size)
        written = _bytes(shadow.initialised, size)[rows].all(axis=1)
        if not written.all():
            self.report_uninitialised(hit.allocation, int(rows[np.argmin(written)]), size)
        return shadow, rows

    def _acquire(self, shadow: EventShadow, rows: Array, size: int) -> None:
        if self.event.ordering not in ACQUIRES or not shadow.releases:
            return
        for row in rows.tolist():
            release = shadow.releases.get(row * size)
            if release is not None and _are_morally_strong(release.event, self.event):
                self.event.history.acquire(self.event.step, release.past)

    def _conflict(self, hit: Hit, shadow: EventShadow, rows: Array, size: int) -> None:
        """Check a write against earlier accesses, and record it."""
        writer, readers = _bytes(shadow.writer, size), _bytes(shadow.readers, size)
        self._check_writers(hit, writer[rows])
        for number in distinct(readers[rows]):
            for reader in self.events.members(number):
                self._check_event(hit, reader)
        writer[rows] = self.number
        readers[rows] = 0
        _bytes(shadow.initialised, size)[rows] = True

    def _check_writers(self, hit: Hit, writers: Array) -> None:
        for number in reversed(distinct(writers)):
            self._check_event(hit, self.events.events[number])

    def _check_event(self, hit: Hit, other: Event | None) -> None:
        """Report a race with an event that neither happens before nor is morally strong."""
        if not self.follows(other):
            assert other is not None
            if not _are_morally_strong(other, self.event):
                self.report_race(hit.allocation, other.op, other.history.block)

    def follows(self, other: Event | None) -> bool:
        """Whether an event happens before this, as those of the host do."""
        return other is None or happens_before(other, self.event.history, self.past)


def happens_before(event: Event, history: History, past: int) -> bool:
    """Whether an event happens before one of a block after some steps."""
    if event.history is history:
        return bool(past >> event.step & 1)
    number = event.history.numbers.get(event.step)
    return number is not None and bool(history.acquired(past) >> number & 1)


def _are_morally_strong(one: Event, other: Event) -> bool:
    """Whether two events are strong with scopes that include each other."""
    return one.covers(other) and other.covers(one)


def _rows(hit: Hit, size: int) -> Array:
    """The indices of the accessed elements."""
    return (hit.offsets.reshape(-1) // np.uint64(size)).astype(np.int64)


def _bytes(per_byte: Array, size: int) -> Array:
    """Reshape per-byte state to a row per element."""
    return per_byte[: len(per_byte) // size * size].reshape(-1, size)
