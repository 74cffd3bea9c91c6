"""`tilewright verify`: check a module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.bytecode.versions import parse_version
from tilewright.dialects.cuda_tile.versions import version_problems
from tilewright.driver.api import read_level
from tilewright.driver.cli.options import VERSIONS, Command, Option
from tilewright.driver.files import read_source
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments

COMMAND: Final = Command(
    "verify",
    "Check a program of any level, and report every error. Silent when all is well.",
    "Tile IR text or bytecode, or text of nv_tileaa, nv_tileas, gpu, nvgpu, nvvm or llvm",
    (
        Option(
            "--tile-version",
            choices=VERSIONS,
            default=VERSIONS[-1],
            help=f"report what this version of Tile IR does not have (default: {VERSIONS[-1]})",
        ),
    ),
    "example:\n  tilewright verify kernel.mlir --tile-version 13.1",
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    module = read_level(*read_source(arguments.file), every_error=True)
    verify(module)
    problems = tuple(version_problems(module, parse_version(arguments["tile-version"])))
    if problems:
        raise UserError(problems)
    return 0
