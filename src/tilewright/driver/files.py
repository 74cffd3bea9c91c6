"""Read input files and write output files atomically."""

from __future__ import annotations

import os
import sys
from typing import Final, NoReturn

from tilewright.bytecode.opcodes import MAGIC
from tilewright.support.diagnostics import Diagnostic, Error, fail, note
from tilewright.support.location import UNKNOWN

CUDA: Final = ".cu"
"""The suffix of CUDA C++ files, which nvcc compiles."""
PYTHON: Final = ".py"
"""The suffix of cuTile Python programs."""
DEFAULT_ARCH: Final = "sm_90"


class FileError(Error):
    """A file cannot be read or written."""

    def __init__(self, message: str) -> None:
        super().__init__([Diagnostic(message)])


def is_bytecode(data: bytes) -> bool:
    """Whether the data starts with the magic number of Tile IR bytecode."""
    return data.startswith(MAGIC)


def read_input(path: str) -> tuple[bytes, str]:
    """Read a file, or standard input for `-`; return the data and its name for diagnostics."""
    if path == "-":
        return sys.stdin.buffer.read(), "<stdin>"
    try:
        with open(path, "rb") as file:
            return file.read(), path
    except OSError as error:
        raise FileError(f"cannot read '{path}': {error.strerror}") from error


def read_source(
    path: str, arch: str = DEFAULT_ARCH, *, device_debug: bool = False
) -> tuple[bytes, str]:
    """Read a program, or standard input for `-`; return the data and its name for diagnostics.

    CUDA Tile C++ is compiled to bytecode for `arch`, which its preprocessor sees.
    """
    if path.endswith(PYTHON):
        read_input(path)  # a file that cannot be read is reported as any other
        _reject_python(path)
    if not path.endswith(CUDA):
        return read_input(path)
    # Loaded only for CUDA C++.
    from tilewright.driver.nvcc.frontend import compile_cuda  # noqa: PLC0415

    return compile_cuda(path, arch, device_debug=device_debug), path


def _reject_python(path: str) -> NoReturn:
    """Say what to do with a Python program where Tile IR is expected."""
    fail(
        f"expected Tile IR, found the Python program '{path}'",
        UNKNOWN,
        note(f"`tilewright explain {path}` shows the kernels of a cuTile program"),
        note(f"`python -m tilewright.cutile {path}` runs it on a GPU, and with --on cpu or "
             "--on emulator without one"),
        note("TILEWRIGHT_DUMP=folder lets it write every stage: on a GPU up to the cubin, with "
             "--on emulator up to PTX, with --on cpu none"),
    )  # fmt: skip


def write_output(path: str, data: bytes) -> None:
    """Write a file, or standard output for `-`.

    Regular files are replaced atomically: a reader sees the old contents or the new, never a
    part. Other files, and files in read-only folders, are written in place.
    """
    try:
        if path == "-":
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            _replace_file(path, data)
    except BrokenPipeError:
        raise  # the reader of our output has closed the pipe
    except OSError as error:
        name = "standard output" if path == "-" else f"'{path}'"
        raise FileError(f"cannot write {name}: {error.strerror}") from error


def write_line(text: str) -> None:
    """Write text and the end of its line to standard output."""
    write_output("-", f"{text}\n".encode("utf-8", "surrogateescape"))


def _replace_file(path: str, data: bytes) -> None:
    target = os.path.realpath(path)
    if os.path.exists(path) and not _replaceable(target):
        with open(path, "wb") as file:
            file.write(data)
        return
    # Loaded only by commands that write files.
    from tilewright.support.whole_file import put_file  # noqa: PLC0415

    put_file(target, data, os.stat(target).st_mode & 0o7777 if os.path.exists(target) else None)


def _replaceable(path: str) -> bool:
    """Whether a writable regular file can be replaced by a rename."""
    return (
        os.path.isfile(path)
        and os.access(path, os.W_OK)
        and os.access(os.path.dirname(path), os.W_OK)
    )


def make_folder(path: str) -> None:
    """Create a folder and its parents unless it exists; raises `FileError`."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder '{path}': {error.strerror}") from error
