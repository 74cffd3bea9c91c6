"""Asynchronous work: executed at issue, or, with a seed, delayed at random until its wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from tilewright.ptxsim.scalar_types import Array
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave

_MOST_PENDING: Final = 32
_EAGERNESS: Final = 0.25


class Job:
    """Work that is executed at most once."""

    __slots__ = ("_work", "done")

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self.done = False

    def run(self) -> None:
        """Execute the work unless it has been executed."""
        if not self.done:
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

    def submit(self, work: Callable[[], None]) -> Job:
        """Execute the work now, or queue it if the launch has a seed."""
        job = Job(work)
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
            self._pending.pop(random.randrange(len(self._pending))).run()

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


class BulkGroups:
    """The bulk copies of each thread that are committed to bulk groups and not waited for."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self._open: dict[int, list[Job]] = {}
        self._committed: dict[int, list[list[Job]]] = {}
        self._last: dict[int, tuple[int, Instruction]] = {}
        wave.on_exit.append(self._retire)

    def add(self, thread: int, job: Job, site: Instruction) -> None:
        """Record a copy that a thread issued."""
        self._open.setdefault(thread, []).append(job)
        self._last[int(self.wave.cta_of_thread[thread])] = thread, site

    def commit(self, threads: Array) -> None:
        """Commit the copies that each thread has issued as a bulk group."""
        for thread in threads.tolist():
            self._committed.setdefault(thread, []).append(self._open.pop(thread, []))

    def wait(self, threads: Array, pending: int) -> None:
        """Execute all groups but the last `pending` ones."""
        for thread in threads.tolist():
            groups = self._committed.get(thread, [])
            due = max(0, len(groups) - pending)
            for job in (job for group in groups[:due] for job in group):
                job.run()
            del groups[:due]

    def _retire(self, threads: Array) -> None:
        if not self._last or not self.wave.checks_for("races"):
            return
        for cta in np.unique(self.wave.cta_of_thread[threads]).tolist():
            slots = slice(cta * self.wave.slots_per_cta, (cta + 1) * self.wave.slots_per_cta)
            if cta in self._last and not self.wave.live[slots].any():
                self._require_done(cta, range(slots.start, slots.stop))

    def _require_done(self, cta: int, threads: range) -> None:
        thread, site = self._last.pop(cta)
        for each in threads:
            if any(self._committed.get(each, ())) or self._open.get(each):
                text = "the CTA exits before any thread waits for this copy"
                self.wave.violation(text, site, thread)
