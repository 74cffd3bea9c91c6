"""Kernels of a cuTile Python program as Tile IR bytecode."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

from tilewright.driver.files import read_input
from tilewright.support.diagnostics import fail
from tilewright.support.temporary import temporary_folder

PYTHON: Final = ".py"
"""The suffix of cuTile Python programs."""
EXPORTER: Final = "tilewright.cutile.exporting"
"""Run as a program, in a process of its own: the driver does not depend on cuTile."""


def export_kernels(path: str) -> dict[str, bytes]:
    """Run a program without its kernels; return the bytecode of those that it launches, by name.

    Kernels that are launched with several signatures have a number after the second.
    """
    read_input(path)  # a file that cannot be read is reported as any other
    with temporary_folder("kernels of cuTile") as folder:
        # Standard output may be that of a report.
        command = [sys.executable, "-m", EXPORTER, folder, path]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
        if done.returncode:
            fail(f"'{path}' ended with exit code {done.returncode} before it could be explained")
        kernels: dict[str, bytes] = {}
        for file in sorted(os.listdir(folder)):
            name = file.partition("-")[2].rpartition(".")[0]
            count = sum(other.partition("#")[0] == name for other in kernels)
            with open(os.path.join(folder, file), "rb") as stream:
                kernels[f"{name}#{count + 1}" if count else name] = stream.read()
    if not kernels:
        fail(f"expected a program that launches kernels by `ct.launch`, found none in '{path}'")
    return kernels
