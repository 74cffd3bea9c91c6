"""How a process of ours ends."""

from __future__ import annotations

import os
import sys
from typing import Final, NoReturn

LOST_OUTPUT: Final = 74


def leave(code: int) -> NoReturn:
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
