"""Files and folders that only this user can have written, for caches.

A cache has code that is run later, so entries that other users can have written are not read. Root
is trusted, as it could change the compiler itself. Where files have no owners, all are trusted.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import Final

ROOT: Final = 0
_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
PRIVATE_FOLDER: Final = 0o700
PRIVATE_FILE: Final = 0o600


def distrust_folder(folder: str) -> str | None:
    """Why the contents of a folder cannot be trusted; None if they can, or if there is none."""
    try:
        return _distrust(os.stat(folder))
    except OSError:
        return None  # using it reports the error


def _distrust(status: os.stat_result) -> str | None:
    if not hasattr(os, "geteuid"):
        return None
    own = os.geteuid()
    if status.st_uid not in (own, ROOT):
        return f"it belongs to user {status.st_uid}, and this process runs as user {own}"
    if status.st_mode & _WRITABLE_BY_OTHERS:
        return f"other users may write to it (mode {stat.S_IMODE(status.st_mode):o})"
    return None


def read_trusted(path: str, limit: int) -> bytes | None:
    """Read a file of at most `limit` bytes that only this user can have written; None otherwise.

    Raises `OSError` if it cannot be opened or read.
    """
    # A pipe in place of the file would block.
    file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(file)
        is_fit = stat.S_ISREG(status.st_mode) and status.st_size <= limit
        if not is_fit or _distrust(status) is not None:
            return None
        parts: list[bytes] = []
        while part := os.read(file, max(1, status.st_size)):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(file)


def make_private_folder(folder: str) -> None:
    """Create a folder, and those above it that are missing, for this user alone."""
    try:
        os.mkdir(folder, PRIVATE_FOLDER)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from None
    except FileNotFoundError:
        parent = os.path.dirname(folder)
        if parent in ("", folder):
            raise
        make_private_folder(parent)
        with suppress(FileExistsError):  # another process has made it
            os.mkdir(folder, PRIVATE_FOLDER)
