"""Write each stage of a compilation to a folder: `TILEWRIGHT_DUMP`."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from tilewright import __version__
from tilewright.driver.files import FileError
from tilewright.driver.pipelines import STAGES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tilewright.driver.settings import Settings

VARIABLE: Final = "TILEWRIGHT_DUMP"

SUFFIXES: Final = {"llvm": "ll", "ptx": "ptx", "cubin": "cubin"}
"""The suffixes of stages that are no MLIR text."""

_LONGEST_NAME: Final = 100
_UNSAFE: Final = re.compile(r"[^\w.-]", re.ASCII)


def dump_folder() -> str:
    """The folder that the environment names, or an empty text."""
    return os.environ.get(VARIABLE, "")


class StageDump:
    """One folder of one compilation, named after its first kernel."""

    __slots__ = ("folder",)

    def __init__(self, parent: str, kernels: Iterable[str], settings: Settings) -> None:
        names = list(kernels)
        title = _UNSAFE.sub("_", names[0] if names else "module")[:_LONGEST_NAME].lstrip(".")
        self.folder = _new_folder(parent, title or "module")
        options = zip(settings._fields, [settings.arch.name, *settings[1:]], strict=True)
        lines = [f"version: {__version__}", f"kernels: {', '.join(names)}"]
        lines += [f"{option}: {value}" for option, value in options]
        self._put("options.txt", "\n".join(lines) + "\n")

    def write_input(self, stage: str, text: str) -> None:
        """Write the program as it was before the first pass; it is at a stage."""
        self._put(f"0-input.{SUFFIXES.get(stage, 'mlir')}", text)

    def write(self, stage: str, contents: str | bytes) -> None:
        """Write the file of a stage: `1-cuda_tile.mlir` and so on."""
        number = STAGES.index(stage) + 1
        self._put(f"{number}-{stage}.{SUFFIXES.get(stage, 'mlir')}", contents)

    def write_error(self, error: BaseException) -> None:
        """Write why the compilation ended."""
        self._put("error.txt", f"{type(error).__name__}: {error}\n")

    def _put(self, name: str, contents: str | bytes) -> None:
        if isinstance(contents, str):
            contents = contents.encode("utf-8", "surrogateescape")
        path = os.path.join(self.folder, name)
        try:
            with open(path, "wb") as file:
                file.write(contents)
        except OSError as error:
            raise FileError(f"{VARIABLE}: cannot write '{path}': {error.strerror}") from error


def _new_folder(parent: str, title: str) -> str:
    """Make a folder that no other compilation has, in this process or in others."""
    number = 0
    try:
        os.makedirs(parent, exist_ok=True)
        while True:
            path = os.path.join(parent, f"{title}.{number}")
            try:
                os.mkdir(path)
            except FileExistsError:
                number += 1
            else:
                return path
    except OSError as error:
        reason = f"cannot make a folder in '{parent}': {error.strerror}"
        raise FileError(f"{VARIABLE}: {reason}") from error
