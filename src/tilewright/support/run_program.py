"""Run a Python program in this process, as `python` does."""

from __future__ import annotations

import builtins
import os
import runpy
import sys
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any, Final
from zipfile import is_zipfile

from tilewright.support.tracebacks import begin_at_program

_UNREADABLE: Final = 2
"""The exit code for a program that cannot be read, as that of Python."""


def run_program(program: list[str], *, is_module: bool, starter: str) -> int:
    """Run a script, or a module, with its arguments as Python itself would.

    `starter` is the file that calls this function, whose frames tracebacks hide. Return the exit
    code unless the program exits the process.
    """
    path, *words = program
    begin_at_program(starter, __file__, hide_runpy=False)
    module = sys.modules["__main__"] = ModuleType("__main__")
    vars(module)["__builtins__"] = builtins
    sys.argv = ["-m", *words] if is_module else program
    if is_module:
        return _run_module(path, is_named=True)
    if not sys.flags.safe_path:
        del sys.path[0]  # the folder of the `python -m` that calls this function
    if os.path.isdir(path) or is_zipfile(path):
        sys.path.insert(0, os.path.abspath(path))
        return _run_module("__main__", is_named=False)
    return _run_script(path, vars(module))


def _run_module(name: str, *, is_named: bool) -> int:
    """Run a module by name, or the `__main__` of a folder or archive."""
    # Python itself calls this function; `runpy.run_module` removes `__main__` afterwards, which
    # threads and `atexit` handlers still need.
    vars(runpy)["_run_module_as_main"](name, is_named)
    return 0


def _run_script(path: str, names: dict[str, Any]) -> int:
    """Run a file in the module with these names."""
    file = os.path.abspath(path)
    loader = SourceFileLoader("__main__", file)
    try:
        source = loader.get_data(file)
    except OSError as error:
        print(f"error: cannot read '{path}': {error.strerror}", file=sys.stderr)
        return _UNREADABLE
    if not sys.flags.safe_path:
        sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    names.update(__cached__=None, __file__=file, __loader__=loader)
    exec(compile(source, file, "exec", dont_inherit=True), names)
    return 0
