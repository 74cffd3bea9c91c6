"""Who runs when: one walk alone, or many that take turns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

from tilewright.reference.errors import ExecutionError, Fault
from tilewright.reference.machine import Machine, Progress, Waiting
from tilewright.support.diagnostics import note

if TYPE_CHECKING:
    from tilewright.reference.walk import Walk


def run_alone(walk: Walk) -> None:
    """Run a walk to its end; if it waits, nobody else can help."""
    for waiting in walk:
        if waiting is not None:
            _deadlock([waiting])


def take_turns(
    machine: Machine,
    walks: Iterable[Walk],
    total: int,
    progress: Progress | None,
) -> None:
    """Run walks until all are done: one after the other, or in the order that a checker says."""
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
                progress(total - len(live), total)
            continue
        if signal is None:
            continue
        waiting[walk] = signal
        position += 1
        if all(_is_stuck(waiting.get(other), machine) for other in live):
            if checker is None or not checker.settle():
                _deadlock([waiting[other] for other in live])
    if checker is not None:
        checker.settle()


def _is_stuck(waiting: Waiting | None, machine: Machine) -> bool:
    return waiting is not None and waiting.version == machine.space.version


def _deadlock(stuck: list[Waiting]) -> NoReturn:
    first = stuck[0]
    place = ", ".join(str(coordinate) for coordinate in first.batch.blocks[0])
    gist = f"never ends: block ({place}) waits for memory that no block is left to change"
    others = {other.op: other for other in stuck[1:]}
    notes = [note("another block waits here", op.location) for op in others if op is not first.op]
    raise ExecutionError(Fault.DEADLOCK, [first.op.error(gist, *notes)])
