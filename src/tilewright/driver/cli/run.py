"""`tilewright run`: run a kernel."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from tilewright.driver.api import read_unverified
from tilewright.driver.array_text import ArgumentError, load_array, parse_argument
from tilewright.driver.cli.options import Command, Option
from tilewright.driver.execute import execute
from tilewright.driver.files import FileError, read_input

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments
    from tilewright.reference.tile import Array

COMMAND: Final = Command(
    "run",
    "Run a kernel on arrays.",
    "Tile IR text or bytecode",
    (
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
        Option("--check", help="look for races, uninitialised memory and broken promises"),
        Option("--seed", metavar="N", default="0", help="the order of things under --check"),
        Option("--on", choices=("cpu",), default="cpu", help="where to run"),
    ),
    "examples:\n"
    "  tilewright run add.mlir --grid 4 --arg random:64xf32:1 --arg ones:64xf32 "
    "--arg sum.npy=zeros:64xf32\n"
    "  tilewright run kernel.tileirbc --grid 2x2 --arg a.npy --arg 16 --expect 0=wanted.npy",
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    outputs, args = _parse_args(arguments.all("arg"))
    grid = _numbers("grid", arguments["grid"])
    expected = [_parse_expectation(text, args) for text in arguments.all("expect")]
    data, name = read_input(arguments.file)
    execute(
        read_unverified(data, name),
        arguments["entry"] or None,
        grid,
        args,
        check=arguments.flag("check"),
        seed=_numbers("seed", arguments["seed"])[0],
        progress=Bar() if sys.stderr.isatty() else None,
    )
    for index in arguments.all("show"):
        print(_array("show", index, args)[1])
    for path, array in outputs:
        _save(path, array)
    tolerance = float(arguments["rtol"]), float(arguments["atol"])
    differences = [_difference(*wanted, *tolerance) for wanted in expected]
    print(*filter(None, differences), sep="\n", end="", file=sys.stderr)
    return 1 if any(differences) else 0


def _fail(option: str, message: str) -> NoReturn:
    COMMAND.fail(f"option '--{option}': {message}")


def _numbers(option: str, text: str) -> list[int]:
    parts = text.replace(",", "x").split("x")
    if not all(part.isdecimal() for part in parts):
        _fail(option, f"expected numbers, found '{text}'")
    return [int(part) for part in parts]


def _parse_args(texts: list[str]) -> tuple[list[tuple[str, Array]], list[Any]]:
    """The arguments, and the files to which some go afterwards."""
    outputs: list[tuple[str, Array]] = []
    args: list[Any] = []
    for text in texts:
        path, equals, rest = text.partition("=")
        try:
            args.append(parse_argument(rest if equals else text))
        except ArgumentError as error:
            _fail("arg", str(error))
        if equals:
            outputs.append((path, args[-1]))
    return outputs, args


def _array(option: str, index: str, args: list[Any]) -> tuple[int, Array]:
    if not index.isdecimal() or int(index) >= len(args):
        _fail(option, f"expected the number of an argument, found '{index}'")
    return int(index), args[int(index)]


def _parse_expectation(text: str, args: list[Any]) -> tuple[int, Array, Array]:
    index, equals, path = text.partition("=")
    if not equals:
        _fail("expect", f"expected INDEX=FILE, found '{text}'")
    return *_array("expect", index, args), load_array(path)


def _save(path: str, array: Array) -> None:
    try:
        np.save(path, array)
    except OSError as error:
        raise FileError(f"cannot write '{path}': {error.strerror}") from error


def _difference(index: int, found: Array, wanted: Array, rtol: float, atol: float) -> str:
    """What is wrong with an array; nothing if it is as expected."""
    if wanted.dtype.kind == "V" and wanted.dtype.itemsize == found.dtype.itemsize:
        wanted = wanted.view(found.dtype)  # files do not know the narrow floats
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


class Bar:
    """A progress bar on standard error, once a run takes longer than a moment."""

    PATIENCE: Final = 0.5
    WIDTH: Final = 40

    def __init__(self) -> None:
        self.next = time.monotonic() + self.PATIENCE
        self.shown = False

    def __call__(self, done: int, total: int) -> None:
        """Show how many blocks are done."""
        now = time.monotonic()
        if now >= self.next:
            self.next = now + 0.1
            self.shown = True
            full = self.WIDTH * done // total
            bar = "#" * full + "." * (self.WIDTH - full)
            print(f"\r[{bar}] {done}/{total} blocks", end="", file=sys.stderr, flush=True)
        if self.shown and done == total:
            print(file=sys.stderr)
