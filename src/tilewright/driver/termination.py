"""SIGTERM as an exception, so that temporary files are removed and child processes end."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

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


@contextmanager
def signals_held() -> Generator[None]:
    """Deliver SIGINT and SIGTERM after the block.

    A handler that raises inside `subprocess.Popen` would leave the new process running.
    """
    held: list[int] = []
    before: dict[int, Any] = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            # What the parent process ignores stays ignored, in the child process, too.
            if callable(handler := signal.getsignal(number)):
                signal.signal(number, lambda number, frame: held.append(number))
                before[number] = handler
    except ValueError:  # only the main thread has handlers
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for number in held:
        signal.raise_signal(number)


def _terminated(number: int, frame: object) -> NoReturn:
    """Exit through the stack, as on SIGINT."""
    raise SystemExit(128 + number)
