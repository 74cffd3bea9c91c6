"""Kernels of a cuTile Python program as Tile IR bytecode."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any, Final, NamedTuple

from tilewright.driver.files import read_input
from tilewright.support.diagnostics import fail
from tilewright.support.temporary import temporary_folder

EXPORTER: Final = "tilewright.cutile.exporting"
"""Run as a program, in a process of its own: the driver does not depend on cuTile."""
WITH_ARGUMENTS: Final = "--arguments"
"""Its option to record the arguments of launches."""


BYTECODE: Final = ".tileirbc"
ARGUMENTS: Final = ".json"
"""The suffix of files with the grid, the names and the values of the arguments of a launch."""


class Launch(NamedTuple):
    """A kernel that a program launches, with the arguments of its first launch if they are known.

    An argument is a number, the path of a file with an array, or None for what neither can hold.
    """

    data: bytes
    grid: list[int]
    names: list[str]
    arguments: list[Any]


def export_kernels(path: str) -> dict[str, bytes]:
    """Run a program without its kernels; return the bytecode of those that it launches, by name.

    Kernels that are launched with several signatures have a number after the second.
    """
    with temporary_folder("kernels of cuTile") as folder:
        return {name: launch.data for name, launch in export_launches(path, folder).items()}


def export_launches(path: str, folder: str, *, with_arguments: bool = False) -> dict[str, Launch]:
    """Run a program without its kernels; return its launches by the names of kernels.

    Arrays among the arguments are written to files in the folder.
    """
    read_input(path)  # a file that cannot be read is reported as any other
    # Standard output may be that of a report.
    command = [sys.executable, "-m", EXPORTER, folder, path]
    if with_arguments:
        command.insert(-2, WITH_ARGUMENTS)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    if done.returncode:
        fail(f"'{path}' ended with exit code {done.returncode} before it could be explained")
    launches: dict[str, Launch] = {}
    for file in sorted(os.listdir(folder)):
        stem, suffix = os.path.splitext(file)
        if suffix != BYTECODE:
            continue
        name = stem.partition("-")[2]
        count = sum(other.partition("#")[0] == name for other in launches)
        launches[f"{name}#{count + 1}" if count else name] = _read_launch(folder, stem)
    if not launches:
        fail(f"expected a program that launches kernels by `ct.launch`, found none in '{path}'")
    return launches


def _read_launch(folder: str, stem: str) -> Launch:
    with open(os.path.join(folder, stem + BYTECODE), "rb") as stream:
        data = stream.read()
    recorded = os.path.join(folder, stem + ARGUMENTS)
    if not os.path.exists(recorded):
        return Launch(data, [], [], [])
    # Loaded only for what records arguments.
    import json  # noqa: PLC0415

    with open(recorded, encoding="utf-8") as stream:
        values = json.load(stream)
    return Launch(data, values["grid"], values["names"], values["arguments"])
