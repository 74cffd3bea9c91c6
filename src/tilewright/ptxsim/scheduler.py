"""Who runs next: groups of threads at one place, their parting and meeting, waiting, deadlock."""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from tilewright.ptxsim.endless import Watch
from tilewright.ptxsim.frame import Frame
from tilewright.ptxsim.lanes import CONVERGENCE, Lanes
from tilewright.ptxsim.scalar_types import Array
from tilewright.support.diagnostics import Diagnostic, UserError, note

if TYPE_CHECKING:
    from tilewright.ptxsim.program import Segment
    from tilewright.ptxsim.wave import Wave

# How long a group may loop while others wait. A turn of a loop that meets others costs more, and
# much more if it looks at what other threads may change: it is probably a spin lock.
_PATIENCE: Final = 4096
_PRICE_OF_MEETING: Final = 4
_PRICE_OF_LOOKING: Final = 256
# The same while we make sure that nobody will ever leave its loop.
_SHORT_PATIENCE: Final = 64
_SHORT_PRICE_OF_LOOKING: Final = 16
# How many turns more a group may take to come to where it was once before.
_EXTRA_TURNS: Final = 1024


class Return(NamedTuple):
    """Where a call goes on: the segment behind it, the caller's frame, what to do with results."""

    segment: Segment
    frame: Frame
    order: tuple[int, ...]
    deliver: Callable[[Lanes], None]


class Group:
    """Threads at the same place of the program, with the same calls behind them."""

    __slots__ = ("lanes", "order", "patience", "round", "segment", "stack")

    def __init__(
        self,
        segment: Segment,
        lanes: Lanes,
        stack: tuple[Return, ...] = (),
        round: int = 0,
        patience: int = _PATIENCE,
    ) -> None:
        self.segment = segment
        self.lanes = lanes
        self.stack = stack
        self.round = round
        self.patience = patience
        """How long it may still loop in this round, however often it waits in between."""
        self.order: tuple[int, ...] = ()
        self.move(segment)

    def move(self, segment: Segment | None) -> Group:
        """Go to another segment of the same function."""
        assert segment is not None, "control falls off the end of a function"
        self.segment = segment
        here = (segment.order,)
        self.order = (*self.stack[-1].order, *here) if self.stack else here
        return self

    def part(self, mask: Array) -> Group:
        """A group of those threads for which the mask is true."""
        lanes = self.lanes.take(self.lanes.spread(mask))
        return Group(self.segment, lanes, self.stack, self.round, self.patience)

    @property
    def place(self) -> tuple[Segment, tuple[Return, ...]]:
        """What two groups must have in common to become one."""
        return self.segment, self.stack

    def absorb(self, other: Group) -> None:
        """Take in another group at the same place."""
        threads = np.concatenate((self.lanes.threads, other.lanes.threads))
        threads.sort()
        self.lanes = Lanes(self.lanes.wave, self.lanes.frame, threads)
        self.round = min(self.round, other.round)
        self.patience = min(self.patience, other.patience)


class Parked(NamedTuple):
    """A group that waits, and for what."""

    group: Group
    site: Segment
    what: str | Callable[[], str]
    retry: bool

    def cause(self) -> str:
        """What it waits for, in words."""
        return self.what if isinstance(self.what, str) else self.what()


class Scheduler:
    """Runs the groups of one wave until every thread has exited.

    The group that is furthest behind runs first, so that threads that parted meet again; one that
    loops for long lets every other group run before its next turn. With a seed other than 0 the
    order is random, and warps start apart.
    """

    def __init__(self, wave: Wave, seed: int = 0) -> None:
        self.wave = wave
        self.random = random.Random(seed) if seed else None
        self.ready: dict[tuple[Segment, tuple[Return, ...]], Group] = {}
        self.parked: dict[Hashable, list[Parked]] = {}
        self.thread_counts: dict[Segment, int] = {}
        self.issue_counts: dict[Segment, int] = {}
        self.waits: Counter[str] = Counter()
        self._queue: list[tuple[int, tuple[int, ...], int, Group]] = []
        self._serial = 0
        self._current: Group | None = None
        self._just_parked: list[Array] = []
        self._met = False
        self._seen_progress = -1
        self._seen_loads = -1
        self._seen_round = -1
        self.watch = Watch(wave, self)

    def start(self, segment: Segment, frame: Frame, threads: Array) -> None:
        """Let threads begin at a segment."""
        if self.random is None:
            self.add(Group(segment, Lanes(self.wave, frame, threads)))
            return
        for warp in np.unique(threads // 32):
            mine = threads[threads // 32 == warp]
            group = Group(segment, Lanes(self.wave, frame, mine))
            group.round = self.random.randrange(4)
            self._enqueue(group)

    def add(self, group: Group) -> None:
        """Make a group ready; it joins the one that is already there."""
        there = self.ready.get(group.place)
        if there is None:
            self._enqueue(group)
            return
        rank = there.round
        there.absorb(group)
        if there.round != rank:
            self._enqueue(there)

    def _enqueue(self, group: Group) -> None:
        there = self.ready.get(group.place)
        if there is not None and there is not group:
            group.absorb(there)
        self.ready[group.place] = group
        self._serial += 1
        order = group.order if self.random is None else (self.random.randrange(1 << 16),)
        heapq.heappush(self._queue, (group.round, order, self._serial, group))

    def _head(self) -> tuple[int, tuple[int, ...], int, Group] | None:
        """The first entry of the queue that is still true."""
        queue = self._queue
        while queue:
            rank, _, _, group = queue[0]
            if self.ready.get(group.place) is group and group.round == rank:
                return queue[0]
            heapq.heappop(queue)
        return None

    def run(self) -> Diagnostic | None:
        """Run until no thread is left, or it is certain that those left will never end."""
        watch = self.watch
        while True:
            while (head := self._head()) is not None:
                group = head[3]
                del self.ready[group.place]
                self._turn(group)
                if watch.hopeless:
                    return watch.report()
            if not self.parked:
                return None
            watch.look()
            if watch.hopeless:
                return watch.report()
            if not any(hook() for hook in self.wave.on_stall):
                raise UserError([self.deadlock()])

    def _turn(self, start: Group) -> None:
        """Run a group until another one is due."""
        group = start
        if self.random is not None:
            group.patience = self.random.randrange(1, 64)
        ready = self.ready
        while True:
            if ready or self.parked:
                self._meet(group)
            before = group.segment
            following = self._step(group)
            if following is None:
                return
            group = following
            if group.segment.order <= before.order and before.code is group.segment.code:
                self._tire(group)
            if self.random is not None:
                group.patience -= 1
            if group.patience <= 0 and self._stops_here(group):
                group.round += 1
                group.patience = self._patience(group.round)
                self._give_up(group)
                return
            head = self._head() if ready and self.random is None else None
            if head is not None and head[:2] < (group.round, group.order):
                self.add(group)
                return

    def _tire(self, group: Group) -> None:
        """Count a turn of a loop."""
        looked, self.wave.looked = self.wave.looked, False
        met, self._met = self._met, False
        if group.patience <= 0:
            group.patience -= 1
            return
        price = _PRICE_OF_MEETING if met else 1
        if looked:
            price = _SHORT_PRICE_OF_LOOKING if self.watch.hurries else _PRICE_OF_LOOKING
        group.patience = max(0, group.patience - price)

    def _stops_here(self, group: Group) -> bool:
        """A group that has looped for long stops where it did before, if it soon comes there."""
        if group.patience <= -_EXTRA_TURNS:
            self.watch.homeless = True
            return True
        return self.watch.is_home(group)

    def _meet(self, group: Group) -> None:
        """Join those that are ready here, or wait here to try again."""
        place = group.place
        other = self.ready.pop(place, None)
        if other is not None:
            group.absorb(other)
        if group.segment.blocking is None or not self.parked:
            return
        for key in list(self.parked):
            waiting = self.parked[key]
            here = [each for each in waiting if each.retry and each.group.place == place]
            for each in here:
                group.absorb(each.group)
                waiting.remove(each)
            if not waiting:
                del self.parked[key]

    def _step(self, group: Group) -> Group | None:
        """Run one segment; the group that goes on, if any."""
        segment, lanes = group.segment, group.lanes
        count = lanes.count
        self.thread_counts[segment] = self.thread_counts.get(segment, 0) + count
        self.issue_counts[segment] = self.issue_counts.get(segment, 0) + 1
        for run in segment.body:
            run(lanes)
        if segment.blocking is not None:
            remaining = self._block(group)
            return None if remaining is None else remaining.move(segment.next)
        if segment.transfer is not None:
            return segment.transfer(self, group)
        return group.move(segment.next)

    def _block(self, group: Group) -> Group | None:
        assert group.segment.blocking is not None
        self._met = True
        self._current = group
        self._just_parked.clear()
        group.segment.blocking(group.lanes)
        if not self._just_parked:
            return group
        stays = np.isin(group.lanes.threads, np.concatenate(self._just_parked), invert=True)
        return group.part(stays) if stays.any() else None

    def park(
        self, threads: Array, key: Hashable, what: str | Callable[[], str], retry: bool
    ) -> None:
        """See `Lanes.park`."""
        group = self._current
        assert group is not None, "only an instruction that was registered as blocking may wait"
        self._just_parked.append(threads)
        segment = group.segment
        lanes = Lanes(self.wave, group.lanes.frame, threads)
        waiting = Group(segment, lanes, group.stack, group.round, group.patience)
        if not retry:
            waiting.move(segment.next)
        self.waits[_cause(key)] += len(threads)
        self.parked.setdefault(key, []).append(Parked(waiting, segment, what, retry))

    def wake(self, key: Hashable) -> None:
        """Let those go on that wait for the key."""
        for each in self.parked.pop(key, ()):
            self.add(each.group)

    def exit(self, group: Group) -> None:
        """Threads have come to their end."""
        self.wave.retire(group.lanes.threads)
        self.wake(CONVERGENCE)

    def _patience(self, round: int) -> int:
        """How long a group may loop in a round: never the same for long, so that no two loops keep
        missing each other.
        """
        usual = _SHORT_PATIENCE if self.watch.hurries else _PATIENCE
        return usual + usual // 8 * (round % 7)

    def _give_up(self, group: Group) -> None:
        self.add(group)
        # Who only computes, or has changed something, does not wait for others.
        waits = self.wave.loads != self._seen_loads and self.wave.progress == self._seen_progress
        self._seen_loads, self._seen_progress = self.wave.loads, self.wave.progress
        head = self._head()
        assert head is not None, "the group is ready"
        if head[0] > self._seen_round:
            # Everybody has had a turn.
            self._seen_round = head[0]
            waits |= self.watch.look()
        if waits:
            any(hook() for hook in self.wave.on_stall)

    def waiting_notes(self) -> list[Diagnostic]:
        """Who waits where, and for what."""
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
        """That all who are left wait."""
        notes = self.waiting_notes()
        return Diagnostic("deadlock", notes[0].location, notes=tuple(notes))


def _cause(key: Hashable) -> str:
    """What those wait for who were parked with a key."""
    first = cast("tuple[object, ...]", key)[0] if isinstance(key, tuple) else key
    return first.__name__ if isinstance(first, type) else str(first)
