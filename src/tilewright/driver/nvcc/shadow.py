"""A toolkit folder of symbolic links, whose `tileiras` is ours.

nvcc starts the tools beside it, whatever is on the path.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tilewright.driver.files import FileError
from tilewright.driver.nvcc.toolkit import PROFILE

if TYPE_CHECKING:
    from collections.abc import Collection, Generator

    from tilewright.driver.nvcc.toolkit import Nvcc

TILEIRAS: Final = "tileiras"
PREFIX: Final = "tilewright-nvcc-"
_TOP: Final = "$(_HERE_)/.."
"""How a profile names the toolkit."""


@contextmanager
def shadow_toolkit(nvcc: Nvcc) -> Generator[str]:
    """Make a temporary toolkit and yield its nvcc, which is removed afterwards."""
    try:
        folder = tempfile.mkdtemp(prefix=PREFIX)
    except OSError as error:
        raise FileError(f"cannot make a temporary folder: {error.strerror}") from error
    try:
        yield _build(nvcc, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _build(nvcc: Nvcc, folder: str) -> str:
    tools = os.path.join(folder, "bin")
    root = os.path.dirname(nvcc.folder)
    try:
        os.mkdir(tools)
        _link(root, folder, {os.path.basename(nvcc.folder), "bin"})
        _link(nvcc.folder, tools, {TILEIRAS, PROFILE})
        _write_profile(os.path.join(nvcc.folder, PROFILE), os.path.join(tools, PROFILE), root)
        _write_compiler(os.path.join(tools, TILEIRAS))
    except OSError as error:
        # The disk may be full, or the toolkit not readable.
        raise FileError(f"cannot make a toolkit in '{folder}': {error.strerror}") from error
    return os.path.join(tools, "nvcc")


def _link(source: str, target: str, left_out: Collection[str]) -> None:
    for name in os.listdir(source):
        if name not in left_out:
            os.symlink(os.path.join(source, name), os.path.join(target, name))


def _write_profile(source: str, target: str, root: str) -> None:
    """Copy the profile, with headers and libraries of the toolkit itself.

    Dependency files and debug information name headers, and outlive the links.
    """
    with open(source, "rb") as file:
        text = file.read()
    with open(target, "wb") as file:
        file.write(text.replace(_TOP.encode(), os.fsencode(root)))


def _write_compiler(path: str) -> None:
    """Write a script that runs our `tileiras` with this interpreter and its `sys.path`."""
    folders = list(map(str, sys.path))
    code = (
        f"import sys; sys.path[:] = {folders!a}; "
        "from tilewright.tileiras.__main__ import script; script()"
    )
    # -P: modules in the working directory do not shadow the standard library.
    command = shlex.join([sys.executable, "-P", "-c", code])
    with open(path, "wb") as file:
        file.write(os.fsencode(f'#!/bin/sh\nexec {command} "$@"\n'))
    os.chmod(path, 0o700)
