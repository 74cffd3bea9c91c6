"""`python -m tilewright.cutile SCRIPT`: run a program of cuTile Python with Tilewright."""

from __future__ import annotations

import builtins
import os
import runpy
import sys
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Final
from zipfile import is_zipfile

from tilewright.cutile.importing import hand_down, switch_on_import
from tilewright.cutile.switching import PLACES

USAGE: Final = "usage: python -m tilewright.cutile [--on gpu|cpu] (SCRIPT | -m MODULE) [ARGS...]"
HELP: Final = f"""\
{USAGE}

Runs a program as python does, unmodified, with the kernels of cuTile Python compiled by
Tilewright instead of NVIDIA's tileiras, also in processes that the program starts.

  --on gpu    compile them, and let cuTile launch them (default)
  --on cpu    run them on the CPU, which needs no GPU
  -m MODULE   run a module, as `python -m` does
  --help      show this text"""
WRONG_USAGE: Final = 2


class _WrongUsage(Exception):
    """The command line is wrong; says how."""


class CommandLine:
    """Where kernels go, and what to run; all words behind that are the program's own."""

    def __init__(self, words: list[str]) -> None:
        self.on = PLACES[0]
        self.is_module = False
        self.is_help = False
        self.program: list[str] = []
        rest = list(words)
        while rest and not self.program and not self.is_help:
            self._read(rest)
        if not self.program and not self.is_help:
            raise _WrongUsage("expected a script or '-m' and a module")

    def _read(self, rest: list[str]) -> None:
        """Take the next option off, or the program with all that follows it."""
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            self.is_help = True
        elif name == "--on":
            self.on = value if equals else _value(rest, "--on")
            if self.on not in PLACES:
                raise _WrongUsage(f"expected '--on' {' or '.join(PLACES)}, found '{self.on}'")
        elif word.startswith("-m"):
            self.is_module = True
            self.program = [word[2:] or _value(rest, "-m"), *rest]
        elif word.startswith("-"):
            raise _WrongUsage(f"unknown option '{word}'")
        else:
            self.program = [word, *rest]


def _value(rest: list[str], option: str) -> str:
    if not rest:
        raise _WrongUsage(f"expected a value behind '{option}'")
    return rest.pop(0)


def main() -> int:
    """Run the command line; gives the exit code, if the program does not end the process."""
    try:
        line = CommandLine(sys.argv[1:])
    except _WrongUsage as wrong:
        print(f"{USAGE}\nerror: {wrong}", file=sys.stderr)
        return WRONG_USAGE
    if line.is_help:
        print(HELP)
        return 0
    path = line.program[0]
    if not line.is_module and not os.path.exists(path):
        print(f"error: cannot open '{path}': there is no such file", file=sys.stderr)
        return WRONG_USAGE
    switch_on_import(line.on)
    hand_down(line.on)
    sys.argv = line.program
    if line.is_module:
        runpy.run_module(path, run_name="__main__", alter_sys=True)
    else:
        _run_script(path)
    return 0


def _run_script(path: str) -> None:
    """Run a file as the module `__main__`, from which others may import."""
    if not sys.flags.safe_path:
        del sys.path[0]  # the folder of `python -m tilewright.cutile`
    if os.path.isdir(path) or is_zipfile(path):
        runpy.run_path(path, run_name="__main__")
        return
    if not sys.flags.safe_path:
        sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    file = os.path.abspath(path)
    loader = SourceFileLoader("__main__", file)
    code = loader.source_to_code(loader.get_data(file), file)
    module = ModuleType("__main__")
    vars(module).update(__builtins__=builtins, __cached__=None, __file__=file, __loader__=loader)
    sys.modules["__main__"] = module
    exec(code, vars(module))


if __name__ == "__main__":
    sys.exit(main())
