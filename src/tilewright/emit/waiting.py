"""Interruptible waits for the output of a process."""

from __future__ import annotations

import select
from typing import IO, Any, Final

_STEP: Final = 50
"""Milliseconds."""


def await_output(pipe: IO[Any]) -> None:
    """Wait until the pipe is readable or closed.

    An asynchronous exception reaches a thread only between bytecodes, so poll.
    """
    if not hasattr(select, "poll"):
        return
    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    while not waiting.poll(_STEP):
        pass
