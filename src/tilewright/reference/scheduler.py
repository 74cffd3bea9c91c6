"""Scheduling of blocks: one interpretation alone, or many interleaved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

from tilewright.reference.errors import ExecutionError, Fault
from tilewright.reference.machine import Machine, Progress, Waiting
from tilewright.support.diagnostics import note

if TYPE_CHECKING:
    from tilewright.reference.walk import Walk


def run_alone(walk: Walk) -> None:
    """Run to the end; report a deadlock if it waits."""
    for waiting in walk:
        if waiting is not None:
            _deadlock([waiting])


def interleave(
    machine: Machine,
    walks: Iterable[Walk],
    block_count: int,
    progress: Progress | None,
) -> None:
    """Run all blocks: round-robin, or in a random order with a checker."""
    checker = machine.checker
    machine.space.compares = True
    live = list(walks)
    waiting: dict[Walk, Waiting] = {}
    position = 0
    while live:
        position = position % len(live) if checker is None else checker.choose(len(live))
        walk = live[position]
        try:
            signal = next(walk)
        except StopIteration:
            del live[position]
            waiting.pop(walk, None)
            if progress is not None:
                progress(block_count - len(live), block_count)
            continue
        if signal is None:
            continue
        waiting[walk] = signal
        position += 1
        if all(_is_blocked(waiting.get(other), machine) for other in live):
            if checker is None or not checker.settle():
                _deadlock([waiting[other] for other in live])
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
