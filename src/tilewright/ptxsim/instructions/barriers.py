"""`bar` and `barrier`: the sixteen named barriers of a CTA, and the barrier of a warp."""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import WARP, Lanes
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array
from tilewright.ptxsim.syntax import Instruction
from tilewright.ptxsim.vectors import distinct
from tilewright.ptxsim.wave import Wave
from tilewright.support.diagnostics import note

_U32: Final = SCALAR_TYPES["u32"]
_BARRIERS: Final = 16


class NamedBarriers:
    """The state of each named barrier of each CTA: arrivals, expected count, votes, phase."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        shape = wave.cta_count, _BARRIERS
        self.arrived: Array = np.zeros(shape, np.int64)
        self.expected: Array = np.zeros(shape, np.int64)
        self.votes: Array = np.zeros(shape, np.int64)
        self.phase: Array = np.zeros(shape, np.int64)
        self.result: Array = np.zeros((*shape, 2), np.int64)
        self.live: Array = np.bincount(wave.cta_of_thread[wave.live], minlength=wave.cta_count)
        self._thread_count = int(wave.geometry.exists.sum())
        self._arrivals: dict[tuple[int, int], list[_Arrival]] = {}
        wave.on_exit.append(self.retire)
        wave.control_state.append(lambda: np.stack((self.arrived, self.expected, self.votes)))

    def retire(self, threads: Array) -> None:
        """Exclude exited threads from barriers for all threads, which may complete them."""
        exited = np.bincount(self.wave.cta_of_thread[threads], minlength=self.wave.cta_count)
        self.live -= exited
        waiting = (self.expected == 0) & (self.arrived > 0)
        for cta, barrier in np.argwhere(waiting & (self.arrived >= self.live[:, None])):
            self.complete(int(cta), int(barrier))

    def arrive(self, cta: int, barrier: int, count: int, votes: int, arrival: _Arrival) -> bool:
        """Count arrivals; return whether the barrier completes. Count 0 means all threads."""
        key = cta, barrier
        if self.arrived[key] and self.expected[key] != count:
            was = int(self.expected[key]) or "all"
            text = f"barrier {barrier} is for {was} threads, and {count or 'all'} are expected here"
            self.wave.violation(text, arrival.site, int(arrival.threads[0]))
        self.expected[key] = count
        self.arrived[key] += self._weight(arrival.threads) if count else len(arrival.threads)
        self.votes[key] += votes
        self._arrivals.setdefault(key, []).append(arrival)
        if self.wave.checker is not None:
            self.wave.checker.release(arrival.threads, (NamedBarriers, key))
        if count and self.arrived[key] > count:
            text = f"{self.arrived[key]} threads arrive at a barrier for {count}"
            self.wave.violation(text, arrival.site, int(arrival.threads[0]))
        if self.arrived[key] < (count or self.live[cta]):
            return False
        self.complete(cta, barrier)
        return True

    def _weight(self, threads: Array) -> int:
        """The number of arrivals: a warp's lowest live thread also counts its exited threads."""
        wave = self.wave
        if wave.live_count == wave.thread_count:
            return len(threads)
        live = wave.live.reshape(-1, WARP)
        warps = threads // WARP
        lowest: Array = np.argmax(live[warps], axis=1) == threads % WARP
        dead = WARP - np.add.reduce(live[warps[lowest]], axis=1, dtype=np.int64)
        return len(threads) + int(dead.sum())

    def complete(self, cta: int, barrier: int) -> None:
        """Unblock the waiting threads and begin the next phase."""
        key, wave = (cta, barrier), self.wave
        arrivals = self._arrivals.pop(key)
        self._check_alignment(arrivals)
        self.check_exits(arrivals)
        waiting = [each.threads for each in arrivals if each.waits]
        threads = np.sort(np.concatenate(waiting)) if waiting else np.zeros(0, np.int64)
        if wave.checker is not None:
            wave.checker.acquire(threads, (NamedBarriers, key))
        if wave.observer is not None:
            last = arrivals[-1]
            wave.observer.synchronise(last.threads, "barrier", key, last.site)
        self.result[key] = self.votes[key], self.arrived[key]
        self.arrived[key] = self.votes[key] = 0
        self.phase[key] += 1
        wave.wake((NamedBarriers, cta, barrier))

    def _check_alignment(self, arrivals: list[_Arrival]) -> None:
        """Require that a warp arrives at an aligned barrier with one instruction."""
        first = arrivals[0].site
        if all(each.site is first for each in arrivals) or not self.wave.checks_for("barriers"):
            return
        site_of_warp: dict[int, Instruction] = {}
        for each in arrivals:
            for warp in distinct(each.threads // WARP).tolist():
                site = site_of_warp.setdefault(warp, each.site)
                if site is not each.site and each.aligned:
                    text = "expected all threads of a warp at the same barrier instruction"
                    others = note("others are here", site.location)
                    self.wave.violation(text, each.site, int(each.threads[0]), others)

    def check_exits(self, arrivals: list[_Arrival]) -> None:
        """Require that no thread of a warp at an aligned barrier has exited instead."""
        wave = self.wave
        if wave.live_count == self._thread_count or not wave.checks_for("barriers"):
            return
        missing = wave.geometry.exists & ~wave.live
        for each in arrivals:
            missing[each.threads] = False  # those that arrive without waiting may exit
        by_warp = missing.reshape(-1, WARP)
        for each in arrivals:
            counts = np.count_nonzero(by_warp[each.threads // WARP], axis=1)
            if each.aligned and counts.any():
                lane = int(np.argmax(counts > 0))
                gist = f"expected all threads of a warp at the barrier, and {counts[lane]} of them"
                note = "a barrier without `.aligned` (barrier.sync) does not need them"
                wave.violation(f"{gist} have exited", each.site, int(each.threads[lane]), note)

    def describe(self, cta: int, barrier: int) -> str:
        """Describe the arrivals at a barrier."""
        key = cta, barrier
        expected = int(self.expected[key]) or int(self.live[cta])
        return f"barrier {barrier}, at {self.arrived[key]} of {expected} threads"


class _Arrival:
    """Threads that arrived at a barrier with one instruction."""

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
        """The barrier number of each lane."""
        barriers = lanes.spread(self.barrier(lanes)).astype(np.int64)
        bad = barriers >= _BARRIERS
        if bad.any():
            lane = int(np.argmax(bad))
            text = f"expected a barrier below {_BARRIERS}, got {barriers[lane]}"
            lanes.wave.violation(text, self.site, int(lanes.threads[lane]))
        return barriers

    def counts(self, lanes: Lanes) -> Array:
        """The thread count of each lane's barrier; 0 means all threads."""
        if self.count is None:
            return np.zeros(lanes.count, np.int64)
        counts = lanes.spread(self.count(lanes)).astype(np.int64)
        bad = (counts % WARP != 0) | (counts == 0)
        if bad.any():
            lane = int(np.argmax(bad))
            text = f"expected a multiple of {WARP} threads, got {counts[lane]}"
            lanes.wave.violation(text, self.site, int(lanes.threads[lane]))
        return counts


def _zero(lanes: Lanes) -> Array:
    return np.zeros(1, np.uint32)


def _all_at_once(lanes: Lanes, form: _Form, state: NamedBarriers) -> bool:
    """Complete a barrier at which every thread of the wave arrives at once, without counting."""
    wave = lanes.wave
    if form.count is not None or lanes.count != wave.live_count:
        return False
    barriers = form.barriers(lanes)
    if state.arrived.any() or (barriers != barriers[0]).any():
        return False
    state.check_exits([_Arrival(lanes.threads, form.site, form.aligned, waits=True)])
    state.phase[:, barriers[0]] += 1
    if wave.checker is not None:
        wave.checker.cta_barrier(np.flatnonzero(state.live))
    if wave.observer is not None:
        wave.observer.synchronise(lanes.threads, "barrier", int(barriers[0]), form.site)
    return True


def _arrive(
    lanes: Lanes, form: _Form, votes: Array | None, *, waits: bool, parks: bool = True
) -> None:
    """Count arrivals; block the lanes whose barrier is not complete, if they wait."""
    state = lanes.wave.state(NamedBarriers)
    if waits and votes is None and _all_at_once(lanes, form, state):
        return
    keys = lanes.ctas * _BARRIERS + form.barriers(lanes)
    counts = form.counts(lanes)
    for key in distinct(keys):
        arriving: Array = keys == key
        cta, barrier = divmod(int(key), _BARRIERS)
        ayes = 0 if votes is None else int(votes[arriving].sum())
        arrival = _Arrival(lanes.threads[arriving], form.site, form.aligned, waits)
        done = state.arrive(cta, barrier, int(counts[np.argmax(arriving)]), ayes, arrival)
        if not done and waits and parks:
            _park(lanes, arriving, cta, barrier, retry=False)


def _park(lanes: Lanes, waiting: Array, cta: int, barrier: int, *, retry: bool) -> None:
    state = lanes.wave.state(NamedBarriers)
    key = NamedBarriers, cta, barrier
    lanes.park(waiting, key, lambda: state.describe(cta, barrier), retry=retry)


@instruction("bar.sync", "barrier.sync", "bar.cta.sync", "barrier.cta.sync", blocks=True)
def sync(op: Operation) -> Run:
    """Wait until all threads, or the given number, have arrived."""
    form = _Form(op, 0, op.operand_count)
    return lambda lanes: _arrive(lanes, form, None, waits=True)


@instruction("bar.arrive", "barrier.arrive", "bar.cta.arrive", "barrier.cta.arrive", blocks=True)
def arrive(op: Operation) -> Run:
    """Arrive without waiting."""
    form = _Form(op, 0, op.operand_count)
    if form.count is None:
        op.fail("expected the number of threads of the barrier")
    return lambda lanes: _arrive(lanes, form, None, waits=False)


_RED: Final = ("bar.red", "barrier.red", "bar.cta.red", "barrier.cta.red")


@instruction(*_RED, blocks=True)
def reduce(op: Operation) -> Run:
    """Wait as `sync` does, then reduce the predicate over the threads: count, all or any."""
    operation = op.choice("popc", "and", "or")
    type = op.type()
    write, predicate = op.write(0, type), op.predicate(op.operand_count - 1)
    form = _Form(op, 1, op.operand_count - 1)
    ticket = op.layout.extra("%bar.red", lambda wave: np.zeros(wave.thread_count, np.int64))

    def run(lanes: Lanes) -> None:
        # Threads execute this twice: to arrive, and to read the result of the completed phase.
        state = lanes.wave.state(NamedBarriers)
        barriers = form.barriers(lanes)
        lanes.wave.polled = True
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
            write(done, _vote_result(operation, votes, arrived).astype(type.dtype))
        for cta, barrier in np.unique(np.stack((lanes.ctas, barriers))[:, ~over], axis=1).T:
            mine: Array = ~over & (lanes.ctas == cta) & (barriers == barrier)
            _park(lanes, mine, int(cta), int(barrier), retry=True)

    return run


def _vote_result(operation: str | None, votes: Array, arrived: Array) -> Array:
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
