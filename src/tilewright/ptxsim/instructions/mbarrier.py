"""`mbarrier`: barrier objects in shared memory with arrival and transaction counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from tilewright.ptxsim.addresses import shared_index
from tilewright.ptxsim.async_engine import AsyncEngine
from tilewright.ptxsim.instructions.data_movement import SCOPES, take_space
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.mbarriers import SIZE, Mbarrier, Mbarriers
from tilewright.ptxsim.memory import Kind
from tilewright.ptxsim.operation import Operation, Read, Write
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array
from tilewright.ptxsim.vectors import distinct, distinct_ascending
from tilewright.ptxsim.wave import Wave

_U32: Final = SCALAR_TYPES["u32"]
_B64: Final = SCALAR_TYPES["b64"]
_PREDICATE: Final = SCALAR_TYPES["pred"]
_ORDERS: Final = ("acquire", "release", "relaxed")


class _Form:
    """Common operands: memory order, state space, address."""

    def __init__(self, op: Operation, address: int) -> None:
        self.relaxed = op.choice(*_ORDERS) == "relaxed"
        op.choice(*SCOPES)
        self.space = take_space(op)
        op.ignore("b64")
        self.address: Read = op.address(address)
        self.site = op.site

    def indices(self, lanes: Lanes) -> Array:
        """The arena index of each lane's object."""
        address = self.address(lanes)
        return shared_index(lanes, self.space, address, SIZE, self.site, Kind.ATOMIC)

    def objects(self, lanes: Lanes) -> Iterator[tuple[Mbarrier, Array]]:
        """Yield the objects that lanes use, each with a mask of the lanes."""
        indices = self.indices(lanes)
        state = lanes.wave.state(Mbarriers)
        for index in distinct(indices):
            mask: Array = indices == index
            thread = int(lanes.threads[np.argmax(mask)])
            mbarrier = state.find(int(index), thread, self.site)
            if lanes.wave.checker is not None:
                for other in distinct_ascending(lanes.threads[mask] // 32 * 32).tolist():
                    state.find(int(index), other, self.site)
            yield mbarrier, mask


@instruction("mbarrier.init")
def init(op: Operation) -> Run:
    """`mbarrier.init [a], count`."""
    form, count = _Form(op, 0), op.read(1, _U32)

    def run(lanes: Lanes) -> None:
        state = lanes.wave.state(Mbarriers)
        counts, indices = lanes.spread(count(lanes)), form.indices(lanes)
        lanes.wave.memory.shared.mark(indices // SIZE, SIZE, 1)
        for index, number, thread in zip(indices, counts, lanes.threads, strict=True):
            state.init(int(index), int(number), int(thread), form.site)

    return run


@instruction("mbarrier.inval")
def invalidate(op: Operation) -> Run:
    """`mbarrier.inval [a]`."""
    form = _Form(op, 0)

    def run(lanes: Lanes) -> None:
        state = lanes.wave.state(Mbarriers)
        for index, thread in zip(form.indices(lanes), lanes.threads, strict=True):
            state.invalidate(int(index), int(thread), form.site)

    return run


class _Arrival:
    """A decoded `mbarrier.arrive` or `mbarrier.arrive_drop`."""

    def __init__(self, op: Operation) -> None:
        self.expects = op.flag("expect_tx")
        self.keeps_phase = op.flag("noComplete")
        self.drops = op.name == "mbarrier.arrive_drop"
        self.form = _Form(op, 1)
        self.write: Write = op.write(0, _B64)
        self.amount = op.read(2, _U32) if op.operand_count > 2 else _one

    def run(self, lanes: Lanes) -> None:
        amounts, threads = lanes.spread(self.amount(lanes)).tolist(), lanes.threads.tolist()
        tokens = np.zeros(lanes.count, np.uint64)
        for mbarrier, mask in self.form.objects(lanes):
            self._release(lanes, mbarrier, lanes.threads[mask])
            for lane in np.flatnonzero(mask).tolist():
                tokens[lane] = mbarrier.token
                self._arrive(lanes, mbarrier, amounts[lane], threads[lane])
        self.write(lanes, tokens)
        lanes.wave.state(AsyncEngine).advance()

    def _release(self, lanes: Lanes, mbarrier: Mbarrier, threads: Array) -> None:
        checker = lanes.wave.checker
        if checker is not None and not self.form.relaxed:
            lanes.wave.state(Mbarriers).release(mbarrier, checker.snapshot(threads))

    def _arrive(self, lanes: Lanes, mbarrier: Mbarrier, amount: int, thread: int) -> None:
        state, site = lanes.wave.state(Mbarriers), self.form.site
        count = 1 if self.expects else amount
        if self.expects:
            state.expect(mbarrier, amount, thread, site)
        if self.keeps_phase and count >= mbarrier.pending:
            text = "this arrival completes the phase, which .noComplete excludes"
            lanes.wave.violation(text, site, thread, state.describe(mbarrier))
        if self.drops:
            state.drop(mbarrier, count)
        state.arrive(mbarrier, count, thread, site)


def _one(lanes: Lanes) -> Array:
    return np.ones(1, np.uint32)


@instruction("mbarrier.arrive", "mbarrier.arrive_drop")
def arrive(op: Operation) -> Run:
    """`mbarrier.arrive state, [a], count`, and with `.expect_tx` the number of expected bytes."""
    return _Arrival(op).run


@instruction("mbarrier.expect_tx", "mbarrier.complete_tx")
def change_transaction_count(op: Operation) -> Run:
    """`mbarrier.expect_tx [a], size`, and `mbarrier.complete_tx`, which subtracts bytes."""
    completes = op.name == "mbarrier.complete_tx"
    form, size = _Form(op, 0), op.read(1, _U32)

    def run(lanes: Lanes) -> None:
        state = lanes.wave.state(Mbarriers)
        sizes = lanes.spread(size(lanes))
        for mbarrier, mask in form.objects(lanes):
            thread = int(lanes.threads[np.argmax(mask)])
            byte_count = int(sizes[mask].sum(dtype=np.int64))
            (state.complete_tx if completes else state.expect)(
                mbarrier, byte_count, thread, form.site
            )

    return run


class Waits:
    """Threads whose `try_wait` timed out; a wait may end without success."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.timed_out: Array = np.zeros(wave.thread_count, np.bool_)
        # Waits time out only after all pending copies have been executed.
        wave.state(AsyncEngine)
        wave.on_stall.append(self.stall)
        wave.control_state.append(lambda: self.timed_out)

    def stall(self) -> bool:
        """Time out the waits for mbarriers when every thread is blocked."""
        parked = self.wave.scheduler.parked
        keys = [key for key in self.wave.state(Mbarriers).keys() if key in parked]
        for key in keys:
            for each in parked[key]:
                self.timed_out[each.group.lanes.threads] = True
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
            # The suspend-time hint.
            op.ignore_operands()

    def run(self, lanes: Lanes) -> None:
        wave = lanes.wave
        waits = wave.state(Waits)
        wave.state(AsyncEngine).advance()
        phases = lanes.spread(self.phase(lanes)).astype(np.int64)
        done = np.zeros(lanes.count, np.bool_)
        timed_out = waits.timed_out[lanes.select] | self._times_out(lanes)
        for mbarrier, mask in self.form.objects(lanes):
            done[mask] = self._done(mbarrier, phases[mask])
            if done[mask].any():
                self._acquire(lanes, mbarrier, lanes.threads[mask & done])
            late = mask & ~done & ~timed_out
            if late.any():
                self._park(lanes, mbarrier, late)
        waits.timed_out[lanes.threads[done | timed_out]] = False
        continues = done | timed_out
        self.write(lanes.take(continues), done[continues])
        wave.polled |= bool(timed_out.any())

    def _times_out(self, lanes: Lanes) -> bool:
        # With a seed some waits time out at once, which PTX allows.
        random = lanes.wave.scheduler.random
        return random is not None and random.random() < 0.125

    def _done(self, mbarrier: Mbarrier, phases: Array) -> Array:
        if self.parity:
            return phases & 1 != mbarrier.phase & 1
        return (phases >> 32) < mbarrier.phase

    def _acquire(self, lanes: Lanes, mbarrier: Mbarrier, threads: Array) -> None:
        checker = lanes.wave.checker
        if checker is not None and not self.form.relaxed and mbarrier.complete is not None:
            checker.learn(threads, mbarrier.complete)
        if lanes.wave.observer is not None:
            observer = lanes.wave.observer
            observer.synchronise(threads, "mbarrier", mbarrier.index, self.form.site)

    def _park(self, lanes: Lanes, mbarrier: Mbarrier, late: Array) -> None:
        state = lanes.wave.state(Mbarriers)
        lanes.park(late, (Mbarriers, mbarrier.index), lambda: state.describe(mbarrier))


@instruction("mbarrier.test_wait", "mbarrier.try_wait", blocks=True)
def wait(op: Operation) -> Run:
    """`mbarrier.try_wait p, [a], state`, or with `.parity` a phase parity instead."""
    return _Wait(op).run


@instruction("mbarrier.pending_count")
def pending_count(op: Operation) -> Run:
    """`mbarrier.pending_count d, state`: the pending count of a state."""
    op.ignore("b64")
    write, read = op.write(0, _U32), op.read(1, _B64)
    return lambda lanes: write(lanes, read(lanes).astype(np.uint32))
