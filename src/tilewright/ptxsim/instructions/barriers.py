"""`bar` and `barrier`: the sixteen named barriers of a CTA, and the barrier of a warp."""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import WARP, Lanes
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array
from tilewright.ptxsim.syntax import Instruction
from tilewright.ptxsim.wave import Wave

_U32: Final = SCALAR_TYPES["u32"]
_BARRIERS: Final = 16


class NamedBarriers:
    """How far each barrier of each CTA is: who has arrived, how many must, what they brought."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        shape = wave.cta_count, _BARRIERS
        self.arrived: Array = np.zeros(shape, np.int64)
        self.expected: Array = np.zeros(shape, np.int64)
        self.votes: Array = np.zeros(shape, np.int64)
        self.phase: Array = np.zeros(shape, np.int64)
        self.result: Array = np.zeros((*shape, 2), np.int64)
        self.live: Array = np.bincount(wave.cta_of_thread[wave.live], minlength=wave.cta_count)
        self._arrivals: dict[tuple[int, int], list[_Arrival]] = {}
        wave.on_exit.append(self.retire)
        wave.deciding.append(lambda: np.stack((self.arrived, self.expected, self.votes)))

    def retire(self, threads: Array) -> None:
        """Threads that have exited are not waited for, where all threads were."""
        gone = np.bincount(self.wave.cta_of_thread[threads], minlength=self.wave.cta_count)
        self.live -= gone
        waiting = (self.expected == 0) & (self.arrived > 0)
        for cta, barrier in np.argwhere(waiting & (self.arrived >= self.live[:, None])):
            self.complete(int(cta), int(barrier))

    def arrive(self, cta: int, barrier: int, count: int, votes: int, arrival: _Arrival) -> bool:
        """Count threads in; whether the barrier is complete. Count 0 stands for all threads."""
        place = cta, barrier
        if self.arrived[place] and self.expected[place] != count:
            was = int(self.expected[place]) or "all"
            text = f"barrier {barrier} is for {was} threads, and {count or 'all'} are expected here"
            self.wave.violation(text, arrival.site, int(arrival.threads[0]))
        self.expected[place] = count
        self.arrived[place] += self._weight(arrival.threads) if count else len(arrival.threads)
        self.votes[place] += votes
        self._arrivals.setdefault(place, []).append(arrival)
        if self.wave.checker is not None:
            self.wave.checker.release(arrival.threads, (NamedBarriers, place))
        if count and self.arrived[place] > count:
            text = f"{self.arrived[place]} threads arrive at a barrier for {count}"
            self.wave.violation(text, arrival.site, int(arrival.threads[0]))
        if self.arrived[place] < (count or self.live[cta]):
            return False
        self.complete(cta, barrier)
        return True

    def _weight(self, threads: Array) -> int:
        """How many threads these count as: a warp's lowest thread stands for those that exited."""
        wave = self.wave
        if wave.live_count == wave.thread_count:
            return len(threads)
        live = wave.live.reshape(-1, WARP)
        warps = threads // WARP
        lowest = np.argmax(live[warps], axis=1) == threads % WARP
        dead = WARP - np.add.reduce(live[warps[lowest]], axis=1, dtype=np.int64)
        return len(threads) + int(dead.sum())

    def complete(self, cta: int, barrier: int) -> None:
        """Let those who wait go on, and start again."""
        place, wave = (cta, barrier), self.wave
        arrivals = self._arrivals.pop(place)
        self._check_alignment(arrivals)
        waiting = [each.threads for each in arrivals if each.waits]
        threads = np.sort(np.concatenate(waiting)) if waiting else np.zeros(0, np.int64)
        if wave.checker is not None:
            wave.checker.acquire(threads, (NamedBarriers, place))
        if wave.observer is not None:
            last = arrivals[-1]
            wave.observer.synchronise(last.threads, "barrier", place, last.site)
        self.result[place] = self.votes[place], self.arrived[place]
        self.arrived[place] = self.votes[place] = 0
        self.phase[place] += 1
        wave.wake((NamedBarriers, cta, barrier))

    def _check_alignment(self, arrivals: list[_Arrival]) -> None:
        """The threads of a warp must come to an aligned barrier by one instruction."""
        first = arrivals[0].site
        if all(each.site is first for each in arrivals) or not self.wave.checks_for("barriers"):
            return
        site_of_warp: dict[int, Instruction] = {}
        for each in arrivals:
            for warp in np.unique(each.threads // WARP).tolist():
                site = site_of_warp.setdefault(warp, each.site)
                if site is not each.site and each.aligned:
                    text = "expected all threads of a warp at the same barrier instruction"
                    note = f"others are at {site.location}"
                    self.wave.violation(text, each.site, int(each.threads[0]), note)

    def describe(self, cta: int, barrier: int) -> str:
        """How far a barrier is."""
        place = cta, barrier
        expected = int(self.expected[place]) or int(self.live[cta])
        return f"barrier {barrier}, at {self.arrived[place]} of {expected} threads"


class _Arrival:
    """Threads that came to a barrier by one instruction."""

    __slots__ = ("aligned", "site", "threads", "waits")

    def __init__(self, threads: Array, site: Instruction, aligned: bool, waits: bool) -> None:
        self.threads = threads
        self.site = site
        self.aligned = aligned
        self.waits = waits


class _Form:
    """The operands of a barrier instruction."""

    def __init__(self, op: Operation, first: int, last: int) -> None:
        op.ignore("cta")
        self.aligned = op.flag("aligned") or op.name.startswith("bar.")
        self.barrier = op.read(first, _U32) if first < last else _zero
        self.count = op.read(first + 1, _U32) if first + 1 < last else None
        self.site = op.site

    def barriers(self, lanes: Lanes) -> Array:
        """The number of each lane's barrier."""
        found = lanes.spread(self.barrier(lanes)).astype(np.int64)
        bad = found >= _BARRIERS
        if bad.any():
            which = int(np.argmax(bad))
            text = f"expected a barrier below {_BARRIERS}, got {found[which]}"
            lanes.wave.violation(text, self.site, int(lanes.threads[which]))
        return found

    def counts(self, lanes: Lanes) -> Array:
        """How many threads each lane's barrier is for; 0 stands for all of them."""
        if self.count is None:
            return np.zeros(lanes.count, np.int64)
        found = lanes.spread(self.count(lanes)).astype(np.int64)
        bad = (found % WARP != 0) | (found == 0)
        if bad.any():
            which = int(np.argmax(bad))
            text = f"expected a multiple of {WARP} threads, got {found[which]}"
            lanes.wave.violation(text, self.site, int(lanes.threads[which]))
        return found


def _zero(lanes: Lanes) -> Array:
    return np.zeros(1, np.uint32)


def _all_at_once(lanes: Lanes, form: _Form, state: NamedBarriers) -> bool:
    """Whether every thread of the wave is here, which needs no counting."""
    wave = lanes.wave
    if form.count is not None or lanes.count != wave.live_count:
        return False
    barriers = form.barriers(lanes)
    if state.arrived.any() or (barriers != barriers[0]).any():
        return False
    state.phase[:, barriers[0]] += 1
    if wave.checker is not None:
        wave.checker.meet(np.flatnonzero(state.live))
    if wave.observer is not None:
        wave.observer.synchronise(lanes.threads, "barrier", int(barriers[0]), form.site)
    return True


def _arrive(
    lanes: Lanes, form: _Form, votes: Array | None, *, waits: bool, parks: bool = True
) -> None:
    """Count the lanes in; those whose barrier is not complete wait, if they shall."""
    state = lanes.wave.state(NamedBarriers)
    if waits and votes is None and _all_at_once(lanes, form, state):
        return
    keys = lanes.ctas * _BARRIERS + form.barriers(lanes)
    counts = form.counts(lanes)
    for key in np.unique(keys):
        here = keys == key
        cta, barrier = divmod(int(key), _BARRIERS)
        brought = 0 if votes is None else int(votes[here].sum())
        arrival = _Arrival(lanes.threads[here], form.site, form.aligned, waits)
        done = state.arrive(cta, barrier, int(counts[np.argmax(here)]), brought, arrival)
        if not done and waits and parks:
            _park(lanes, here, cta, barrier, retry=False)


def _park(lanes: Lanes, here: Array, cta: int, barrier: int, *, retry: bool) -> None:
    state = lanes.wave.state(NamedBarriers)
    key = NamedBarriers, cta, barrier
    lanes.park(here, key, lambda: state.describe(cta, barrier), retry=retry)


@instruction("bar.sync", "barrier.sync", "bar.cta.sync", "barrier.cta.sync", blocks=True)
def sync(op: Operation) -> Run:
    """Wait until all threads, or as many as said, have arrived."""
    form = _Form(op, 0, op.operand_count)
    return lambda lanes: _arrive(lanes, form, None, waits=True)


@instruction("bar.arrive", "barrier.arrive", "bar.cta.arrive", "barrier.cta.arrive", blocks=True)
def arrive(op: Operation) -> Run:
    """Be counted, and go on."""
    form = _Form(op, 0, op.operand_count)
    if form.count is None:
        op.fail("expected how many threads the barrier is for")
    return lambda lanes: _arrive(lanes, form, None, waits=False)


_RED: Final = ("bar.red", "barrier.red", "bar.cta.red", "barrier.cta.red")


@instruction(*_RED, blocks=True)
def reduce(op: Operation) -> Run:
    """Wait as `sync` does, then know for how many threads the predicate holds, or whether."""
    operation = op.choice("popc", "and", "or")
    type = op.type()
    write, predicate = op.write(0, type), op.predicate(op.operand_count - 1)
    form = _Form(op, 1, op.operand_count - 1)
    ticket = op.layout.extra("%bar.red", lambda wave: np.zeros(wave.thread_count, np.int64))

    def run(lanes: Lanes) -> None:
        # Threads come twice: to arrive, and to get the answer once their phase is over.
        state = lanes.wave.state(NamedBarriers)
        barriers = form.barriers(lanes)
        lanes.wave.looked = True
        fresh = lanes.cells[ticket][lanes.select] == 0
        if fresh.any():
            new = lanes.take(fresh)
            new.cells[ticket][new.select] = state.phase[new.ctas, barriers[fresh]] + 1
            _arrive(new, form, new.spread(predicate(new)), waits=True, parks=False)
        over = state.phase[lanes.ctas, barriers] >= lanes.cells[ticket][lanes.select]
        if over.any():
            done = lanes.take(over)
            votes, arrived = state.result[done.ctas, barriers[over]].T
            done.cells[ticket][done.select] = 0
            write(done, _verdict(operation, votes, arrived).astype(type.dtype))
        for cta, barrier in np.unique(np.stack((lanes.ctas, barriers))[:, ~over], axis=1).T:
            mine = ~over & (lanes.ctas == cta) & (barriers == barrier)
            _park(lanes, mine, int(cta), int(barrier), retry=True)

    return run


def _verdict(operation: str | None, votes: Array, arrived: Array) -> Array:
    if operation == "popc":
        return votes
    return votes == arrived if operation == "and" else votes > 0


@instruction("bar.warp.sync", blocks=True)
def warp_barrier(op: Operation) -> Run:
    """`bar.warp.sync mask`: wait for the named threads of the warp."""
    mask = op.read(0, _U32)

    def run(lanes: Lanes) -> None:
        lanes = lanes.converged(np.array(lanes.spread(mask(lanes))))
        if lanes.count and lanes.wave.checker is not None:
            lanes.wave.checker.warp_barrier(lanes.threads)

    return run
