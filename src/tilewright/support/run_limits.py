"""Limits on runs that may never end: steps and seconds, both chosen by the user."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, Final

from tilewright.support.diagnostics import Diagnostic, Interrupted, fail, note

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilewright.support.location import Location

REFRESH: Final = 256
"""The number of steps between two reports of progress."""

REMEDY: Final = "set another limit with --max-steps or --timeout (max_steps=, timeout=), or none"


class RunLimits:
    """The steps of one run, and its limits; without any, it may run for ever.

    An interpreter adds to `steps` before it executes, and calls `check` if they exceed
    `next_check`.
    """

    __slots__ = ("_clock", "_deadline", "_max_steps", "_timeout", "next_check", "refresh", "steps")

    def __init__(
        self,
        max_steps: int | None = None,
        timeout: float | None = None,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        if max_steps is not None and max_steps < 1:
            fail(f"expected a limit of at least one step, got {max_steps}")
        if timeout is not None and not timeout > 0:
            fail(f"expected a time limit above 0 seconds, got {timeout}")
        self.steps = 0
        self.refresh: Callable[[], object] | None = None
        """Called from time to time, to show progress."""
        self._max_steps = max_steps
        self._timeout = timeout
        self._clock = clock
        self._deadline = None if timeout is None else clock() + timeout
        self.next_check = 0

    def check(self) -> str | None:
        """The limit that is exceeded, as text; None if the run may continue."""
        if self._max_steps is not None and self.steps > self._max_steps:
            return f"{self._max_steps:,} steps"
        if self._deadline is not None and self._clock() >= self._deadline:
            return f"{self._timeout:g} seconds, in step {self.steps:,}"
        if self.refresh is not None:
            self.refresh()
        self.next_check = self._next_check()
        return None

    def _next_check(self) -> int:
        limit = sys.maxsize if self._max_steps is None else self._max_steps
        if self._deadline is not None:
            return min(limit, self.steps)  # one step may take seconds
        return limit if self.refresh is None else min(limit, self.steps + REFRESH)

    def exceeded(self, limit: str, subject: str, location: Location) -> Diagnostic:
        """The error that a limit is exceeded; `subject` is the block that was running."""
        gist = f"stopped at the limit of {limit}, in {subject}"
        return Diagnostic(gist, location, notes=(note(REMEDY),))

    def interrupted(self, subject: str, location: Location) -> Interrupted:
        """The exception for Ctrl-C."""
        return Interrupted(
            Diagnostic(f"interrupted in step {self.steps:,}, in {subject}", location)
        )
