"""Kernel arguments on the command line: parse, print, save and compare them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from tilewright.driver.array_text import ArgumentError, load_array, parse_argument
from tilewright.driver.cli.options import Option, parse_timeout
from tilewright.driver.files import FileError, write_line
from tilewright.reference.tile import is_array

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments, Command
    from tilewright.reference.tile import Array

KERNEL_OPTIONS: Final = (
    Option(
        "--entry",
        metavar="NAME",
        help="the kernel, by its symbol or C++ name (default: the only one)",
    ),
    Option("--grid", metavar="XxYxZ", default="1", help="how many blocks (default: 1)"),
    Option(
        "--arg",
        metavar="ARG",
        help="the next argument: a number, FILE.npy, zeros:4x8xf32, ones:.., iota:.., "
        "small:..:SEED, random:..:SEED, uninitialised:.. (reads before writes are errors under "
        "--check); OUT.npy=ARG also writes the array afterwards",
    ),
    Option(
        "--expect",
        metavar="INDEX=FILE",
        help="compare an argument with an array afterwards: bit for bit, all NaNs equal",
    ),
    Option("--rtol", metavar="X", default="0", help="relative tolerance of --expect"),
    Option("--atol", metavar="X", default="0", help="absolute tolerance of --expect"),
    Option("--show", metavar="INDEX", help="print an argument afterwards"),
)

PERTURB: Final = Option(
    "--perturb",
    metavar="N",
    default="0",
    help="seed of other results of the emulator's approximate instructions, within the error that "
    "PTX documents (default: 0, correctly rounded)",
)

LIMIT_OPTIONS: Final = (
    Option(
        "--max-steps",
        metavar="N",
        help="stop after N operations or instructions; those that blocks or threads execute "
        "together count once (default: no limit)",
    ),
    Option("--timeout", metavar="SECONDS", help="stop after this time (default: no limit)"),
)
"""Options of commands that interpret a program, which may never end."""


class KernelArguments:
    """The parsed `--arg`, `--show` and `--expect` options; `values` are the arguments."""

    def __init__(self, command: Command, arguments: Arguments) -> None:
        self.command = command
        self.values: list[Any] = []
        self._outputs: list[tuple[str, Array]] = []
        for text in arguments.all("arg"):
            self._add(text)
        self._shown = [self._array("show", index)[1] for index in arguments.all("show")]
        self._expected = [self._expectation(text) for text in arguments.all("expect")]
        self._tolerance = tuple(self._real(key, arguments[key] or "0") for key in ("rtol", "atol"))

    def numbers(self, option: str, text: str) -> list[int]:
        """Parse extents such as `4x2`."""
        parts = text.replace(",", "x").split("x")
        if not all(part.isdecimal() for part in parts):
            self.fail(option, f"expected numbers, found '{text}'")
        return [int(part) for part in parts]

    def max_steps(self, arguments: Arguments) -> int | None:
        """The limit of `--max-steps`; None if there is none."""
        text = arguments["max-steps"]
        if text and (not text.isdecimal() or not int(text)):
            self.fail("max-steps", f"expected a number from 1 on, found '{text}'")
        return int(text) if text else None

    def timeout(self, arguments: Arguments) -> float | None:
        """The limit of `--timeout` in seconds; None if there is none."""
        return parse_timeout(self.command, arguments)

    def _real(self, option: str, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            self.fail(option, f"expected a number, found '{text}'")

    def fail(self, option: str, message: str) -> NoReturn:
        """Raise a usage error about an option."""
        self.command.fail(f"option '--{option}': {message}")

    def finish(self) -> int:
        """Print, save and compare the arrays after the launch; return the exit code."""
        for array in self._shown:
            write_line(str(array))
        for path, array in self._outputs:
            _save(path, array)
        rtol, atol = self._tolerance
        differences = [_difference(*wanted, rtol, atol) for wanted in self._expected]
        print(*filter(None, differences), sep="\n", end="", file=sys.stderr)
        return 1 if any(differences) else 0

    def _add(self, text: str) -> None:
        path, equals, rest = text.partition("=")
        try:
            self.values.append(parse_argument(rest if equals else text))
        except ArgumentError as error:
            self.fail("arg", str(error))
        if equals:
            self._outputs.append((path, self.values[-1]))

    def _array(self, option: str, index: str) -> tuple[int, Array]:
        if not index.isdecimal() or int(index) >= len(self.values):
            self.fail(option, f"expected the number of an argument, found '{index}'")
        return int(index), self.values[int(index)]

    def _expectation(self, text: str) -> tuple[int, Array, Array]:
        index, equals, path = text.partition("=")
        if not equals:
            self.fail("expect", f"expected INDEX=FILE, found '{text}'")
        number, array = self._array("expect", index)
        if not is_array(array):
            self.fail("expect", f"expected the number of an array, found '{index}'")
        return number, array, load_array(path)


def _save(path: str, array: Array) -> None:
    try:
        np.save(path, array)
    except OSError as error:
        raise FileError(f"cannot write '{path}': {error.strerror}") from error


def _difference(index: int, actual: Array, expected: Array, rtol: float, atol: float) -> str:
    """Describe the first mismatch of an array; empty if it matches."""
    expected = expected.reshape(actual.shape) if expected.size == actual.size else expected
    if expected.shape != actual.shape:
        return f"argument {index}: expected shape {expected.shape}, got {actual.shape}\n"
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= atol + rtol * np.abs(b))
    if same.all():
        return ""
    first = tuple(int(i) for i in np.argwhere(~same)[0])
    gist = f"expected {expected[first]} at {list(first)}, got {actual[first]}"
    return f"argument {index}: {gist}; {np.count_nonzero(~same)} of {same.size} differ\n"
