"""Asynchronous work: executed at issue, or, with a seed, delayed at random until its wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.ptxsim.pending_stores import PendingStores
from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.vectors import distinct

if TYPE_CHECKING:
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave

_MOST_PENDING: Final = 32
_EAGERNESS: Final = 0.25


class Job:
    """Work that is executed at most once; it may begin with a part that reads its source."""

    __slots__ = ("_read", "_work", "done", "is_read")

    def __init__(self, work: Callable[[], None], read: Callable[[], None] | None = None) -> None:
        self._work, self._read = work, read
        self.done = False
        self.is_read = read is None

    def read(self) -> None:
        """Execute the part that reads the source, unless it has been executed."""
        if not self.is_read and self._read is not None:
            self._read()
        self.is_read = True

    def run(self) -> None:
        """Execute the work unless it has been executed."""
        if not self.done:
            self.read()
            self.done = True
            self._work()


class AsyncEngine:
    """The pending asynchronous jobs of a wave, unordered."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.random = wave.scheduler.random
        self._pending: list[Job] = []
        wave.on_stall.append(self.stall)
        wave.on_exit.append(self._retire)

    def submit(self, work: Callable[[], None], read: Callable[[], None] | None = None) -> Job:
        """Execute the work now, or queue it if the launch has a seed; first it may read."""
        job = Job(work, read)
        if self.random is None:
            job.run()
        else:
            self._pending.append(job)
            self.advance()
        return job

    def advance(self) -> None:
        """Execute a random number of pending jobs."""
        random = self.random
        if random is None:
            return
        while len(self._pending) > _MOST_PENDING or (
            self._pending and random.random() < _EAGERNESS
        ):
            number = random.randrange(len(self._pending))
            if self._pending[number].is_read:
                self._pending.pop(number).run()
            else:
                self._pending[number].read()

    def stall(self) -> bool:
        """Execute one pending job when all threads wait; return whether there was one."""
        self._pending = [job for job in self._pending if not job.done]
        if not self._pending:
            return False
        index = 0 if self.random is None else self.random.randrange(len(self._pending))
        self._pending.pop(index).run()
        self.wave.progress += 1
        return True

    def _retire(self, threads: Array) -> None:
        if not self.wave.live_count:
            while self.stall():
                pass


class BulkCopy(NamedTuple):
    """A bulk copy that completes in a group."""

    job: Job
    stored: Array
    """The chunks of global memory that it writes."""


class _Group:
    """The copies of a bulk group."""

    __slots__ = ("copies", "is_read")

    def __init__(self, copies: list[BulkCopy]) -> None:
        self.copies = copies
        self.is_read = not copies
        """Whether the thread has waited until all sources were read."""


class BulkGroups:
    """The bulk copies of each thread that are committed to bulk groups and not waited for."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self._open: dict[int, list[BulkCopy]] = {}
        self._committed: dict[int, list[_Group]] = {}
        self._last: dict[int, tuple[int, Instruction]] = {}
        wave.on_exit.append(self._retire)

    def add(self, thread: int, copy: BulkCopy, site: Instruction) -> None:
        """Record a copy that a thread issued."""
        self._open.setdefault(thread, []).append(copy)
        self._last[int(self.wave.cta_of_thread[thread])] = thread, site

    def commit(self, threads: Array) -> None:
        """Commit the copies that each thread has issued as a bulk group."""
        for thread in threads.tolist():
            group = _Group(self._open.pop(thread, []))
            self._committed.setdefault(thread, []).append(group)

    def wait(self, threads: Array, pending: int, *, read: bool) -> None:
        """Execute all groups but the last `pending` ones, or let them read their sources."""
        stores = self.wave.state(PendingStores)
        for thread in threads.tolist():
            groups = self._committed.get(thread, [])
            due = max(0, len(groups) - pending)
            for group in groups[:due]:
                group.is_read = True
                for copy in group.copies:
                    if read:
                        copy.job.read()
                    else:
                        copy.job.run()
                        stores.complete(copy.stored)
            if not read:
                del groups[:due]

    def _retire(self, threads: Array) -> None:
        if not self._last or not self.wave.checks_for("races"):
            return
        for cta in distinct(self.wave.cta_of_thread[threads]).tolist():
            slots = slice(cta * self.wave.slots_per_cta, (cta + 1) * self.wave.slots_per_cta)
            if cta in self._last and not self.wave.live[slots].any():
                self._require_done(cta, range(slots.start, slots.stop))

    def _require_done(self, cta: int, threads: range) -> None:
        thread, site = self._last.pop(cta)
        for each in threads:
            is_read = all(group.is_read for group in self._committed.get(each, ()))
            if not is_read or self._open.get(each):
                text = "the CTA exits before any thread waits for this copy"
                self.wave.violation(text, site, thread)
