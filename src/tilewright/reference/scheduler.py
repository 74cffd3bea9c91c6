"""Scheduling of blocks: one interpretation alone, or many interleaved."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Final, NoReturn

from tilewright.reference.errors import ExecutionError, Fault
from tilewright.reference.machine import Machine, Progress, Waiting
from tilewright.support.diagnostics import note

if TYPE_CHECKING:
    from tilewright.reference.walk import Walk

BLOCKS_AT_ONCE: Final = 4096
"""The number of blocks that run together, in lockstep or interleaved."""


def run_alone(walk: Walk) -> None:
    """Run to the end; report a deadlock if it waits."""
    for waiting in walk:
        if waiting is not None:
            _deadlock([waiting])


def interleave(
    machine: Machine,
    walks: Iterable[Walk],
    block_count: int,
    progress: Progress,
) -> None:
    """Run all blocks: round-robin, or in a random order with a checker.

    Blocks start as others end; more of them while all that have started wait.
    """
    checker = machine.checker
    machine.space.compares = True
    unstarted = iter(walks)
    live = list(islice(unstarted, BLOCKS_AT_ONCE))
    waiting: dict[Walk, Waiting] = {}
    position, done = 0, 0
    machine.limits.refresh = lambda: progress(done, block_count)
    while live:
        position = position % len(live) if checker is None else checker.choose(len(live))
        walk = live[position]
        try:
            signal = next(walk)
        except StopIteration:
            del live[position]
            live += islice(unstarted, 1)
            waiting.pop(walk, None)
            done += 1
            progress(done, block_count)
            continue
        if signal is None:
            continue
        waiting[walk] = signal
        position += 1
        if all(_is_blocked(waiting.get(other), machine) for other in live):
            if checker is not None and checker.settle():
                continue
            more = list(islice(unstarted, BLOCKS_AT_ONCE))
            if not more:
                _deadlock([waiting[other] for other in live])
            live += more
    if checker is not None:
        checker.settle()


def _is_blocked(waiting: Waiting | None, machine: Machine) -> bool:
    return waiting is not None and waiting.version == machine.space.version


def _deadlock(blocked: list[Waiting]) -> NoReturn:
    first = blocked[0]
    coordinates = ", ".join(str(axis) for axis in first.batch.blocks[0][:3])
    gist = f"never ends: block ({coordinates}) waits for memory that no block is left to change"
    others = {other.op: other for other in blocked[1:]}
    notes = [note("another block waits here", op.location) for op in others if op is not first.op]
    raise ExecutionError(Fault.DEADLOCK, [first.op.error(gist, *notes)])
