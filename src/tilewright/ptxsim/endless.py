"""Loops that never end: all is as it was before, and everybody has had a turn since."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tilewright.ptxsim.memory import GLOBAL_WINDOW, Kind
from tilewright.ptxsim.scalar_types import Array
from tilewright.support.diagnostics import Diagnostic, note

if TYPE_CHECKING:
    from tilewright.ptxsim.arena import Arena
    from tilewright.ptxsim.frame import Frame
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.memory import Place
    from tilewright.ptxsim.scheduler import Group, Scheduler
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave

# When the first snapshot is taken, and for how many rounds it is kept; the next one is kept for
# twice as many.
_FIRST: Final = 2
# How often the snapshot must come back if nothing was written, and if what was written is the same
# again: then another order of turns might still lead elsewhere, or copies that are under way.
_SURE: Final = 4
_SURER: Final = 64
# Random orders do not repeat. After so many rounds, then after twice as many, and so on, threads
# take turns as they do without a seed, for a quarter of that time.
_RESTLESS: Final = 256
_MOST_NOTES: Final = 8


class _Copy:
    """Arrays as they were."""

    __slots__ = ("_arrays", "_probe", "_row")

    def __init__(self, arrays: list[Array]) -> None:
        self._arrays = [each.copy() for each in arrays]
        # What differed last time is looked at first.
        self._probe: tuple[int, int] | None = None
        self._row: tuple[int, int] | None = None

    def equals(self, arrays: list[Array]) -> bool:
        """Whether they are so still."""
        old = self._arrays
        if [each.shape for each in old] != [each.shape for each in arrays]:
            return False
        if self._probe is not None:
            which, at = self._probe
            if old[which].flat[at] != arrays[which].flat[at]:
                return False
        for which, (before, now) in enumerate(zip(old, arrays, strict=True)):
            if not np.array_equal(before, now):
                self._probe = which, int(np.argmax(before != now))
                return False
        return True

    def equals_for(self, arrays: list[Array], select: slice | Array) -> bool:
        """Whether the registers of some threads, which come first, are so still."""
        old = self._arrays[: len(arrays)]
        if self._row is not None:
            which, row = self._row
            if (old[which][row, select] != arrays[which][row, select]).any():
                return False
        for which, (before, now) in enumerate(zip(old, arrays, strict=True)):
            differs = before[:, select] != now[:, select]
            if differs.any():
                row = np.unravel_index(int(np.argmax(differs)), differs.shape)[0]
                self._row = which, int(row)
                return False
        return True


class _Poll(NamedTuple):
    """An access by threads that may wait for its outcome."""

    site: Instruction
    threads: Array
    arena: Arena
    start: int
    size: int


class _Polls:
    """An observer that keeps the last access of every instruction."""

    def __init__(self, wave: Wave) -> None:
        self.memory = wave.memory
        self.found: dict[tuple[Instruction, int], _Poll] = {}
        self.idle_stores = 0
        """How many stores have written what was there already."""

    def access(
        self,
        lanes: Lanes,
        place: Place,
        size: int,
        kind: Kind,
        site: Instruction,
        values: Array | None = None,
    ) -> None:
        if kind is Kind.WRITE and values is not None:
            self._note_store(place, size, values)
        elif kind in (Kind.READ, Kind.ATOMIC) and place.arena is not self.memory.local:
            self._note_read(lanes, place, size, site)

    def _note_store(self, place: Place, size: int, values: Array) -> None:
        width = values.dtype.itemsize
        rows = place.index >> (size.bit_length() - 1)
        there = place.arena.rows(width, size // width)[0][rows]
        self.idle_stores += place.mask is None and bool((there == values).all())

    def _note_read(self, lanes: Lanes, place: Place, size: int, site: Instruction) -> None:
        threads = lanes.threads if place.mask is None else lanes.threads[place.mask]
        poll = _Poll(site, threads, place.arena, int(place.index[0]), size)
        if not self.name(poll).startswith("parameters"):
            self.found[site, int(threads[0])] = poll

    def synchronise(self, threads: Array, kind: str, key: Hashable, site: Instruction) -> None:
        """Nothing is read."""

    def of(self, threads: Array) -> list[_Poll]:
        """What the first of some threads looks at, global memory last: others may change it."""
        found = [poll for poll in self.found.values() if threads[0] in poll.threads]
        return sorted(found, key=lambda poll: poll.arena is self.memory.device.arena)

    def name(self, poll: _Poll) -> str:
        """Where a global access goes: the name of the allocation, and how far into it."""
        if poll.arena is not self.memory.device.arena:
            return ""
        near = self.memory.device.allocations.near(poll.start)
        return "" if near is None else f"{near[0]} + {poll.start - near[1]}"

    def describe(self, poll: _Poll) -> str:
        """What is read, where."""
        if poll.arena is self.memory.device.arena:
            address = poll.start + GLOBAL_WINDOW
            return f"{poll.size} bytes at global address 0x{address:x} ({self.name(poll)})"
        address = poll.start % self.memory.shared_stride
        return f"{poll.size} bytes at shared address 0x{address:x}"


class Watch:
    """Compares a wave with a snapshot of it, after Brent: each is kept twice as long as the last.

    The scheduler asks it to `look` whenever every thread that can run has had a turn.
    """

    def __init__(self, wave: Wave, scheduler: Scheduler) -> None:
        self.wave = wave
        self.scheduler = scheduler
        self.hopeless = False
        self._dice = scheduler.random
        self._shuffles = np.random.default_rng(0)
        self._turning = _RESTLESS
        self._polls: _Polls | None = None
        self.restart()

    def restart(self) -> None:
        """Forget what was seen: somebody else may have changed memory."""
        self.hopeless = False
        self._looks = 0
        self._span = self._due = _FIRST
        self._forget()

    def _forget(self) -> None:
        self._matches = 0
        self.homeless = False
        """Whether a group did not come back to where the snapshot found it, though it tried."""
        self._state: _Copy | None = None
        self._registers: dict[Frame, _Copy] = {}
        self._memory: _Copy | None = None
        self._numbers: dict[Hashable, int] = {}
        if self._polls is not None:
            self.wave.observer, self._polls = self._observer, None

    @property
    def hurries(self) -> bool:
        """Whether turns shall be short: the snapshot has come back, or time for it is."""
        return self._matches > 0 or self._dice is not None

    def order(self, count: int) -> Array | None:
        """In which order lanes shall do an atomic operation, if not from first to last.

        It changes once there is doubt, so that nobody loses a race for ever.
        """
        return self._shuffles.permutation(count) if self._matches and count > 1 else None

    def look(self) -> bool:
        """Whether all is as it was when the snapshot was taken."""
        self._looks += 1
        if self._dice is not None and not self._is_calm():
            return False
        if self._looks >= self._due:
            self._forget()
            self._take_snapshot()
            return False
        if self._state is None or not self._state.equals(self._picture()):
            return False
        return self._same_registers() and self._same_memory()

    def _take_snapshot(self) -> None:
        self._where = self._places()
        self._state = _Copy(self._picture())
        self._registers = {frame: _Copy(frame.conditions()) for frame in self.wave.frames()}
        self._version = self.wave.progress
        self._span *= 2
        self._due = self._looks + self._span

    def _same_registers(self) -> bool:
        saved = self._registers
        return all(
            frame in saved and saved[frame].equals(frame.conditions())
            for frame in self.wave.frames()
        )

    def is_home(self, group: Group) -> bool:
        """Whether a group is where the snapshot found it, or has no reason to go there."""
        if self._state is None or self.homeless or self.wave.progress != self._version:
            return True
        number, select = self._numbers.get(group.place), group.lanes.select
        saved = self._registers.get(group.lanes.frame)
        if number is None or saved is None or (self._where[select] != number).any():
            return False
        return saved.equals_for(group.lanes.frame.registers, select)

    def _is_calm(self) -> bool:
        scheduler = self.scheduler
        if scheduler.random is not None and self._looks >= self._turning:
            scheduler.random = None
            self._turning += self._turning // 4
            self._span, self._due = _FIRST, self._looks + 1
        elif scheduler.random is None and self._looks >= self._turning:
            scheduler.random = self._dice
            self._turning *= 2
            self._forget()
        return scheduler.random is None

    def _picture(self) -> list[Array]:
        """All but registers and memory."""
        return [self._places(), *self.wave.conditions()]

    def _places(self) -> Array:
        """For every thread the number of its place, and of what it waits for."""
        where = np.zeros(self.wave.thread_count, np.int32)
        scheduler, numbers = self.scheduler, self._numbers
        for place, group in scheduler.ready.items():
            where[group.lanes.select] = numbers.setdefault(place, len(numbers) + 1)
        for key, waiting in scheduler.parked.items():
            for each in waiting:
                place = key, each.group.place, each.retry
                where[each.group.lanes.select] = numbers.setdefault(place, len(numbers) + 1)
        return where

    def _same_memory(self) -> bool:
        memory = self.wave.memory
        arenas = [arena.bytes for arena in (memory.shared, memory.local, memory.device.arena)]
        if self._memory is None:
            # Most states that come back do not do so for ever; memory is copied for those that do.
            self._memory = _Copy(arenas)
            self._polls, self._observer = _Polls(self.wave), self.wave.observer
            self._version = self.wave.progress
            self.wave.observe(self._polls)
        elif not self._memory.equals(arenas):
            return False
        self._matches += 1
        self.hopeless = self._matches > (_SURE if self._nothing_changes() else _SURER)
        return True

    def _nothing_changes(self) -> bool:
        """Whether memory has been the same all the time since somebody listens."""
        return self._polls is not None and (
            self.wave.progress == self._version + self._polls.idle_stores
        )

    def report(self) -> Diagnostic:
        """Who will never end, where, and what they look at."""
        ready = self.scheduler.ready.values()
        groups = sorted(ready, key=lambda group: int(group.lanes.threads[0]))
        if not groups:
            return self.scheduler.deadlock()
        who = self.wave.describe_threads(groups[0].lanes.threads)
        site, reads = self._describe(groups[0])
        if reads and self._nothing_changes():
            gist = "waits in a loop for memory that no thread is left to change"
        else:
            gist = "runs in a loop and comes back to where it was"
        notes = reads
        for group in groups[1 : 1 + _MOST_NOTES]:
            whose = self.wave.describe_threads(group.lanes.threads)
            place, reads = self._describe(group)
            notes += [note(f"{whose} is in a loop{place.origin}", place.location), *reads]
        notes += self.scheduler.waiting_notes()[:_MOST_NOTES]
        text = f"never ends: {who} {gist}{site.origin}"
        return Diagnostic(text, site.location, notes=tuple(notes))

    def _describe(self, group: Group) -> tuple[Instruction, list[Diagnostic]]:
        """The instruction that stands for a loop, and notes on what is read in it."""
        assert self._polls is not None, "who is hopeless has been listened to"
        polls = self._polls.of(group.lanes.threads)[-_MOST_NOTES:]
        notes = [
            note(f"it reads {self._polls.describe(poll)}{poll.site.origin}", poll.site.location)
            for poll in polls
        ]
        return (polls[-1].site if polls else group.segment.sites[-1]), notes
