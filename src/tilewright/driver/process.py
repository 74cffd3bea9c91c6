"""How a process of ours starts and ends."""

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
    _leave(code)


def _open_streams() -> None:
    """Stand in for standard streams that the caller has closed.

    Python has none then, and the next file that is opened gets their number. What is said to a
    closed standard output counts as lost, as in other tools; messages just go nowhere.
    """
    for name, flags, mode in (
        ("stdin", os.O_RDONLY, "r"),
        ("stdout", os.O_RDONLY, "w"),
        ("stderr", os.O_WRONLY, "w"),
    ):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode))


def _leave(code: int) -> NoReturn:
    """End the process at once.

    To take the interpreter apart costs 13 ms, as much as reading and printing a kernel, and we
    leave nothing behind that needs it.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass  # whoever read our output has seen enough
    except OSError:
        code = code or LOST_OUTPUT
    os._exit(code)
