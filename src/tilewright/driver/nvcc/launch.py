"""Run nvcc with this compiler: `tilewright.nvcc`."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from typing import Final

from tilewright.driver.files import FileError
from tilewright.driver.nvcc.shadow import shadow_toolkit
from tilewright.driver.nvcc.toolkit import find_nvcc
from tilewright.driver.termination import signals_held, unwinding_on_termination

GRACE: Final = 10
"""Seconds for nvcc to remove its temporary files once it is interrupted."""

Word = str | os.PathLike[str]


def nvcc(arguments: Sequence[Word], *, capture: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the installed nvcc with these arguments; Tilewright compiles the CUDA Tile kernels.

    The result has nvcc's exit code, and its output if `capture` is set. Raises
    `tilewright.Unsupported` without an nvcc that compiles CUDA Tile C++.
    """
    installed = find_nvcc()
    with unwinding_on_termination(), shadow_toolkit(installed) as path:
        return run_tool([path, *(os.fspath(word) for word in arguments)], capture=capture)


def run_tool(
    command: list[str], *, capture: bool = False, stdout: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; if we are interrupted, it is, and ends first."""
    pipe = subprocess.PIPE if capture else None
    process: subprocess.Popen[str] | None = None
    try:
        with signals_held():
            process = subprocess.Popen(
                command, stdout=pipe or stdout, stderr=pipe, text=True, errors="surrogateescape"
            )
        out, err = process.communicate()
    except BaseException as error:
        if process is not None:
            _stop(process)
        elif isinstance(error, OSError):
            raise FileError(f"cannot run '{command[0]}': {error.strerror}") from error
        raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _stop(process: subprocess.Popen[str]) -> None:
    # On Ctrl-C the terminal has sent it the signal, too; a second one does no harm.
    process.send_signal(signal.SIGINT)
    try:
        process.wait(GRACE)
    except BaseException:
        process.kill()
        process.wait()
