"""Tests of candidates by a shell command."""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING, Final

from tilewright.support.process_groups import kill_group

if TYPE_CHECKING:
    from tilewright.driver.reduction.engine import Candidate

FILE: Final = "{}"
"""What stands for the file in a command; without it, the file is the last argument."""

TOO_LONG: Final = 124
"""The exit code of a command that takes too long, as of `timeout`."""


class CommandTest:
    """Runs a command on each candidate: exit code 0 means that it is interesting."""

    __slots__ = ("_command", "_path", "_timeout", "code")

    def __init__(self, command: str, path: str, timeout: float | None) -> None:
        self._command = command
        self._path = path
        self._timeout = timeout
        self.code = 0
        """The exit code of the last run."""

    def __call__(self, candidate: Candidate) -> bool:
        """Whether the candidate is interesting."""
        with open(self._path, "wb") as file:
            file.write(candidate.data)
        self.code = _exit_code(self._text(), self._timeout)
        return not self.code

    def _text(self) -> str:
        path = shlex.quote(self._path)
        if FILE in self._command:
            return self._command.replace(FILE, path)
        return f"{self._command} {path}"


def _exit_code(command: str, timeout: float | None) -> int:
    """Run a command in a shell; kill it with all that it started if it takes too long."""
    with subprocess.Popen(
        command,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            kill_group(process)
            return TOO_LONG
        except BaseException:
            kill_group(process)
            raise
