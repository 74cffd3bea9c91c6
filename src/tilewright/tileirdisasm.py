"""`tileirdisasm` with the command line, output and exit codes of NVIDIA's disassembler."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from tilewright import __version__
from tilewright.bytecode.reader import read_bytecode
from tilewright.driver.disassembly import disassemble
from tilewright.driver.files import FileError, is_bytecode, read_input, write_output
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Error

if TYPE_CHECKING:
    from collections.abc import Sequence

OK: Final = 0
WRONG_USAGE: Final = 1
NO_INPUT: Final = 2
WRONG_INPUT: Final = 3

HELP: Final = """\
OVERVIEW: tileirdisasm: Tile IR disassembler of Tilewright

USAGE: tileirdisasm [options] <tile bytecode file>

OPTIONS:
  -g                 - Alias for --print-debug-info
  --help             - Display available options
  --print-debug-info - Annotate disassembly with debugging information, if present.
  --version          - Display the version of this program"""

HELP_OPTIONS: Final = frozenset(
    ("-h", "--help", "--help-hidden", "--help-list", "--help-list-hidden")
)
DEBUG_OPTIONS: Final = frozenset(("-g", "--g", "-print-debug-info", "--print-debug-info"))
BOOLEANS: Final = {"": True, "true": True, "TRUE": True, "True": True, "1": True} | {
    "false": False,
    "FALSE": False,
    "False": False,
    "0": False,
}


class UsageError(Exception):
    """The command line is wrong."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code."""
    try:
        return _run(list(sys.argv[1:] if argv is None else argv))
    except UsageError as error:
        print(f"tileirdisasm: {error}", file=sys.stderr)
        return WRONG_USAGE
    except FileError as error:
        print(error.diagnostics[0], file=sys.stderr)
        return NO_INPUT
    except Error as error:
        print(error.render(), file=sys.stderr)
        print("error: failed to read provided Tile IR bytecode", file=sys.stderr)
        return WRONG_INPUT


def _run(arguments: list[str]) -> int:
    if not HELP_OPTIONS.isdisjoint(arguments):
        print(HELP)
        return OK
    if "--version" in arguments:
        print(f"tileirdisasm: Tile IR disassembler of Tilewright {__version__}")
        return OK
    debug, files = _options(arguments)
    if not files:
        print(HELP)
        print("error: no input file provided\n", file=sys.stderr)
        return NO_INPUT
    if len(files) > 1:
        raise UsageError("Too many positional arguments specified! Can specify at most 1")
    # The original has no standard input: `-` is a file of that name.
    data, name = read_input("./-" if files[0] == "-" else files[0])
    if not is_bytecode(data):
        print("error: input does not correspond to Tile IR bytecode", file=sys.stderr)
        return WRONG_INPUT
    module = read_bytecode(data, name)
    verify(module)
    write_output("-", disassemble(module, debug=debug).encode())
    return OK


def _options(arguments: list[str]) -> tuple[bool, list[str]]:
    debug = False
    files: list[str] = []
    for argument in arguments:
        name, _, value = argument.partition("=")
        if name in DEBUG_OPTIONS:
            if value not in BOOLEANS:
                raise UsageError(f"'{value}' is invalid value for boolean argument! Try 0 or 1")
            debug = BOOLEANS[value]
        elif argument.startswith("-") and argument != "-":
            raise UsageError(
                f"Unknown command line argument '{argument}'. Try: 'tileirdisasm --help'"
            )
        else:
            files.append(argument)
    return debug, files
