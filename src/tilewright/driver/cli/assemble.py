"""`tilewright as`: assemble text into bytecode."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from tilewright.bytecode.versions import parse_version
from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.assembly import decode_text, parse_module
from tilewright.driver.cli.options import BYTECODE_VERSION, Command, output
from tilewright.driver.files import is_bytecode, read_input, write_output
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Diagnostic, Severity, fail
from tilewright.support.location import ByteLoc, FileLoc

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.structure import ModuleOp
    from tilewright.driver.cli.options import Arguments

COMMAND: Final = Command(
    "as",
    "Assemble Tile IR text into bytecode. The module is verified first.",
    "Tile IR text",
    (output("the bytecode"), BYTECODE_VERSION),
    "example:\n  tilewright as kernel.mlir -o kernel.tileirbc --bytecode-version 13.3",
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    if arguments["output"] == "-" and sys.stdout.isatty():
        COMMAND.fail("bytecode does not go to a terminal: give -o FILE, or pipe the output")
    data, name = read_input(arguments.file)
    if is_bytecode(data):
        fail("expected Tile IR text, found Tile IR bytecode", ByteLoc(name, 0))
    module = parse_module(decode_text(data, name, expected="Tile IR text"), name)
    verify(module)
    warn_dropped_attributes(module)
    warn_dropped_locations(module)
    version = parse_version(arguments["bytecode-version"])
    write_output(arguments["output"], write_bytecode(module, version))
    return 0


def warn_dropped_locations(module: ModuleOp) -> None:
    """Warn about locations that the text states, and that bytecode cannot encode."""
    ops = (op for entry in module.entries() for op in entry.walk())
    plain = [op for op in ops if isinstance(op.location, FileLoc)]
    if plain:
        dropped = "1 location is" if len(plain) == 1 else f"{len(plain)} locations are"
        gist = (
            f"bytecode has locations with a debug scope only: {dropped} dropped; "
            "`tilewright opt --pass synthesize-debug-info-scopes` adds scopes"
        )
        print(Diagnostic(gist, plain[0].location, Severity.WARNING).render(), file=sys.stderr)


def warn_dropped_attributes(module: ModuleOp) -> None:
    """Warn about discardable attributes, which bytecode cannot encode."""
    for op in module.walk():
        for name in sorted(op.attributes.keys() - op.schema.inherent.keys() - {"sym_visibility"}):
            gist = f"'{op.name}' op attribute '{name}' cannot be encoded in bytecode and is dropped"
            print(Diagnostic(gist, op.location, Severity.WARNING).render(), file=sys.stderr)
