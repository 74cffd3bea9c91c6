"""What kernels say: the driver prints it for them, to the outputs of the process, when it waits."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable
from threading import Lock
from typing import Final, NamedTuple

from tilewright.support.location import FileLoc

_ASSERTION: Final = re.compile(
    r"^(?P<file>.*):(?P<line>\d+): (?P<function>.*): block: \[(?P<block>[\d,]+)\], "
    r"thread: \[[\d,]+\] Assertion `(?P<text>(?:.|\n)*?)` failed\.$",
    re.MULTILINE,
)
_PLACED: Final = re.compile(r"(?P<file>.*):(?P<line>\d+):(?P<column>\d+): error: (?P<text>.*)")
"""A text that says itself where it stands, as those of the memory checker do."""
_outputs: Final = Lock()


class Said(NamedTuple):
    """What was printed to standard output, and to standard error."""

    out: str
    err: str


class Assertion(NamedTuple):
    """An assertion that failed: what it says, where it stands, and who noticed first."""

    text: str
    place: FileLoc
    block: str


def captured(action: Callable[[], None]) -> Said:
    """What the process prints, the driver included, while something is done.

    The outputs are those of the whole process: what other threads print meanwhile is in it too.
    """
    with _outputs, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        sys.stderr.flush()
        files = {1: out, 2: err}
        saved = {number: os.dup(number) for number in files}
        try:
            for number, file in files.items():
                os.dup2(file.fileno(), number)
            action()
        finally:
            for number, old in saved.items():
                os.dup2(old, number)
                os.close(old)
        for file in files.values():
            file.seek(0)
        return Said(*(file.read().decode(errors="replace") for file in (out, err)))


def first_assertion(text: str) -> Assertion | None:
    """The first assertion that the driver says has failed."""
    found = _ASSERTION.search(text)
    if found is None:
        return None
    placed = _PLACED.fullmatch(found["text"])
    if placed is not None:
        place = FileLoc(placed["file"], int(placed["line"]), int(placed["column"]))
        return Assertion(placed["text"], place, found["block"])
    return Assertion(found["text"], FileLoc(found["file"], int(found["line"]), 1), found["block"])


def without_assertions(text: str) -> str:
    """What else was printed."""
    return _ASSERTION.sub("", text).lstrip("\n")
