"""`tileirdisasm` with the command line, output and exit codes of NVIDIA's disassembler."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NoReturn

from tilewright import __version__
from tilewright.bytecode.opcodes import MLIR_MAGIC
from tilewright.bytecode.reader import read_bytecode
from tilewright.driver.disassembly import disassemble
from tilewright.driver.files import FileError, is_bytecode, read_input, write_output
from tilewright.driver.process import leave
from tilewright.ir.verifier import verify
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import Error

if TYPE_CHECKING:
    from collections.abc import Sequence

OK: Final = 0
WRONG_USAGE: Final = 1
NO_INPUT: Final = 2
WRONG_INPUT: Final = 3

TITLE: Final = "tileirdisasm: Tile IR disassembler of Tilewright"
HELP: Final = f"""\
OVERVIEW: {TITLE}

USAGE: tileirdisasm [options] <tile bytecode file>

OPTIONS:
  -g                 - Alias for --print-debug-info
  --help             - Display available options
  --print-debug-info - Annotate disassembly with debugging information, if present.
  --version          - Display the version of this program

Exit codes: {OK} done, {WRONG_USAGE} the command line is wrong, {NO_INPUT} no file to read, \
{WRONG_INPUT} the file is not valid Tile IR bytecode"""

DEBUG: Final = ("g", "print-debug-info")
WITHOUT_EFFECT: Final = ("color", "print-all-options", "print-options")
BOOLEANS: Final = {
    **dict.fromkeys(("", "true", "TRUE", "True", "1"), True),
    **dict.fromkeys(("false", "FALSE", "False", "0"), False),
}


class Answer(Exception):
    """The command line asks for a text, and for nothing else."""


class CommandLine:
    """What the arguments say, read in order: help ends it, a mistake does not."""

    __slots__ = ("debug", "files", "mistakes")

    def __init__(self, arguments: Sequence[str]) -> None:
        self.debug = False
        self.files: list[str] = []
        self.mistakes: list[str] = []
        words = iter(arguments)
        for word in words:
            if word == "--":
                self.files += words
            elif word == "-" or not word.startswith("-"):
                self.files.append(word)
            else:
                self._option(word)
        if len(self.files) > 1:
            self.mistakes.append(
                "Too many positional arguments specified!\n"
                "Can specify at most 1 positional arguments: See: tileirdisasm --help"
            )

    def _option(self, word: str) -> None:
        name, equals, value = word.removeprefix("-").removeprefix("-").partition("=")
        if name in DEBUG:
            self._set_debug(value)
        elif name == "version" or name.startswith("h"):  # the original takes -h and anything behind
            if not equals:
                raise Answer(f"{TITLE} {__version__}" if name == "version" else HELP)
            self.mistakes.append(f"for the --{name} option: does not allow a value! '{value}'")
        elif name not in WITHOUT_EFFECT:
            self.mistakes.append(
                f"Unknown command line argument '{word}'.  Try: 'tileirdisasm --help'"
            )

    def _set_debug(self, value: str) -> None:
        if value in BOOLEANS:
            self.debug = BOOLEANS[value]
            return
        self.mistakes.append(
            f"for the --print-debug-info option: '{value}' is invalid value for boolean argument! "
            "Try 0 or 1"
        )


def script() -> NoReturn:
    """Run as a process of its own."""
    leave(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code."""
    try:
        with CollectorPause():
            return _run(sys.argv[1:] if argv is None else argv)
    except Answer as answer:
        print(answer)
        return OK
    except FileError as error:
        print(error, file=sys.stderr)
        return NO_INPUT
    except Error as error:
        print(error.render(), file=sys.stderr)
        print("error: failed to read provided Tile IR bytecode", file=sys.stderr)
        return WRONG_INPUT
    except BrokenPipeError:
        return OK  # whoever read our output has seen enough


def _run(arguments: Sequence[str]) -> int:
    line = CommandLine(arguments)
    if line.mistakes:
        for mistake in line.mistakes:
            print(f"tileirdisasm: {mistake}", file=sys.stderr)
        return WRONG_USAGE
    path = line.files[0] if line.files else ""
    if not path:
        print(HELP)
        print("error: no input file provided", file=sys.stderr)
        return NO_INPUT
    # The original has no standard input: `-` is a file of that name.
    data, name = read_input("./-" if path == "-" else path)
    if not is_bytecode(data):
        hint = " (it looks like MLIR bytecode instead)" if data.startswith(MLIR_MAGIC) else ""
        print(f"error: input does not correspond to Tile IR bytecode{hint}", file=sys.stderr)
        return WRONG_INPUT
    module = read_bytecode(data, name)
    verify(module)
    write_output("-", disassemble(module, debug=line.debug).encode())
    return OK
