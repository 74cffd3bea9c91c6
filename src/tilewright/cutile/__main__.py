"""`python -m tilewright.cutile SCRIPT`: run a cuTile Python program with Tilewright."""

from __future__ import annotations

import ctypes
import sys
from types import TracebackType
from typing import Final

from tilewright.cutile.importing import hand_down, switch_on_import
from tilewright.cutile.options import DEVICES, Options
from tilewright.support.program_line import Given, ProgramLine, UsageError, line_of_process, number
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
WITHOUT_DRIVER: Final = (
    "this machine has no NVIDIA driver, which launches need; "
    "`python -m tilewright.cutile --on cpu` and `--on emulator` need none"
)


def read_line(words: list[str]) -> ProgramLine:
    """Read the options, and the program with its arguments."""
    line = ProgramLine(
        words, {"--check": Given("check", True)}, {"--on": _device, "--seed": number}
    )
    if "seed" in line.given and "check" not in line.given:
        raise UsageError("expected '--check' with '--seed'")
    if line.given.get("on") == "gpu" and "check" in line.given:
        raise UsageError("expected '--on' cpu or emulator with '--check'")
    return line


def _device(option: str, text: str) -> str:
    if text not in DEVICES:
        raise UsageError(f"expected '{option}' {' or '.join(DEVICES)}, found '{text}'")
    return text


def options_of(line: ProgramLine) -> Options:
    """How kernels run; checks need no GPU, so that they select the CPU."""
    check = "check" in line.given
    on = line.given.get("on", "cpu" if check else DEVICES[0])
    return Options(on, check, line.given.get("seed", 0))


def main() -> int:
    """Run the command line; return the exit code unless the program exits the process."""
    line = line_of_process(read_line, USAGE, HELP)
    if isinstance(line, int):
        return line
    options = options_of(line)
    switch_on_import(options)
    hand_down(options)
    if options.on == "gpu":
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
