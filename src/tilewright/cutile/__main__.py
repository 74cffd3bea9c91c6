"""`python -m tilewright.cutile SCRIPT`: run a cuTile Python program with Tilewright."""

from __future__ import annotations

import ctypes
import sys
from types import TracebackType
from typing import Final

from tilewright.cutile.importing import hand_down, switch_on_import
from tilewright.cutile.options import DEVICES, Options
from tilewright.support.run_program import run_program

USAGE: Final = (
    "usage: python -m tilewright.cutile [--on gpu|cpu|emulator] [--check] [--seed N] "
    "(SCRIPT | -m MODULE) [ARGS...]"
)
HELP: Final = f"""\
{USAGE}

Runs a program as python does, unmodified, with the kernels of cuTile Python compiled by
Tilewright instead of NVIDIA's tileiras, also in processes that the program starts.

  --on gpu       compile them, and let cuTile launch them (default)
  --on cpu       run them on the CPU, which needs no GPU
  --on emulator  compile them, and run the PTX on the emulator, which needs no GPU
  --check        look for races, uninitialised memory, undefined results and indices out of
                 bounds, on the CPU; with --on emulator, for races between threads and misuse of
                 barriers
  --seed N       the order of unordered blocks and accesses under --check (default: 0)
  -m MODULE      run a module, as `python -m` does
  --help         show this text

Example: python -m tilewright.cutile --check --seed 7 train.py --steps 10"""
WRONG_USAGE: Final = 2
WITHOUT_DRIVER: Final = (
    "this machine has no NVIDIA driver, which launches need; "
    "`python -m tilewright.cutile --on cpu` and `--on emulator` need none"
)


class _UsageError(Exception):
    """An error in the command line."""


class CommandLine:
    """The options, and the program with its own arguments."""

    def __init__(self, words: list[str]) -> None:
        self._on: str | None = None
        self._check = False
        self._seed: int | None = None
        self.is_module = False
        self.is_help = False
        self.program: list[str] = []
        rest = list(words)
        while rest and not self.program and not self.is_help:
            self._read(rest)
        if not self.program and not self.is_help:
            raise _UsageError("expected a script or '-m' and a module")
        self._validate()

    def _validate(self) -> None:
        if self._seed is not None and not self._check:
            raise _UsageError("expected '--check' with '--seed'")
        if self._on == "gpu" and self._check:
            raise _UsageError("expected '--on' cpu or emulator with '--check'")

    @property
    def options(self) -> Options:
        """How kernels run; checks need no GPU, so that they select the CPU."""
        on = self._on or ("cpu" if self._check else DEVICES[0])
        return Options(on, self._check, self._seed or 0)

    def _read(self, rest: list[str]) -> None:
        """Consume the next option, or the program with its arguments."""
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            self.is_help = True
        elif name == "--on":
            self._on = value if equals else _value(rest, "--on")
            if self._on not in DEVICES:
                raise _UsageError(f"expected '--on' {' or '.join(DEVICES)}, found '{self._on}'")
        elif word == "--check":
            self._check = True
        elif name == "--seed":
            text = value if equals else _value(rest, "--seed")
            if not text.isdecimal():
                raise _UsageError(f"expected a number after '--seed', found '{text}'")
            self._seed = int(text)
        elif word.startswith("-m"):
            self.is_module = True
            self.program = [word[2:] or _value(rest, "-m"), *rest]
        elif word.startswith("-"):
            raise _UsageError(f"unknown option '{word}'")
        else:
            self.program = [word, *rest]


def _value(rest: list[str], option: str) -> str:
    if not rest:
        raise _UsageError(f"expected a value after '{option}'")
    return rest.pop(0)


def main() -> int:
    """Run the command line; return the exit code unless the program exits the process."""
    try:
        line = CommandLine(sys.argv[1:])
    except _UsageError as wrong:
        print(f"{USAGE}\nerror: {wrong}", file=sys.stderr)
        return WRONG_USAGE
    if line.is_help:
        print(HELP)
        return 0
    switch_on_import(line.options)
    hand_down(line.options)
    if line.options.on == "gpu":
        _suggest_other_devices()
    return run_program(line.program, is_module=line.is_module, starter=__file__)


def _suggest_other_devices() -> None:
    """After an uncaught exception on a machine without NVIDIA's driver, say what needs none."""
    show = sys.excepthook

    def show_and_suggest(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        show(kind, error, trace)
        if "cuda.tile" in sys.modules and not _has_driver():
            print(f"note: {WITHOUT_DRIVER}", file=sys.stderr)

    sys.excepthook = show_and_suggest


def _has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
