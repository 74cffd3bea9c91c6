"""Waiting for what another process has to say."""

from __future__ import annotations

import select
from typing import IO, Any, Final

_STEP: Final = 50
"""Milliseconds."""


def await_output(pipe: IO[Any]) -> None:
    """Wait until there is something to read, or nothing more will come.

    A thread can be told to give up, but hears that only between two steps of the interpreter.
    """
    if not hasattr(select, "poll"):
        return
    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    while not waiting.poll(_STEP):
        pass
