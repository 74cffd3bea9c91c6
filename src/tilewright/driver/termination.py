"""SIGTERM as an exception, so that temporary files are removed and child processes end."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def unwinding_on_termination() -> Generator[None]:
    """Have SIGTERM unwind the stack; afterwards restore the caller's handler.

    A signal that the parent process ignores stays ignored, as Python keeps SIGINT ignored.
    """
    if signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:
        yield
        return
    try:
        before = signal.signal(signal.SIGTERM, _terminated)
    except ValueError:  # only the main thread sets handlers
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminated(number: int, frame: object) -> NoReturn:
    """Exit through the stack, as on SIGINT."""
    raise SystemExit(128 + number)
