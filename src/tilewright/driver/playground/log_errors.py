"""Errors of other compilers in what a child process prints, with their lines in the program."""

from __future__ import annotations

import re
from typing import Any, Final

_FRAME: Final = re.compile(r'^\s+(?:File )?"([^"]+)", line (\d+)', re.MULTILINE)
"""A frame of a traceback of Python, or the location that cuTile adds to its errors."""
_TRACEBACK: Final = "Traceback (most recent call last):"
_NVCC: Final = re.compile(r"^([^\s(]+)\((\d+)\): (?:catastrophic )?(?:fatal )?error\b[^:]*: (.*)$",
                          re.MULTILINE)  # fmt: skip


def log_errors(log: str, name: str) -> list[dict[str, Any]]:
    """The errors that a traceback or nvcc reports in the file with that name."""
    errors = [
        {"line": int(line), "column": 0, "text": text}
        for file, line, text in _NVCC.findall(log)
        if _is_same(file, name)
    ]
    return errors or _traceback(log, name)


def _traceback(log: str, name: str) -> list[dict[str, Any]]:
    """The exception that ended a program of Python, at its innermost line in the file."""
    start = log.rfind(_TRACEBACK)
    # A syntax error has no traceback, but the same form.
    last = log[start:] if start >= 0 else log
    lines = [int(line) for file, line in _FRAME.findall(last) if _is_same(file, name)]
    if not lines:
        return []
    message = next(
        (line for line in last.splitlines()[1:] if re.match(r"[A-Za-z_][\w.]*(:|$)", line)), ""
    )
    # The module of an exception says nothing to a reader.
    kind, colon, text = message.partition(":")
    shown = f"{kind.rpartition('.')[2]}{colon}{text}" if message else "the program failed"
    return [{"line": lines[-1], "column": 0, "text": shown}]


def _is_same(file: str, name: str) -> bool:
    return file.replace("\\", "/").rsplit("/", 1)[-1] == name
