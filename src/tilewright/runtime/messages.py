"""Output of kernels, which the driver prints to the outputs of the process when it waits."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from threading import Lock
from typing import Final, NamedTuple

from tilewright.support.location import FileLoc
from tilewright.support.temporary import temporary_file

_ASSERTION: Final = re.compile(
    r"^(?P<file>.*):(?P<line>\d+): (?P<function>.*): block: \[(?P<block>[\d,]+)\], "
    r"thread: \[[\d,]+\] Assertion `(?P<text>(?:.|\n)*?)` failed\.$",
    re.MULTILINE,
)
_LOCATED: Final = re.compile(r"(?P<file>.*):(?P<line>\d+):(?P<column>\d+): error: (?P<text>.*)")
"""A message with its own location, as those of the memory checker."""
_outputs: Final = Lock()
_WHAT: Final = "the output of kernels"


class Said(NamedTuple):
    """Captured standard output and standard error."""

    out: str
    err: str


class Assertion(NamedTuple):
    """A failed assertion: its text, its location, and the first failing block."""

    text: str
    location: FileLoc
    block: str


def captured(action: Callable[[], None]) -> Said:
    """Capture the output of the process, including the driver's, during an action.

    The outputs are those of the whole process, including those of other threads.
    """
    with _outputs, temporary_file(_WHAT) as out, temporary_file(_WHAT) as err:
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
    """Parse the first failed assertion that the driver reports."""
    assertion = _ASSERTION.search(text)
    if assertion is None:
        return None
    located = _LOCATED.fullmatch(assertion["text"])
    if located is not None:
        location = FileLoc.at_shown_column(
            located["file"], int(located["line"]), int(located["column"])
        )
        return Assertion(located["text"], location, assertion["block"])
    location = FileLoc.at_shown_column(assertion["file"], int(assertion["line"]), 1)
    return Assertion(assertion["text"], location, assertion["block"])


def without_assertions(text: str) -> str:
    """The output without assertion messages."""
    return _ASSERTION.sub("", text).lstrip("\n")
