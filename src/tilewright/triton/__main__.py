"""`python -m tilewright.triton SCRIPT`: run a Triton program without a GPU."""

from __future__ import annotations

import sys
from typing import Final

from tilewright.support.diagnostics import Error
from tilewright.support.program_line import (
    WRONG_USAGE,
    Given,
    ProgramLine,
    UsageError,
    line_of_process,
    number,
)
from tilewright.support.run_program import run_program
from tilewright.triton.options import Options

USAGE: Final = (
    "usage: python -m tilewright.triton [--arch sm_90] [--check | --no-check] [--check-proxies] "
    "[--seed N] [--max-steps N] [--timeout SECONDS] (SCRIPT | -m MODULE) [ARGS...]"
)
HELP: Final = f"""\
{USAGE}

Runs a program as python does, unmodified, on a machine without a GPU: Triton's own compiler makes
the PTX of its kernels, and the PTX emulator runs and checks it. torch may be a build for the CPU:
device="cuda" and torch.cuda work, with tensors in the memory of the host.

  --arch sm_90   the GPU that Triton compiles for (default: sm_90)
  --check        look for races in shared memory, races between blocks in global memory,
                 uninitialised shared memory, accesses out of bounds, misuse of barriers, and
                 tl.device_assert that fails (default)
  --no-check     run without these checks, which is faster
  --check-proxies
                 look for missing fence.proxy.async, too: Triton 3.6 leaves it out between
                 cp.async and wgmma
  --seed N       another order of threads and blocks, which may show other races (default: 0)
  --max-steps N  stop a launch after this many instructions
  --timeout SECONDS
                 stop a launch after this time
  -m MODULE      run a module, as `python -m` does
  --help         show this text

Errors name the line of the kernel. triton.testing.do_bench runs its function once, and
triton.autotune takes the first configuration that compiles and fits; both say so.

Example: python -m tilewright.triton --seed 7 train.py --steps 10"""


def read_line(words: list[str]) -> ProgramLine:
    """Read the options, and the program with its arguments."""
    line = ProgramLine(words, _FLAGS, _VALUES)
    if not line.given.get("check", True):
        for option in ("seed", "check_proxies"):
            if line.given.get(option):
                raise UsageError(f"expected '--check' with '--{option.replace('_', '-')}'")
    return line


def _text(option: str, text: str) -> str:
    return text


def _positive(option: str, text: str) -> int:
    value = number(option, text)
    if not value:
        raise UsageError(f"expected a number above 0 after '{option}', found '{text}'")
    return value


def _seconds(option: str, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise UsageError(f"expected seconds above 0 after '{option}', found '{text}'")
    return seconds


_FLAGS: Final = {
    "--check": Given("check", True),
    "--no-check": Given("check", False),
    "--check-proxies": Given("check_proxies", True),
}
_VALUES: Final = {
    "--arch": _text,
    "--seed": number,
    "--max-steps": _positive,
    "--timeout": _seconds,
}
"""The options with a value, and how each is read."""


def main() -> int:
    """Run the command line; return the exit code unless the program exits the process."""
    line = line_of_process(read_line, USAGE, HELP)
    if isinstance(line, int):
        return line
    try:
        _enable(Options(**line.given))
    except Error as error:
        print(error.render(), file=sys.stderr)
        return WRONG_USAGE
    return run_program(line.program, is_module=line.is_module, starter=__file__)


def _enable(options: Options) -> None:
    # Triton, torch and the emulator are not loaded for errors in the command line.
    from tilewright.triton.switching import enable  # noqa: PLC0415

    enable(**options._asdict())


if __name__ == "__main__":
    sys.exit(main())
