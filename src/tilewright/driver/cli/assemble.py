"""`tilewright as`: text to bytecode."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tilewright.bytecode.versions import parse_version
from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.assembly import decode_text, parse_module
from tilewright.driver.cli.options import VERSIONS, add_input, add_output, command_parser
from tilewright.driver.files import is_bytecode, read_input, write_output
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import fail
from tilewright.support.location import ByteLoc

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(arguments: Sequence[str]) -> int:
    """Run the subcommand."""
    parser = command_parser(
        "as",
        "Assemble Tile IR text into bytecode. The module is verified first.",
        "example:\n  tilewright as kernel.mlir -o kernel.tileirbc --bytecode-version 13.3",
    )
    add_input(parser, "Tile IR text")
    add_output(parser, "the bytecode")
    parser.add_argument(
        "--bytecode-version",
        choices=VERSIONS,
        default=VERSIONS[-1],
        help="version of the bytecode (default: %(default)s); older ones lack newer operations",
    )
    options = parser.parse_args(arguments)
    if options.output == "-" and sys.stdout.isatty():
        parser.error("bytecode does not go to a terminal: give -o FILE, or pipe the output")
    data, name = read_input(options.file)
    if is_bytecode(data):
        fail("expected Tile IR text, found bytecode", ByteLoc(name, 0))
    module = parse_module(decode_text(data, name), name)
    verify(module)
    write_output(options.output, write_bytecode(module, parse_version(options.bytecode_version)))
    return 0
