"""`tilewright dis`: bytecode to text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.bytecode.reader import read_bytecode
from tilewright.driver.cli.options import add_input, add_output, add_text_options, command_parser
from tilewright.driver.disassembly import disassemble
from tilewright.driver.files import is_bytecode, read_input, write_output
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import fail
from tilewright.support.location import ByteLoc

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(arguments: Sequence[str]) -> int:
    """Run the subcommand."""
    parser = command_parser(
        "dis",
        "Disassemble Tile IR bytecode into text, as NVIDIA's tileirdisasm prints it.",
        "example:\n  tilewright dis kernel.tileirbc -o kernel.mlir",
    )
    add_input(parser, "Tile IR bytecode")
    add_output(parser, "the text")
    add_text_options(parser)
    parser.add_argument("--no-verify", action="store_true", help="print a module that is wrong")
    options = parser.parse_args(arguments)
    data, name = read_input(options.file)
    if looks_like_text(data):
        fail(
            "expected Tile IR bytecode, found text (`tilewright as` makes bytecode of text)",
            ByteLoc(name, 0),
        )
    module = read_bytecode(data, name)
    if not options.no_verify:
        verify(module)
    text = disassemble(
        module, debug=options.debug, style=options.asm_style, generic=options.generic
    )
    write_output(options.output, text.encode())
    return 0


def looks_like_text(data: bytes) -> bool:
    """Whether the data is printable text rather than a damaged binary file."""
    start = data[:512]
    return bool(start) and not is_bytecode(data) and all(b >= 32 or b in b"\t\n\r" for b in start)
