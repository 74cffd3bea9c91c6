"""Other processes of Python that run modules of ours."""

from __future__ import annotations

import os
import sys
from typing import Final

_START: Final = (
    "import sys; sys.path[:] = sys.argv[2:]; from importlib import import_module; "
    "sys.exit(import_module(sys.argv[1]).main())"
)


def command_of(module: str) -> list[str]:
    """The command of a process that calls `main` of a module.

    It finds modules where this one does. With `-m` the folder that the user works in would come
    first, and a `types.py` that lies there would be taken for Python's own.
    """
    return [sys.executable, "-P", "-c", _START, module, *sys.path]


def end_with_caller(pipe: int) -> None:
    """End when nobody holds the other end of the pipe any more, in the middle of anything.

    Whoever compiles may be killed, for taking too long among other reasons.
    """
    import select  # noqa: PLC0415
    from threading import Thread  # noqa: PLC0415

    if not hasattr(select, "poll"):
        return
    watched = select.poll()
    # For no event at all: that it is closed is always reported.
    watched.register(pipe, 0)

    def wait() -> None:
        watched.poll()
        os._exit(0)

    Thread(target=wait, daemon=True).start()
