"""`mbarrier`: barriers in shared memory that count arrivals and bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from tilewright.ptxsim.async_engine import AsyncEngine
from tilewright.ptxsim.instructions.data_movement import SCOPES, take_space
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.mbarriers import SIZE, Mbarrier, Mbarriers
from tilewright.ptxsim.memory import Kind
from tilewright.ptxsim.operation import Operation, Read, Write
from tilewright.ptxsim.places import shared_index
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array
from tilewright.ptxsim.wave import Wave

_U32: Final = SCALAR_TYPES["u32"]
_B64: Final = SCALAR_TYPES["b64"]
_PREDICATE: Final = SCALAR_TYPES["pred"]
_ORDERS: Final = ("acquire", "release", "relaxed")


class _Form:
    """What these instructions have in common: order, space, address."""

    def __init__(self, op: Operation, address: int) -> None:
        self.relaxed = op.choice(*_ORDERS) == "relaxed"
        op.choice(*SCOPES)
        self.space = take_space(op)
        op.ignore("b64")
        self.address: Read = op.address(address)
        self.site = op.site

    def places(self, lanes: Lanes) -> Array:
        """Where each lane's object lies."""
        address = self.address(lanes)
        return shared_index(lanes, self.space, address, SIZE, self.site, Kind.ATOMIC)

    def objects(self, lanes: Lanes) -> Iterator[tuple[Mbarrier, Array]]:
        """The objects that lanes use, each with a mask of the lanes."""
        places = self.places(lanes)
        state = lanes.wave.state(Mbarriers)
        for place in np.unique(places):
            mask = places == place
            thread = int(lanes.threads[np.argmax(mask)])
            found = state.find(int(place), thread, self.site)
            if lanes.wave.checker is not None:
                for other in np.unique(lanes.threads[mask] // 32 * 32).tolist():
                    state.find(int(place), other, self.site)
            yield found, mask


@instruction("mbarrier.init")
def init(op: Operation) -> Run:
    """`mbarrier.init [a], count`."""
    form, count = _Form(op, 0), op.read(1, _U32)

    def run(lanes: Lanes) -> None:
        state = lanes.wave.state(Mbarriers)
        counts, places = lanes.spread(count(lanes)), form.places(lanes)
        lanes.wave.memory.shared.mark(places // SIZE, SIZE, 1)
        for place, number, thread in zip(places, counts, lanes.threads, strict=True):
            state.init(int(place), int(number), int(thread), form.site)

    return run


@instruction("mbarrier.inval")
def invalidate(op: Operation) -> Run:
    """`mbarrier.inval [a]`."""
    form = _Form(op, 0)

    def run(lanes: Lanes) -> None:
        state = lanes.wave.state(Mbarriers)
        for place, thread in zip(form.places(lanes), lanes.threads, strict=True):
            state.invalidate(int(place), int(thread), form.site)

    return run


class _Arrival:
    """`mbarrier.arrive` and its kin: what each lane brings, and what it gets."""

    def __init__(self, op: Operation) -> None:
        self.expects = op.flag("expect_tx")
        self.keeps_phase = op.flag("noComplete")
        self.drops = op.name == "mbarrier.arrive_drop"
        self.form = _Form(op, 1)
        self.write: Write = op.write(0, _B64)
        self.amount = op.read(2, _U32) if op.operand_count > 2 else _one

    def run(self, lanes: Lanes) -> None:
        amounts = lanes.spread(self.amount(lanes)).astype(np.int64)
        tokens = np.zeros(lanes.count, np.uint64)
        for found, mask in self.form.objects(lanes):
            self._release(lanes, found, lanes.threads[mask])
            for which in np.flatnonzero(mask).tolist():
                tokens[which] = found.token
                self._one(lanes, found, int(amounts[which]), int(lanes.threads[which]))
        self.write(lanes, tokens)
        lanes.wave.state(AsyncEngine).poke()

    def _release(self, lanes: Lanes, found: Mbarrier, threads: Array) -> None:
        checker = lanes.wave.checker
        if checker is not None and not self.form.relaxed:
            lanes.wave.state(Mbarriers).release(found, checker.snapshot(threads))

    def _one(self, lanes: Lanes, found: Mbarrier, amount: int, thread: int) -> None:
        state, site = lanes.wave.state(Mbarriers), self.form.site
        count = 1 if self.expects else amount
        if self.expects:
            state.expect(found, amount, thread, site)
        if self.keeps_phase and count >= found.pending:
            text = "this arrival completes the phase, which .noComplete excludes"
            lanes.wave.violation(text, site, thread, state.describe(found))
        if self.drops:
            state.drop(found, count)
        state.arrive(found, count, thread, site)


def _one(lanes: Lanes) -> Array:
    return np.ones(1, np.uint32)


@instruction("mbarrier.arrive", "mbarrier.arrive_drop")
def arrive(op: Operation) -> Run:
    """`mbarrier.arrive state, [a], count`, and with `.expect_tx` the number of bytes to come."""
    return _Arrival(op).run


@instruction("mbarrier.expect_tx", "mbarrier.complete_tx")
def change_bytes(op: Operation) -> Run:
    """`mbarrier.expect_tx [a], size`, and `mbarrier.complete_tx`, which takes them off."""
    completes = op.name == "mbarrier.complete_tx"
    form, size = _Form(op, 0), op.read(1, _U32)

    def run(lanes: Lanes) -> None:
        state = lanes.wave.state(Mbarriers)
        sizes = lanes.spread(size(lanes))
        for found, mask in form.objects(lanes):
            thread = int(lanes.threads[np.argmax(mask)])
            total = int(sizes[mask].sum(dtype=np.int64))
            (state.complete_tx if completes else state.expect)(found, total, thread, form.site)

    return run


class Waits:
    """Threads that were told that their time is up; a wait may end without success."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.given_up: Array = np.zeros(wave.thread_count, np.bool_)
        # Nobody is told so while there are copies under way: those stall first.
        wave.state(AsyncEngine)
        wave.on_stall.append(self.stall)
        wave.deciding.append(lambda: self.given_up)

    def stall(self) -> bool:
        """Nobody can go on: let those who wait for an mbarrier look at something else."""
        parked = self.wave.scheduler.parked
        keys = [key for key in self.wave.state(Mbarriers).keys() if key in parked]
        for key in keys:
            for each in parked[key]:
                self.given_up[each.group.lanes.threads] = True
            self.wave.wake(key)
        return bool(keys)


class _Wait:
    """`mbarrier.test_wait` and `try_wait`: has the phase of a token, or of a parity, completed?"""

    def __init__(self, op: Operation) -> None:
        self.tries = op.name == "mbarrier.try_wait"
        self.parity = op.flag("parity")
        self.form = _Form(op, 1)
        self.write: Write = op.write(0, _PREDICATE)
        self.phase = op.read(2, _U32 if self.parity else _B64)
        if self.tries:
            # How long threads may be suspended.
            op.ignore_operands()

    def run(self, lanes: Lanes) -> None:
        wave = lanes.wave
        waits = wave.state(Waits)
        wave.state(AsyncEngine).poke()
        phases = lanes.spread(self.phase(lanes)).astype(np.int64)
        done = np.zeros(lanes.count, np.bool_)
        resigned = waits.given_up[lanes.select] | self._impatient(lanes)
        for found, mask in self.form.objects(lanes):
            done[mask] = self._done(found, phases[mask])
            if done[mask].any():
                self._acquire(lanes, found, lanes.threads[mask & done])
            late = mask & ~done & ~resigned
            if late.any():
                self._park(lanes, found, late)
        waits.given_up[lanes.threads[done | resigned]] = False
        goes_on = done | resigned
        self.write(lanes.take(goes_on), done[goes_on])
        wave.looked |= bool(resigned.any())

    def _impatient(self, lanes: Lanes) -> bool:
        # Under a seed some waits fail at once, as they may.
        random = lanes.wave.scheduler.random
        return random is not None and random.random() < 0.125

    def _done(self, found: Mbarrier, phases: Array) -> Array:
        if self.parity:
            return phases & 1 != found.phase & 1
        return (phases >> 32) < found.phase

    def _acquire(self, lanes: Lanes, found: Mbarrier, threads: Array) -> None:
        checker = lanes.wave.checker
        if checker is not None and not self.form.relaxed and found.complete is not None:
            checker.learn(threads, found.complete)
        if lanes.wave.observer is not None:
            observer = lanes.wave.observer
            observer.synchronise(threads, "mbarrier", found.index, self.form.site)

    def _park(self, lanes: Lanes, found: Mbarrier, late: Array) -> None:
        state = lanes.wave.state(Mbarriers)
        lanes.park(late, (Mbarriers, found.index), lambda: state.describe(found))


@instruction("mbarrier.test_wait", "mbarrier.try_wait", blocks=True)
def wait(op: Operation) -> Run:
    """`mbarrier.try_wait p, [a], state`, or with `.parity` a parity in its place."""
    return _Wait(op).run


@instruction("mbarrier.pending_count")
def pending_count(op: Operation) -> Run:
    """`mbarrier.pending_count d, state`: how many arrivals were pending."""
    op.ignore("b64")
    write, read = op.write(0, _U32), op.read(1, _B64)
    return lambda lanes: write(lanes, read(lanes).astype(np.uint32))
