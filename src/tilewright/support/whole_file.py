"""Atomic file writes."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

DRAFT: Final = "draft-"
"""The prefix of temporary files; a killed process leaves one."""


def put_file(path: str, data: bytes, mode: int | None = None) -> None:
    """Write a temporary file and rename it to `path`, with an optional mode.

    Raises `OSError` on failure and leaves the target unchanged.
    """
    # The target may have the maximum name length, so nothing is appended to it.
    draft = os.path.join(os.path.dirname(path), f"{DRAFT}{os.urandom(8).hex()}")
    try:
        with open(draft, "xb", buffering=0) as file:
            _write(file.fileno(), data)
        if mode is not None:
            os.chmod(draft, mode)
        # Processes may write the same file concurrently: the last rename wins.
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _write(file: int, data: bytes) -> None:
    """Write all data; a nearly full disk causes short writes."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]
