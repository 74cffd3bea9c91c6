"""Process start-up and exit of the command-line tools."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

LOST_OUTPUT: Final = 74
INTERRUPTED: Final = 130


def run(main: Callable[[], int]) -> NoReturn:
    """Run a command line as a process of its own."""
    _open_streams()
    try:
        code = main()
    except KeyboardInterrupt:
        code = INTERRUPTED
    _exit(code)


def _open_streams() -> None:
    """Open the null device for standard streams that the caller has closed.

    Otherwise the next opened file would get their descriptor. Writing to a closed standard output
    is an error, as in other tools; output to a closed standard error is dropped.
    """
    for name, flags, mode in (
        ("stdin", os.O_RDONLY, "r"),
        ("stdout", os.O_RDONLY, "w"),
        ("stderr", os.O_WRONLY, "w"),
    ):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode))


def _exit(code: int) -> NoReturn:
    """Exit without finalizing the interpreter.

    Finalization costs 13 ms, as much as reading and printing a kernel, and frees nothing that
    outlives the process.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass  # the reader of our output has closed the pipe
    except OSError:
        code = code or LOST_OUTPUT
    os._exit(code)
