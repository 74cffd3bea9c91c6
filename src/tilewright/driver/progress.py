"""Progress bars on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

WIDTH: Final = 30

T = TypeVar("T")


def progress(results: Iterable[T], count: int) -> Iterator[T]:
    """Yield results; on a terminal, show the count and the estimated time left."""
    if not sys.stderr.isatty():
        yield from results
        return
    started = time.monotonic()
    _show(0, count)
    try:
        for done, result in enumerate(results, 1):
            left = (time.monotonic() - started) / done * (count - done)
            _show(done, count, f"{left:4.0f} s left")
            yield result
    finally:
        print(file=sys.stderr)


class Bar:
    """A progress bar driven by callbacks, shown after a short delay."""

    DELAY: Final = 0.5

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.started = time.monotonic()
        self.next = self.started + self.DELAY
        self.shown = False

    def __call__(self, done: int, count: int) -> None:
        """Update the bar."""
        now = time.monotonic()
        if now >= self.next:
            self.next = now + 0.1
            self.shown = True
            _show(done, count, f"{self.unit}, {self._times(done, count, now - self.started)}")

    def _times(self, done: int, count: int, elapsed: float) -> str:
        """The time that has passed, and an estimate of what is left."""
        if not 0 < done < count:
            return f"{elapsed:.0f} s"
        return f"{elapsed:.0f} s, {elapsed / done * (count - done):.0f} s left"

    def end(self) -> None:
        """End the line of the bar."""
        if self.shown:
            print(file=sys.stderr)


def _show(done: int, count: int, *words: str) -> None:
    bar = ("#" * (WIDTH * done // count)).ljust(WIDTH, ".")
    print(f"\r[{bar}] {done}/{count}", *words, end="\x1b[K", file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Print a line to standard error, overwriting the bar, which is redrawn below."""
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{start}{text}", file=sys.stderr)
