"""Bisection of a pipeline: run only its first passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tilewright.ir.passes import Instrument

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.passes import Pass


class BisectLimit(Instrument):
    """Skips passes after the first `limit` runs of them; a negative limit skips none.

    Passes that programs do not compile without are neither skipped nor counted. Each of the others
    is reported with its number, in the form of LLVM's `-opt-bisect-limit`.
    """

    __slots__ = ("_count", "_limit", "_write")

    def __init__(self, limit: int, write: Callable[[str], object]) -> None:
        self._limit = limit
        self._write = write
        self._count = 0

    def skips(self, step: Pass, op: Operation) -> bool:
        if step.is_required:
            return False
        self._count += 1
        is_skipped = 0 <= self._limit < self._count
        verb = "NOT running" if is_skipped else "running"
        self._write(f"BISECT: {verb} pass ({self._count}) {step} on '{op.name}'\n")
        return is_skipped
