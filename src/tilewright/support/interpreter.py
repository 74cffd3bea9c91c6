"""Python child processes that run modules of this package."""

from __future__ import annotations

import os
import sys
from typing import Final

_START: Final = (
    "import sys; sys.path[:] = sys.argv[2:]; from importlib import import_module; "
    "sys.exit(import_module(sys.argv[1]).main())"
)


def command_of(module: str) -> list[str]:
    """Return the command line of a process that calls `main` of a module.

    It inherits `sys.path`. With `-m` the working directory would be searched first, and a
    `types.py` in it would shadow the standard library.
    """
    return [sys.executable, "-P", "-c", _START, module, *sys.path]


def end_with_caller(pipe: int) -> None:
    """Exit the process as soon as the other end of the pipe is closed.

    The parent may be killed, for example on a timeout.
    """
    import select  # noqa: PLC0415
    from threading import Thread  # noqa: PLC0415

    if not hasattr(select, "poll"):
        return
    watched = select.poll()
    # Hang-up is reported for any event mask.
    watched.register(pipe, 0)

    def wait() -> None:
        watched.poll()
        os._exit(0)

    Thread(target=wait, daemon=True).start()
