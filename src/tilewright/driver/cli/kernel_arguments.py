"""Arguments of a kernel on a command line: where they come from, and what happens to them later."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from tilewright.driver.array_text import ArgumentError, load_array, parse_argument
from tilewright.driver.cli.options import Option
from tilewright.driver.files import FileError, write_line
from tilewright.reference.tile import is_array

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments, Command
    from tilewright.reference.tile import Array

KERNEL_OPTIONS: Final = (
    Option("--entry", metavar="NAME", help="the kernel (default: the only one)"),
    Option("--grid", metavar="XxYxZ", default="1", help="how many blocks (default: 1)"),
    Option(
        "--arg",
        metavar="ARG",
        help="the next argument: a number, FILE.npy, zeros:4x8xf32, ones:.., iota:.., "
        "small:..:SEED, random:..:SEED; OUT.npy=ARG also writes the array afterwards",
    ),
    Option(
        "--expect",
        metavar="INDEX=FILE",
        help="compare an argument with an array afterwards: bit for bit, all NaNs equal",
    ),
    Option("--rtol", metavar="X", default="0", help="let --expect differ by this factor"),
    Option("--atol", metavar="X", default="0", help="let --expect differ by this much"),
    Option("--show", metavar="INDEX", help="print an argument afterwards"),
)


class KernelArguments:
    """What `--arg`, `--show` and `--expect` say; `values` are the numbers and arrays."""

    def __init__(self, command: Command, arguments: Arguments) -> None:
        self.command = command
        self.values: list[Any] = []
        self._outputs: list[tuple[str, Array]] = []
        for text in arguments.all("arg"):
            self._add(text)
        self._shown = [self._array("show", index)[1] for index in arguments.all("show")]
        self._expected = [self._expectation(text) for text in arguments.all("expect")]
        self._tolerance = tuple(self._real(key, arguments[key]) for key in ("rtol", "atol"))

    def numbers(self, option: str, text: str) -> list[int]:
        """The extents that `4x2` says."""
        parts = text.replace(",", "x").split("x")
        if not all(part.isdecimal() for part in parts):
            self.fail(option, f"expected numbers, found '{text}'")
        return [int(part) for part in parts]

    def _real(self, option: str, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            self.fail(option, f"expected a number, found '{text}'")

    def fail(self, option: str, message: str) -> NoReturn:
        """Stop because of an option."""
        self.command.fail(f"option '--{option}': {message}")

    def finish(self) -> int:
        """Show, write and compare what the kernel has left; gives the exit code."""
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
        number, found = self._array("expect", index)
        if not is_array(found):
            self.fail("expect", f"expected the number of an array, found '{index}'")
        return number, found, load_array(path)


def _save(path: str, array: Array) -> None:
    try:
        np.save(path, array)
    except OSError as error:
        raise FileError(f"cannot write '{path}': {error.strerror}") from error


def _difference(index: int, found: Array, wanted: Array, rtol: float, atol: float) -> str:
    """What is wrong with an array; nothing if it is as expected."""
    wanted = wanted.reshape(found.shape) if wanted.size == found.size else wanted
    if wanted.shape != found.shape:
        return f"argument {index}: expected shape {wanted.shape}, got {found.shape}\n"
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(all="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= atol + rtol * np.abs(b))
    if same.all():
        return ""
    first = tuple(int(i) for i in np.argwhere(~same)[0])
    gist = f"expected {wanted[first]} at {list(first)}, got {found[first]}"
    return f"argument {index}: {gist}; {np.count_nonzero(~same)} of {same.size} differ\n"
