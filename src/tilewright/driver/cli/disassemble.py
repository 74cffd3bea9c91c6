"""`tilewright dis`: disassemble bytecode into text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.bytecode.reader import read_bytecode
from tilewright.driver.cli.options import TEXT_OPTIONS, Command, Option, output
from tilewright.driver.disassembly import disassemble
from tilewright.driver.files import is_bytecode, read_source, write_output
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import fail
from tilewright.support.location import ByteLoc

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments

COMMAND: Final = Command(
    "dis",
    "Disassemble Tile IR bytecode into text, as NVIDIA's tileirdisasm prints it.",
    "Tile IR bytecode",
    (
        output("the text"),
        *TEXT_OPTIONS,
        Option("--no-verify", help="print the module even if the verifier would refuse it"),
        Option(
            "--annotate",
            help="print each range of bytes with its section and what it encodes, such as an "
            "operation, instead of the module",
        ),
    ),
    "examples:\n  tilewright dis kernel.tileirbc -o kernel.mlir\n"
    "  tilewright dis kernel.tileirbc --annotate",
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    data, name = read_source(arguments.file)
    if looks_like_text(data):
        fail(
            "expected Tile IR bytecode, found text (`tilewright as` makes bytecode of text)",
            ByteLoc(name, 0),
        )
    if arguments.flag("annotate"):
        # Loaded only to look at bytes.
        from tilewright.bytecode.annotation import annotate, annotation_text  # noqa: PLC0415

        text = annotation_text(data, annotate(data, name))
        write_output(arguments["output"], text.encode("utf-8", "backslashreplace"))
        return 0
    module = read_bytecode(data, name)
    if not arguments.flag("no-verify"):
        verify(module)
    text = disassemble(
        module,
        debug=arguments.flag("print-debug-info"),
        style=arguments["asm-style"],
        generic=arguments.flag("generic"),
    )
    write_output(arguments["output"], text.encode())
    return 0


def looks_like_text(data: bytes) -> bool:
    """Whether the data is printable text rather than a damaged binary file."""
    start = data[:512]
    return bool(start) and not is_bytecode(data) and all(b >= 32 or b in b"\t\n\r" for b in start)
