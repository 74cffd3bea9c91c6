"""The command line as tests see it."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Result(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


class Run(Protocol):
    """Runs a tool in this process."""

    def __call__(self, *arguments: str, tool: str = "tilewright", stdin: bytes = b"") -> Result: ...
