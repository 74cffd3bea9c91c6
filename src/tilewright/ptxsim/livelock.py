"""Livelock detection: the state of a wave repeats after every runnable thread has run."""

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
    from tilewright.ptxsim.memory import ResolvedAddress
    from tilewright.ptxsim.scheduler import Group, Scheduler
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave

# When the first snapshot is taken, and for how many iterations it is kept; the next one is kept
# for twice as many.
_FIRST: Final = 2
# How often the state must repeat if no memory was written, and if the same values were written
# again: then another schedule or pending asynchronous copies might still make progress.
_SURE: Final = 4
_SURER: Final = 64
# Random schedules do not repeat. After this many iterations, then after twice as many, and so on,
# threads are scheduled as without a seed, for a quarter of that time.
_RESTLESS: Final = 256
_MOST_NOTES: Final = 8


class _Copy:
    """A copy of arrays for later comparison."""

    __slots__ = ("_arrays", "_probe", "_row")

    def __init__(self, arrays: list[Array]) -> None:
        self._arrays = [each.copy() for each in arrays]
        # The position of the last difference is compared first.
        self._probe: tuple[int, int] | None = None
        self._row: tuple[int, int] | None = None

    def equals(self, arrays: list[Array]) -> bool:
        """Whether the arrays are unchanged."""
        old = self._arrays
        if [each.shape for each in old] != [each.shape for each in arrays]:
            return False
        if self._probe is not None:
            array, at = self._probe
            if old[array].flat[at] != arrays[array].flat[at]:
                return False
        for array, (before, now) in enumerate(zip(old, arrays, strict=True)):
            if not np.array_equal(before, now):
                self._probe = array, int(np.argmax(before != now))
                return False
        return True

    def equals_for(self, arrays: list[Array], select: slice | Array) -> bool:
        """Whether the registers of some threads, the first of the arrays, are unchanged."""
        old = self._arrays[: len(arrays)]
        if self._row is not None:
            array, row = self._row
            if (old[array][row, select] != arrays[array][row, select]).any():
                return False
        for array, (before, now) in enumerate(zip(old, arrays, strict=True)):
            differs = before[:, select] != now[:, select]
            if differs.any():
                row = np.unravel_index(int(np.argmax(differs)), differs.shape)[0]
                self._row = array, int(row)
                return False
        return True


class _Poll(NamedTuple):
    """An access by threads that may be polling memory."""

    site: Instruction
    threads: Array
    arena: Arena
    start: int
    size: int


class _Polls:
    """An observer that records the last read of every instruction."""

    def __init__(self, wave: Wave) -> None:
        self.memory = wave.memory
        self.last: dict[tuple[Instruction, int], _Poll] = {}
        self.idle_stores = 0
        """The number of stores that did not change memory."""

    def access(
        self,
        lanes: Lanes,
        resolved: ResolvedAddress,
        size: int,
        kind: Kind,
        site: Instruction,
        values: Array | None = None,
    ) -> None:
        if kind is Kind.WRITE and values is not None:
            self._note_store(resolved, size, values)
        elif kind in (Kind.READ, Kind.ATOMIC) and resolved.arena is not self.memory.local:
            self._note_read(lanes, resolved, size, site)

    def _note_store(self, resolved: ResolvedAddress, size: int, values: Array) -> None:
        width = values.dtype.itemsize
        rows = resolved.index >> (size.bit_length() - 1)
        current = resolved.arena.rows(width, size // width)[0][rows]
        self.idle_stores += resolved.mask is None and bool((current == values).all())

    def _note_read(
        self, lanes: Lanes, resolved: ResolvedAddress, size: int, site: Instruction
    ) -> None:
        threads = lanes.threads if resolved.mask is None else lanes.threads[resolved.mask]
        poll = _Poll(site, threads, resolved.arena, int(resolved.index[0]), size)
        if not self.name(poll).startswith("parameters"):
            self.last[site, int(threads[0])] = poll

    def synchronise(self, threads: Array, kind: str, key: Hashable, site: Instruction) -> None:
        """Ignore ordering events: they read no memory."""

    def of(self, threads: Array) -> list[_Poll]:
        """The reads of the first of some threads; global memory, which others may change, last."""
        polls = [poll for poll in self.last.values() if threads[0] in poll.threads]
        return sorted(polls, key=lambda poll: poll.arena is self.memory.device.arena)

    def name(self, poll: _Poll) -> str:
        """The allocation of a global access and the offset in it."""
        if poll.arena is not self.memory.device.arena:
            return ""
        near = self.memory.device.allocations.near(poll.start)
        return "" if near is None else f"{near[0]} + {poll.start - near[1]}"

    def describe(self, poll: _Poll) -> str:
        """Describe the address of a read."""
        if poll.arena is self.memory.device.arena:
            address = poll.start + GLOBAL_WINDOW
            return f"{poll.size} bytes at global address 0x{address:x} ({self.name(poll)})"
        address = poll.start % self.memory.shared_stride
        return f"{poll.size} bytes at shared address 0x{address:x}"


class LivelockDetector:
    """Compares the state of a wave with a snapshot, by Brent's cycle detection.

    Each snapshot is kept twice as long as the previous one. The scheduler calls `compare` whenever
    every runnable thread has run.
    """

    def __init__(self, wave: Wave, scheduler: Scheduler) -> None:
        self.wave = wave
        self.scheduler = scheduler
        self.is_livelock = False
        self._random = scheduler.random
        self._shuffles = np.random.default_rng(0)
        self._switch = _RESTLESS
        self._polls: _Polls | None = None
        self.restart()

    def restart(self) -> None:
        """Discard the snapshot: memory may have changed from outside the wave."""
        self.is_livelock = False
        self._iterations = 0
        self._span = self._due = _FIRST
        self._forget()

    def _forget(self) -> None:
        self._matches = 0
        self.diverged = False
        """Whether a group failed to return to its state in the snapshot within its time slice."""
        self._state: _Copy | None = None
        self._registers: dict[Frame, _Copy] = {}
        self._memory: _Copy | None = None
        self._numbers: dict[Hashable, int] = {}
        if self._polls is not None:
            self.wave.observer, self._polls = self._observer, None

    @property
    def wants_short_slices(self) -> bool:
        """Whether to use short time slices: the state has repeated, or the schedule is random."""
        return self._matches > 0 or self._random is not None

    def order(self, count: int) -> Array | None:
        """A random lane order for an atomic operation, once a livelock is suspected.

        The order varies so that no thread loses a race forever.
        """
        return self._shuffles.permutation(count) if self._matches and count > 1 else None

    def compare(self) -> bool:
        """Whether the state is the same as in the snapshot."""
        self._iterations += 1
        if self._random is not None and not self._schedule_is_fixed():
            return False
        if self._iterations >= self._due:
            self._forget()
            self._take_snapshot()
            return False
        if self._state is None or not self._state.equals(self._control_state()):
            return False
        return self._same_registers() and self._same_memory()

    def _take_snapshot(self) -> None:
        self._thread_points = self._points()
        self._state = _Copy(self._control_state())
        self._registers = {frame: _Copy(frame.snapshot()) for frame in self.wave.frames()}
        self._version = self.wave.progress
        self._span *= 2
        self._due = self._iterations + self._span

    def _same_registers(self) -> bool:
        saved = self._registers
        return all(
            frame in saved and saved[frame].equals(frame.snapshot()) for frame in self.wave.frames()
        )

    def is_unchanged(self, group: Group) -> bool:
        """Whether a group is in its state of the snapshot, or that state cannot repeat."""
        if self._state is None or self.diverged or self.wave.progress != self._version:
            return True
        number, select = self._numbers.get(group.point), group.lanes.select
        saved = self._registers.get(group.lanes.frame)
        if number is None or saved is None or (self._thread_points[select] != number).any():
            return False
        return saved.equals_for(group.lanes.frame.registers, select)

    def _schedule_is_fixed(self) -> bool:
        scheduler = self.scheduler
        if scheduler.random is not None and self._iterations >= self._switch:
            scheduler.random = None
            self._switch += self._switch // 4
            self._span, self._due = _FIRST, self._iterations + 1
        elif scheduler.random is None and self._iterations >= self._switch:
            scheduler.random = self._random
            self._switch *= 2
            self._forget()
        return scheduler.random is None

    def _control_state(self) -> list[Array]:
        """The state of a wave except registers and memory."""
        return [self._points(), *self.wave.snapshot_control_state()]

    def _points(self) -> Array:
        """For every thread the number of its program point and of what it waits for."""
        points = np.zeros(self.wave.thread_count, np.int32)
        scheduler, numbers = self.scheduler, self._numbers
        for point, group in scheduler.ready.items():
            points[group.lanes.select] = numbers.setdefault(point, len(numbers) + 1)
        for key, waiting in scheduler.parked.items():
            for each in waiting:
                point = key, each.group.point, each.retry
                points[each.group.lanes.select] = numbers.setdefault(point, len(numbers) + 1)
        return points

    def _same_memory(self) -> bool:
        memory = self.wave.memory
        arenas = [arena.bytes for arena in (memory.shared, memory.local, memory.device.arena)]
        if self._memory is None:
            # Memory is copied only after the control state has repeated, which is rare.
            self._memory = _Copy(arenas)
            self._polls, self._observer = _Polls(self.wave), self.wave.observer
            self._version = self.wave.progress
            self.wave.observe(self._polls)
        elif not self._memory.equals(arenas):
            return False
        self._matches += 1
        self.is_livelock = self._matches > (_SURE if self._memory_is_constant() else _SURER)
        return True

    def _memory_is_constant(self) -> bool:
        """Whether no store has changed memory since the observer was added."""
        return self._polls is not None and (
            self.wave.progress == self._version + self._polls.idle_stores
        )

    def report(self) -> Diagnostic:
        """Report the threads that will never end, their instructions and the memory they poll."""
        ready = self.scheduler.ready.values()
        groups = sorted(ready, key=lambda group: int(group.lanes.threads[0]))
        if not groups:
            return self.scheduler.deadlock()
        description = self.wave.describe_threads(groups[0].lanes.threads)
        site, reads = self._describe(groups[0])
        if reads and self._memory_is_constant():
            gist = "waits in a loop for memory that no thread is left to change"
        else:
            gist = "runs in a loop and returns to the same state"
        notes = reads
        for group in groups[1 : 1 + _MOST_NOTES]:
            description_of_group = self.wave.describe_threads(group.lanes.threads)
            site_of_group, reads = self._describe(group)
            notes += [
                note(
                    f"{description_of_group} is in a loop{site_of_group.origin}",
                    site_of_group.location,
                ),
                *reads,
            ]
        notes += self.scheduler.waiting_notes()[:_MOST_NOTES]
        text = f"never ends: {description} {gist}{site.origin}"
        return Diagnostic(text, site.location, notes=tuple(notes))

    def _describe(self, group: Group) -> tuple[Instruction, list[Diagnostic]]:
        """The instruction that represents a loop, and notes on the memory that it reads."""
        assert self._polls is not None, "a livelock is found only with an observer"
        polls = self._polls.of(group.lanes.threads)[-_MOST_NOTES:]
        notes = [
            note(f"it reads {self._polls.describe(poll)}{poll.site.origin}", poll.site.location)
            for poll in polls
        ]
        return (polls[-1].site if polls else group.segment.sites[-1]), notes
