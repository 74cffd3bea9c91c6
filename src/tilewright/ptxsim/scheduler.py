"""The scheduler: groups of converged threads, divergence and reconvergence, blocking, deadlock."""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from tilewright.ptxsim.frame import Frame
from tilewright.ptxsim.lanes import CONVERGENCE, Lanes
from tilewright.ptxsim.livelock import LivelockDetector
from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.vectors import any_set, distinct
from tilewright.support.diagnostics import Diagnostic, UserError, note
from tilewright.support.location import UNKNOWN

if TYPE_CHECKING:
    from tilewright.ptxsim.program import Segment
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave
    from tilewright.support.location import Location

# The time slice of a group while others are ready. An iteration of a loop that blocks costs more,
# and much more if it polls what other threads may change: it is probably a spin lock.
_TIME_SLICE: Final = 4096
_BLOCK_COST: Final = 4
_POLL_COST: Final = 256
# The same while the livelock detector compares states.
_SHORT_TIME_SLICE: Final = 64
_SHORT_POLL_COST: Final = 16
# The number of extra iterations in which a group may return to its state in the snapshot.
_EXTRA_ITERATIONS: Final = 1024


class Return(NamedTuple):
    """The continuation of a call: return segment, caller's frame, and how to return results."""

    segment: Segment
    frame: Frame
    order: tuple[int, ...]
    deliver: Callable[[Lanes], None]


class Group:
    """Converged threads: the same program point and the same call stack."""

    __slots__ = ("budget", "epoch", "lanes", "order", "segment", "stack")

    def __init__(
        self,
        segment: Segment,
        lanes: Lanes,
        stack: tuple[Return, ...] = (),
        epoch: int = 0,
        budget: int = _TIME_SLICE,
    ) -> None:
        self.segment = segment
        self.lanes = lanes
        self.stack = stack
        self.epoch = epoch
        self.budget = budget
        """The rest of the time slice in this epoch, however often the group blocks."""
        self.order: tuple[int, ...] = ()
        self.move(segment)

    def move(self, segment: Segment | None) -> Group:
        """Go to another segment of the same function."""
        assert segment is not None, "control falls off the end of a function"
        self.segment = segment
        own_order = (segment.order,)
        self.order = (*self.stack[-1].order, *own_order) if self.stack else own_order
        return self

    def part(self, mask: Array) -> Group:
        """Split off the threads for which the mask is true."""
        lanes = self.lanes.take(self.lanes.spread(mask))
        return Group(self.segment, lanes, self.stack, self.epoch, self.budget)

    @property
    def point(self) -> tuple[Segment, tuple[Return, ...]]:
        """The program point: groups with the same one reconverge."""
        return self.segment, self.stack

    def absorb(self, other: Group) -> None:
        """Merge another group at the same program point."""
        threads = np.concatenate((self.lanes.threads, other.lanes.threads))
        threads.sort()
        self.lanes = Lanes(self.lanes.wave, self.lanes.frame, threads)
        self.epoch = min(self.epoch, other.epoch)
        self.budget = min(self.budget, other.budget)


class Parked(NamedTuple):
    """A blocked group and the reason."""

    group: Group
    site: Segment
    reason: str | Callable[[], str]
    retry: bool

    def cause(self) -> str:
        """The reason, as text."""
        return self.reason if isinstance(self.reason, str) else self.reason()


class Scheduler:
    """Runs the groups of one wave until every thread has exited.

    The group that is first in program order runs first, so that divergent threads reconverge; a
    group that loops for long yields to all others once its time slice ends. With a seed other than
    0 the order is random, and warps start divergent.
    """

    def __init__(self, wave: Wave, seed: int = 0) -> None:
        self.wave = wave
        self.random = random.Random(seed) if seed else None
        self.ready: dict[tuple[Segment, tuple[Return, ...]], Group] = {}
        self.parked: dict[Hashable, list[Parked]] = {}
        self.thread_counts: dict[Segment, int] = {}
        self.issue_counts: dict[Segment, int] = {}
        self.waits: Counter[tuple[str, Instruction]] = Counter()
        self._queue: list[tuple[int, tuple[int, ...], int, Group]] = []
        self._serial = 0
        self._current: Group | None = None
        self._running: Group | None = None
        self._just_parked: list[Array] = []
        self._retrying: list[Array] = []
        self._blocked = False
        self._seen_progress = -1
        self._seen_loads = -1
        self._seen_epoch = -1
        self.detector = LivelockDetector(wave, self)

    def start(self, segment: Segment, frame: Frame, threads: Array) -> None:
        """Start threads at a segment."""
        if self.random is None:
            self.add(Group(segment, Lanes(self.wave, frame, threads)))
            return
        for warp in distinct(threads // 32):
            lanes_of_warp = threads[threads // 32 == warp]
            group = Group(segment, Lanes(self.wave, frame, lanes_of_warp))
            group.epoch = self.random.randrange(4)
            self._enqueue(group)

    def add(self, group: Group) -> None:
        """Make a group ready, merged with a ready group at the same program point."""
        ready = self.ready.get(group.point)
        if ready is None:
            self._enqueue(group)
            return
        rank = ready.epoch
        ready.absorb(group)
        if ready.epoch != rank:
            self._enqueue(ready)

    def _enqueue(self, group: Group) -> None:
        ready = self.ready.get(group.point)
        if ready is not None and ready is not group:
            group.absorb(ready)
        self.ready[group.point] = group
        self._serial += 1
        order = group.order if self.random is None else (self.random.randrange(1 << 16),)
        heapq.heappush(self._queue, (group.epoch, order, self._serial, group))

    def _head(self) -> tuple[int, tuple[int, ...], int, Group] | None:
        """The first entry of the queue that is up to date."""
        queue = self._queue
        while queue:
            rank, _, _, group = queue[0]
            if self.ready.get(group.point) is group and group.epoch == rank:
                return queue[0]
            heapq.heappop(queue)
        return None

    def run(self) -> Diagnostic | None:
        """Run until every thread has exited, or the rest is in a livelock."""
        detector = self.detector
        while True:
            while (head := self._head()) is not None:
                group = head[3]
                del self.ready[group.point]
                self._run_slice(group)
                if detector.is_livelock:
                    return detector.report()
            if not self.parked:
                return None
            detector.compare()
            if detector.is_livelock:
                return detector.report()
            if not any(hook() for hook in self.wave.on_stall):
                raise UserError([self.deadlock()])

    def _run_slice(self, start: Group) -> None:
        """Run a group until it yields."""
        group = start
        if self.random is not None:
            group.budget = self.random.randrange(1, 64)
        ready = self.ready
        while True:
            if ready or self.parked:
                self._reconverge(group)
            before = group.segment
            following = self._step(group)
            if following is None:
                return
            group = following
            if group.segment.order <= before.order and before.code is group.segment.code:
                self._charge(group)
            if self.random is not None:
                group.budget -= 1
            if group.budget <= 0 and self._may_yield(group):
                group.epoch += 1
                group.budget = self._time_slice(group.epoch)
                self._yield(group)
                return
            head = self._head() if ready and self.random is None else None
            if head is not None and head[:2] < (group.epoch, group.order):
                self.add(group)
                return

    def _charge(self, group: Group) -> None:
        """Charge an iteration of a loop to the time slice."""
        polled, self.wave.polled = self.wave.polled, False
        blocked, self._blocked = self._blocked, False
        if group.budget <= 0:
            group.budget -= 1
            return
        cost = _BLOCK_COST if blocked else 1
        if polled:
            cost = _SHORT_POLL_COST if self.detector.wants_short_slices else _POLL_COST
        group.budget = max(0, group.budget - cost)

    def _may_yield(self, group: Group) -> bool:
        """Whether a group may yield here: preferably in its state of the last snapshot."""
        if group.budget <= -_EXTRA_ITERATIONS:
            self.detector.diverged = True
            return True
        return self.detector.is_unchanged(group)

    def _reconverge(self, group: Group) -> None:
        """Merge ready groups, and blocked ones that will retry, at the same program point."""
        point = group.point
        other = self.ready.pop(point, None)
        if other is not None:
            group.absorb(other)
        if group.segment.blocking is None or not self.parked:
            return
        for key in list(self.parked):
            waiting = self.parked[key]
            here = [each for each in waiting if each.retry and each.group.point == point]
            for each in here:
                group.absorb(each.group)
                waiting.remove(each)
            if not waiting:
                del self.parked[key]

    def _step(self, group: Group) -> Group | None:
        """Run one segment; return the group that continues, if any."""
        segment, lanes = group.segment, group.lanes
        limits = self.wave.limits
        limits.steps += len(segment.sites)
        self._running = group
        if limits.steps > limits.next_check:
            self._check_limits()
        self.issue_counts[segment] = self.issue_counts.get(segment, 0) + 1
        if segment.blocking is not None:
            remaining = self._block(group)
            return None if remaining is None else remaining.move(segment.next)
        self._count(segment, lanes)
        for run in segment.body:
            run(lanes)
        if segment.transfer is not None:
            return segment.transfer(self, group)
        return group.move(segment.next)

    def _count(self, segment: Segment, lanes: Lanes) -> None:
        """Count the threads that execute a segment."""
        self.thread_counts[segment] = self.thread_counts.get(segment, 0) + lanes.count
        if self.wave.profile is not None:
            self.wave.profile.execute(segment, lanes)

    def _block(self, group: Group) -> Group | None:
        """Run the only instruction of a segment that blocks; return the threads that continue."""
        assert group.segment.blocking is not None
        self._blocked = True
        self._current = group
        self._just_parked.clear()
        self._retrying.clear()
        lanes = group.lanes
        group.segment.blocking(lanes)
        if self._retrying:
            # These threads execute the instruction when they are woken, and count then.
            lanes = lanes.take(self._without(lanes, self._retrying))
        if lanes.count:
            self._count(group.segment, lanes)
        if not self._just_parked:
            return group
        continues = self._without(group.lanes, self._just_parked)
        return group.part(continues) if any_set(continues) else None

    def _without(self, lanes: Lanes, parked: list[Array]) -> Array:
        """Mask of the lanes whose threads are not parked."""
        others = np.ones(self.wave.thread_count, np.bool_)
        for threads in parked:
            others[threads] = False
        return others[lanes.select]

    def park(
        self, threads: Array, key: Hashable, reason: str | Callable[[], str], retry: bool
    ) -> None:
        """See `Lanes.park`."""
        group = self._current
        assert group is not None, "only an instruction that was registered as blocking may wait"
        self._just_parked.append(threads)
        if retry:
            self._retrying.append(threads)
        segment = group.segment
        lanes = Lanes(self.wave, group.lanes.frame, threads)
        waiting = Group(segment, lanes, group.stack, group.epoch, group.budget)
        if not retry:
            waiting.move(segment.next)
        self.waits[_cause(key), segment.sites[-1]] += len(threads)
        self.parked.setdefault(key, []).append(Parked(waiting, segment, reason, retry))

    def wake(self, key: Hashable) -> None:
        """Make the groups blocked on a key ready."""
        for each in self.parked.pop(key, ()):
            self.add(each.group)

    def exit(self, group: Group) -> None:
        """Retire threads that have exited."""
        self.wave.retire(group.lanes.threads)
        self.wake(CONVERGENCE)

    def _time_slice(self, epoch: int) -> int:
        """The time slice of a group in an epoch, varied so that no two loops stay in lockstep."""
        usual = _SHORT_TIME_SLICE if self.detector.wants_short_slices else _TIME_SLICE
        return usual + usual // 8 * (epoch % 7)

    def _yield(self, group: Group) -> None:
        self.add(group)
        # A group that only computes, or has changed memory, does not wait for others.
        waits = self.wave.loads != self._seen_loads and self.wave.progress == self._seen_progress
        self._seen_loads, self._seen_progress = self.wave.loads, self.wave.progress
        head = self._head()
        assert head is not None, "the group is ready"
        if head[0] > self._seen_epoch:
            # Every runnable group has run.
            self._seen_epoch = head[0]
            waits |= self.detector.compare()
        if waits:
            any(hook() for hook in self.wave.on_stall)

    def _check_limits(self) -> None:
        """Raise an error if the run has reached a limit."""
        limits = self.wave.limits
        limit = limits.check()
        if limit is not None:
            raise UserError([limits.exceeded(limit, *self.whereabouts())])

    def whereabouts(self) -> tuple[str, Location]:
        """The threads that run, as text, and the location of their instruction."""
        group = self._running
        if group is None:
            return "no block yet", UNKNOWN
        site = group.segment.sites[0]
        subject = self.wave.describe_threads(group.lanes.threads)
        return f"{subject}{site.origin}", site.location

    def waiting_notes(self) -> list[Diagnostic]:
        """Notes that name the blocked threads, their instructions and the reasons."""
        return [
            note(
                f"{self.wave.describe_threads(each.group.lanes.threads)} waits for {each.cause()}"
                f"{each.site.sites[-1].origin}",
                each.site.sites[-1].location,
            )
            for every in self.parked.values()
            for each in every
        ]

    def deadlock(self) -> Diagnostic:
        """Report that all remaining threads are blocked."""
        notes = self.waiting_notes()
        return Diagnostic("deadlock", notes[0].location, notes=tuple(notes))


def _cause(key: Hashable) -> str:
    """The name of the synchronization object of a key."""
    first = cast("tuple[object, ...]", key)[0] if isinstance(key, tuple) else key
    return first.__name__ if isinstance(first, type) else str(first)
