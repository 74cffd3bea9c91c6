"""Files in and out: what cannot be read says why, what fails leaves nothing behind."""

from __future__ import annotations

import os
import sys

from tilewright.bytecode.opcodes import MAGIC
from tilewright.support.diagnostics import Diagnostic, Error


class FileError(Error):
    """A file cannot be read or written; nothing is wrong with any program."""

    def __init__(self, message: str) -> None:
        super().__init__([Diagnostic(message)])


def is_bytecode(data: bytes) -> bool:
    """Whether the data claims to be Tile IR bytecode."""
    return data.startswith(MAGIC)


def read_input(path: str) -> tuple[bytes, str]:
    """The contents of a file, or of standard input for `-`, and the name to report it by."""
    if path == "-":
        return sys.stdin.buffer.read(), "<stdin>"
    try:
        with open(path, "rb") as file:
            return file.read(), path
    except OSError as error:
        raise FileError(f"cannot read '{path}': {error.strerror}") from error


def write_output(path: str, data: bytes) -> None:
    """Write a file, or standard output for `-`.

    The data goes to a new file beside the target, which then takes its place: a reader sees the
    old contents or the new, never a part. What is not a plain file is written directly, and so is
    a file in a folder where no other can be made.
    """
    try:
        if path == "-":
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            _replace_file(path, data)
    except BrokenPipeError:
        raise  # whoever read our output has seen enough
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
    # Most that read files write none.
    from tilewright.support.whole_file import put_file  # noqa: PLC0415

    put_file(target, data, os.stat(target).st_mode & 0o7777 if os.path.exists(target) else None)


def _replaceable(path: str) -> bool:
    """Whether another file may take the place of this one, which must not be locked itself."""
    return (
        os.path.isfile(path)
        and os.access(path, os.W_OK)
        and os.access(os.path.dirname(path), os.W_OK)
    )
