"""`tileirdisasm` with the command line, output and exit codes of NVIDIA's disassembler."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NoReturn

from tilewright import __version__
from tilewright.bytecode.opcodes import MLIR_MAGIC
from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.versions import NEWEST, spell
from tilewright.driver import process
from tilewright.driver.cli import guarded
from tilewright.driver.disassembly import disassemble
from tilewright.driver.files import FileError, is_bytecode, read_input, write_line, write_output
from tilewright.driver.tool_options import HELP, Asked, Option, Takes, ToolLine
from tilewright.ir.verifier import verify
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import Error

if TYPE_CHECKING:
    from collections.abc import Sequence

OK: Final = 0
WRONG_USAGE: Final = 1
NO_FILE: Final = 2
WRONG_INPUT: Final = 3

TITLE: Final = "tileirdisasm: Tile IR disassembler of Tilewright"
USAGE: Final = "tileirdisasm [options] <tile bytecode file>"
NOTES: Final = f"""\
Exit codes: {OK} done, {WRONG_USAGE} the command line is wrong, {NO_FILE} a file cannot be \
read or written,
{WRONG_INPUT} the file is not valid Tile IR bytecode"""

VERSION: Final = f"{TITLE} {__version__}\nTile IR V{spell(NEWEST)}.0"
"""Front ends parse the version number to detect the supported Tile IR version."""

DEBUG: Final = Option(
    "print-debug-info", Takes.FLAG, "Annotate the text with debug information, if present"
)
PREVIEW: Final = Option(
    "preview",
    Takes.TEXT,
    "Accepted without effect: calls of foreign functions are unsupported",
    value_name="feature",
)
OPTIONS: Final = {"g": DEBUG, "print-debug-info": DEBUG, "preview": PREVIEW}


def script() -> NoReturn:
    """Run as a process of its own."""
    process.run(main)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    with CollectorPause():
        return guarded(lambda: _run(sys.argv[1:] if argv is None else argv))


def _run(arguments: Sequence[str]) -> int:
    try:
        return _disassemble(arguments)
    except FileError as error:
        print(error, file=sys.stderr)
        return NO_FILE
    except Error as error:
        print(error.render(), file=sys.stderr)
        print("error: failed to read provided Tile IR bytecode", file=sys.stderr)
        return WRONG_INPUT


def _disassemble(arguments: Sequence[str]) -> int:
    try:
        line = ToolLine("tileirdisasm", OPTIONS, arguments)
    except Asked as asked:
        write_line(VERSION if asked.name == "version" else _help(asked.name))
        return OK
    if line.wrong:
        return WRONG_USAGE
    path = line.files[0] if line.files else ""
    if not path:
        write_line(_help(HELP.name))
        print("error: no input file provided", file=sys.stderr)
        return NO_FILE
    # NVIDIA's tool does not read standard input: `-` is a file name.
    data, name = read_input("./-" if path == "-" else path)
    if not is_bytecode(data):
        hint = " (it looks like MLIR bytecode instead)" if data.startswith(MLIR_MAGIC) else ""
        print(f"error: input does not correspond to Tile IR bytecode{hint}", file=sys.stderr)
        return WRONG_INPUT
    module = read_bytecode(data, name)
    verify(module)
    write_output("-", disassemble(module, debug=line.flag(DEBUG.name)).encode())
    return OK


def _help(question: str) -> str:
    # Loaded only on request.
    from tilewright.driver.option_help import help_text  # noqa: PLC0415

    return help_text(question, TITLE, USAGE, {"Disassembler Options": OPTIONS}, NOTES)


if __name__ == "__main__":
    script()
