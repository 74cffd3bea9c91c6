"""A bar on the terminal while something works through a list."""

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
    _show(0, total, "")
    try:
        for done, result in enumerate(results, 1):
            left = (time.monotonic() - started) / done * (total - done)
            _show(done, total, f"{left:5.0f} s left")
            yield result
    finally:
        print(file=sys.stderr)


def _show(done: int, total: int, left: str) -> None:
    bar = ("#" * (WIDTH * done // total)).ljust(WIDTH, ".")
    print(f"\r[{bar}] {done}/{total}{left}", end="", file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Print to standard error, in the place of the bar, which comes back below."""
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{start}{text}", file=sys.stderr)
