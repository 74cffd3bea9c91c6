"""Scheduling of blocks: one interpretation alone, or many interleaved."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from tilewright.reference.errors import ExecutionError, Fault
from tilewright.reference.machine import Machine, Progress, Waiting
from tilewright.support.diagnostics import note

if TYPE_CHECKING:
    from tilewright.reference.walk import Walk

BLOCKS_AT_ONCE: Final = 4096
"""The number of blocks that run together, in lockstep or interleaved."""
CHECKED_AT_ONCE: Final = 64
"""The number of blocks that are interleaved under a checker, in a random order out of more."""


class Started(NamedTuple):
    """The interpretation of some blocks."""

    walk: Walk
    blocks: int


def run_alone(walk: Walk) -> None:
    """Run to the end; report a deadlock if it waits."""
    for waiting in walk:
        if waiting is not None:
            _deadlock([waiting])


def interleave(
    machine: Machine,
    walks: Iterable[Started],
    block_count: int,
    progress: Progress,
    at_once: int,
) -> None:
    """Run all blocks: round-robin, or in a random order with a checker.

    Of the interpretations `at_once` run at first. One starts as another ends; more of them while
    all that have started wait.
    """
    checker, space = machine.checker, machine.space
    space.compares = True
    unstarted = iter(walks)
    ready = list(islice(unstarted, at_once))
    waiting: list[tuple[Started, Waiting]] = []
    done = 0
    machine.limits.refresh = lambda: progress(done, block_count)
    while ready or waiting:
        if waiting and waiting[0][1].version != space.version:
            ready += [started for started, _ in waiting]
            waiting.clear()
        if not ready:
            if checker is not None and checker.settle():
                continue
            ready += islice(unstarted, at_once)
            if not ready:
                _deadlock([signal for _, signal in waiting])
        position = 0 if checker is None else checker.choose(len(ready))
        try:
            signal = next(ready[position].walk)
        except StopIteration:
            done += ready.pop(position).blocks
            ready += islice(unstarted, 1)
            progress(done, block_count)
            continue
        if signal is not None:
            waiting.append((ready.pop(position), signal))
    if checker is not None:
        checker.settle()


def _deadlock(blocked: list[Waiting]) -> NoReturn:
    first = blocked[0]
    coordinates = ", ".join(str(axis) for axis in first.batch.blocks[0][:3])
    gist = f"never ends: block ({coordinates}) waits for memory that no block is left to change"
    others = {other.op: other for other in blocked[1:]}
    notes = [note("another block waits here", op.location) for op in others if op is not first.op]
    raise ExecutionError(Fault.DEADLOCK, [first.op.error(gist, *notes)])
