"""`bar` and `barrier`: the sixteen named barriers of a CTA."""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
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
        self.everybody: Array = np.zeros(shape, np.bool_)
        self.votes: Array = np.zeros(shape, np.int64)
        self.phase: Array = np.zeros(shape, np.int64)
        self.result: Array = np.zeros((*shape, 2), np.int64)
        self.live: Array = np.bincount(wave.cta_of_thread[wave.live], minlength=wave.cta_count)
        wave.on_exit.append(self.retire)

    def retire(self, threads: Array) -> None:
        """Threads that have exited are not waited for, where all threads were."""
        gone = np.bincount(self.wave.cta_of_thread[threads], minlength=self.wave.cta_count)
        self.live -= gone
        waiting = self.everybody & (self.arrived > 0)
        for cta, barrier in np.argwhere(waiting & (self.arrived >= self.live[:, None])):
            self.complete(int(cta), int(barrier))

    def complete(self, cta: int, barrier: int) -> None:
        """Let those who wait go on, and start again."""
        self.result[cta, barrier] = self.votes[cta, barrier], self.arrived[cta, barrier]
        self.arrived[cta, barrier] = self.votes[cta, barrier] = 0
        self.phase[cta, barrier] += 1
        self.wave.wake((NamedBarriers, cta, barrier))


class _Form:
    """The operands of a barrier instruction."""

    def __init__(self, op: Operation, first: int, last: int) -> None:
        op.ignore("cta", "aligned")
        self.barrier = op.read(first, _U32) if first < last else _zero
        self.count = op.read(first + 1, _U32) if first + 1 < last else None
        self.site = op.site


def _zero(lanes: Lanes) -> Array:
    return np.zeros(1, np.uint32)


def _arrive(lanes: Lanes, form: _Form, votes: Array | None, wait: bool) -> None:
    """Count the lanes in; those whose barrier is not complete wait, if they shall."""
    wave = lanes.wave
    state = wave.state(NamedBarriers)
    barriers = lanes.spread(form.barrier(lanes)).astype(np.int64)
    counts = None if form.count is None else lanes.spread(form.count(lanes))
    if (barriers >= _BARRIERS).any():
        which = int(np.argmax(barriers >= _BARRIERS))
        thread = int(lanes.threads[which])
        wave.violation(f"expected a barrier below 16, got {barriers[which]}", form.site, thread)
    keys = lanes.ctas * _BARRIERS + barriers
    for key in np.unique(keys):
        here = keys == key
        cta, barrier = divmod(int(key), _BARRIERS)
        expected = int(state.live[cta]) if counts is None else int(counts[np.argmax(here)])
        _check_count(lanes, form.site, here, counts, expected, state.arrived[cta, barrier])
        state.everybody[cta, barrier] = counts is None
        state.arrived[cta, barrier] += int(here.sum())
        state.votes[cta, barrier] += 0 if votes is None else int(votes[here].sum())
        if state.arrived[cta, barrier] >= expected:
            state.complete(cta, barrier)
            if wave.observer is not None:
                wave.observer.synchronise(lanes.threads[here], "barrier", (cta, barrier), form.site)
        elif wait:
            what = f"barrier {barrier}, at {state.arrived[cta, barrier]} of {expected} threads"
            lanes.park(here, (NamedBarriers, cta, barrier), what, retry=False)


def _check_count(
    lanes: Lanes,
    site: Instruction,
    here: Array,
    counts: Array | None,
    expected: int,
    arrived: int,
) -> None:
    if counts is None:
        return
    thread = int(lanes.threads[np.argmax(here)])
    if expected % 32 or not expected:
        lanes.wave.violation(f"expected a multiple of 32 threads, got {expected}", site, thread)
    if arrived + int(here.sum()) > expected:
        text = f"{arrived + int(here.sum())} threads arrive at a barrier for {expected}"
        lanes.wave.violation(text, site, thread)


@instruction("bar.sync", "barrier.sync", "bar.cta.sync", "barrier.cta.sync", blocks=True)
def sync(op: Operation) -> Run:
    """Wait until all threads, or as many as said, have arrived."""
    form = _Form(op, 0, op.operand_count)
    return lambda lanes: _arrive(lanes, form, None, wait=True)


@instruction("bar.arrive", "barrier.arrive", "bar.cta.arrive", "barrier.cta.arrive", blocks=True)
def arrive(op: Operation) -> Run:
    """Be counted, and go on."""
    form = _Form(op, 0, op.operand_count)
    return lambda lanes: _arrive(lanes, form, None, wait=False)


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
        barriers = lanes.spread(form.barrier(lanes)).astype(np.int64)
        fresh = lanes.cells[ticket][lanes.select] == 0
        if fresh.any():
            new = lanes.take(fresh)
            new.cells[ticket][new.select] = state.phase[new.ctas, barriers[fresh]] + 1
            _arrive(new, form, new.spread(predicate(new)), wait=False)
        over = state.phase[lanes.ctas, barriers] >= lanes.cells[ticket][lanes.select]
        if over.any():
            done = lanes.take(over)
            votes, arrived = state.result[done.ctas, barriers[over]].T
            done.cells[ticket][done.select] = 0
            write(done, _verdict(operation, votes, arrived).astype(type.dtype))
        for cta, barrier in np.unique(np.stack((lanes.ctas, barriers))[:, ~over], axis=1).T:
            mine = ~over & (lanes.ctas == cta) & (barriers == barrier)
            what = f"barrier {barrier}, at {state.arrived[cta, barrier]} threads"
            lanes.park(mine, (NamedBarriers, int(cta), int(barrier)), what)

    return run


def _verdict(operation: str | None, votes: Array, arrived: Array) -> Array:
    if operation == "popc":
        return votes
    return votes == arrived if operation == "and" else votes > 0
