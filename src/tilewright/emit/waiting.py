"""Interruptible waits for the output of a process."""

from __future__ import annotations

import select
from time import monotonic
from typing import IO, Any, Final

_STEP: Final = 50
"""Milliseconds."""


def await_output(pipe: IO[Any], timeout: float | None = None) -> bool:
    """Wait until the pipe is readable or closed; return False after `timeout` seconds.

    An asynchronous exception reaches a thread only between bytecodes, so poll.
    """
    if not hasattr(select, "poll"):
        return True
    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    deadline = None if timeout is None else monotonic() + timeout
    while not waiting.poll(_STEP):
        if deadline is not None and monotonic() >= deadline:
            return False
    return True
