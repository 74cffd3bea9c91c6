"""`python -m tilewright.triton SCRIPT`: run a Triton program without a GPU."""

from __future__ import annotations

import sys
from typing import Any, Final

from tilewright.support.diagnostics import Error
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
WRONG_USAGE: Final = 2


class _UsageError(Exception):
    """An error in the command line."""


class CommandLine:
    """The options, and the program with its own arguments."""

    def __init__(self, words: list[str]) -> None:
        self._options: dict[str, Any] = {}
        self.is_module = False
        self.is_help = False
        self.program: list[str] = []
        rest = list(words)
        while rest and not self.program and not self.is_help:
            self._read(rest)
        if not self.program and not self.is_help:
            raise _UsageError("expected a script or '-m' and a module")
        if not self.options.check:
            for option in ("seed", "check_proxies"):
                if self._options.get(option):
                    raise _UsageError(f"expected '--check' with '--{option.replace('_', '-')}'")

    @property
    def options(self) -> Options:
        """How kernels run."""
        return Options(**self._options)

    def _read(self, rest: list[str]) -> None:
        """Consume the next option, or the program with its arguments."""
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name in _VALUES:
            text = value if equals else _value(rest, name)
            self._options[name[2:].replace("-", "_")] = _VALUES[name](name, text)
        elif word in ("-h", "--help"):
            self.is_help = True
        elif word in ("--check", "--no-check"):
            self._options["check"] = word == "--check"
        elif word == "--check-proxies":
            self._options["check_proxies"] = True
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


def _text(option: str, text: str) -> str:
    return text


def _number(option: str, text: str) -> int:
    if not text.isdecimal():
        raise _UsageError(f"expected a number after '{option}', found '{text}'")
    return int(text)


def _positive(option: str, text: str) -> int:
    number = _number(option, text)
    if not number:
        raise _UsageError(f"expected a number above 0 after '{option}', found '{text}'")
    return number


def _seconds(option: str, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise _UsageError(f"expected seconds above 0 after '{option}', found '{text}'")
    return seconds


_VALUES: Final = {
    "--arch": _text,
    "--seed": _number,
    "--max-steps": _positive,
    "--timeout": _seconds,
}
"""The options with a value, and how each is read."""


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
    try:
        _enable(line.options)
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
