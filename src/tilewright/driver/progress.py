"""Bars on the terminal while something takes its time."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

WIDTH: Final = 30

T = TypeVar("T")


def progress(results: Iterable[T], total: int) -> Iterator[T]:
    """Pass results on; on a terminal, show how many there were and how long the rest will take."""
    if not sys.stderr.isatty():
        yield from results
        return
    started = time.monotonic()
    _show(0, total)
    try:
        for done, result in enumerate(results, 1):
            left = (time.monotonic() - started) / done * (total - done)
            _show(done, total, f"{left:4.0f} s left")
            yield result
    finally:
        print(file=sys.stderr)


class Bar:
    """A bar for what says itself how far it is, once it takes longer than a moment."""

    PATIENCE: Final = 0.5

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.next = time.monotonic() + self.PATIENCE
        self.shown = False

    def __call__(self, done: int, total: int) -> None:
        """Show how much is done."""
        now = time.monotonic()
        if now >= self.next:
            self.next = now + 0.1
            self.shown = True
            _show(done, total, self.unit)

    def end(self) -> None:
        """Leave the line to whoever is next."""
        if self.shown:
            print(file=sys.stderr)


def _show(done: int, total: int, *words: str) -> None:
    bar = ("#" * (WIDTH * done // total)).ljust(WIDTH, ".")
    print(f"\r[{bar}] {done}/{total}", *words, end="", file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Print to standard error, in the place of the bar, which comes back below."""
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{start}{text}", file=sys.stderr)
