"""Temporary files and folders; where none can be made, the error says so."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

from tilewright.support.diagnostics import Unsupported


def no_temporary_folder(what: str, error: OSError) -> Unsupported:
    """Build the error for something that needs a temporary folder, and has none."""
    reason = f"{error.strerror} ('{error.filename}')" if error.filename else error.strerror
    return Unsupported(
        f"{what} without a writable folder for temporary files: {reason}; set TMPDIR to one"
    )


@contextmanager
def temporary_folder(what: str) -> Generator[str]:
    """Make a folder for `what`, and remove it at the end."""
    try:
        folder = TemporaryDirectory(prefix="tilewright-")
    except OSError as error:
        raise no_temporary_folder(what, error) from None
    with folder as name:
        yield name


def temporary_file(what: str) -> IO[bytes]:
    """Make a file without a name for `what`."""
    try:
        return TemporaryFile()
    except OSError as error:
        raise no_temporary_folder(what, error) from None
