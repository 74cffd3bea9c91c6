"""The languages of the playground, its examples, and the programs that it opens."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from typing import Final, NamedTuple

from tilewright.driver.api import read_level
from tilewright.driver.assembly import decode_text
from tilewright.driver.examples import EXAMPLES, read_example
from tilewright.driver.files import CUDA, PYTHON, is_bytecode, read_input
from tilewright.driver.nvcc.toolkit import find_nvcc
from tilewright.support.diagnostics import Unsupported
from tilewright.text.printer import print_op

TEXT: Final = ".mlir"
"""The suffix of Tile IR as text; other files are read as such, too."""
MAX_NAME: Final = 80


class Language(NamedTuple):
    """A language that the playground compiles; `missing` says why it cannot, if it cannot."""

    suffix: str
    title: str
    missing: str = ""


class Program(NamedTuple):
    """A program to edit. Its suffix is that of its language."""

    name: str
    title: str
    source: str


TITLES: Final = {
    "add": "Vector add",
    "gemm": "GEMM",
    "softmax": "Softmax",
    "attention": "Attention",
}
"""The titles of examples, by the stem of their files."""


def languages() -> list[Language]:
    """The languages, and why some cannot be compiled here."""
    return [
        Language(TEXT, "Tile IR"),
        Language(PYTHON, "cuTile Python", _without_cutile()),
        Language(CUDA, "CUDA Tile C++", _without_nvcc()),
    ]


def suffix_of(name: str) -> str:
    """The suffix of the language of a file."""
    return next((suffix for suffix in (PYTHON, CUDA) if name.endswith(suffix)), TEXT)


def examples(known: list[Language]) -> list[Program]:
    """The examples in the languages that can be compiled."""
    titles = {
        f"{stem}{language.suffix}": f"{title} ({language.title})"
        for language in known
        if not language.missing
        for stem, title in TITLES.items()
    }
    return [
        Program(name, title, read_example(name).decode())
        for name, title in titles.items()
        if name in EXAMPLES
    ]


def open_program(path: str) -> Program:
    """Read a file; bytecode becomes text."""
    data, _ = read_input(path)
    title = os.path.basename(path)
    # The name of a file in another folder, and in requests.
    name = re.sub(r"[^\w.-]", "_", title, flags=re.ASCII).lstrip(".-")[-MAX_NAME:] or "program"
    if is_bytecode(data):
        text = print_op(read_level(data, path)) + "\n"
        return Program(f"{os.path.splitext(name)[0]}{TEXT}", title, text)
    return Program(name, title, decode_text(data, path))


def _without_cutile() -> str:
    try:
        is_installed = find_spec("cuda.tile") is not None
    except ModuleNotFoundError:
        is_installed = False
    return "" if is_installed else "cuTile Python is not installed (the package cuda-tile)"


def _without_nvcc() -> str:
    try:
        find_nvcc()
    except Unsupported as error:
        return error.feature
    return ""
