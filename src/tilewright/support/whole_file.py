"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

DRAFT: Final = "draft-"
"""How the names of files begin that are being written; whoever is killed leaves one behind."""


def put_file(path: str, data: bytes, mode: int | None = None) -> None:
    """Write a file beside its place, and put it there at once, with a mode if it must have one.

    Raises `OSError` where that cannot be, and leaves everything as it was.
    """
    # The longest name that a folder takes has no room for an ending.
    draft = os.path.join(os.path.dirname(path), f"{DRAFT}{os.urandom(8).hex()}")
    try:
        with open(draft, "xb", buffering=0) as file:
            _write(file.fileno(), data)
        if mode is not None:
            os.chmod(draft, mode)
        # Others may be writing the same place: whoever is last replaces what is whole.
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _write(file: int, data: bytes) -> None:
    """Write all of it: a disk that is nearly full takes a part without complaint."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]
