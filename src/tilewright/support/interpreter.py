"""Other processes of Python that run modules of ours."""

from __future__ import annotations

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
