"""`tilewright verify`: check a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.bytecode.versions import parse_version
from tilewright.dialects.cuda_tile.versions import version_problems
from tilewright.driver.api import read_unverified
from tilewright.driver.cli.options import VERSIONS, add_input, command_parser
from tilewright.driver.files import read_input
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(arguments: Sequence[str]) -> int:
    """Run the subcommand."""
    parser = command_parser(
        "verify",
        "Check a Tile IR module, text or bytecode, and report every error. Silent when all is well.",
        "example:\n  tilewright verify kernel.mlir --tile-version 13.1",
    )
    add_input(parser, "Tile IR text or bytecode")
    parser.add_argument(
        "--tile-version",
        choices=VERSIONS,
        default=VERSIONS[-1],
        help="also report what this version of Tile IR does not have (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    module = read_unverified(*read_input(options.file))
    verify(module)
    problems = tuple(version_problems(module, parse_version(options.tile_version)))
    if problems:
        raise UserError(problems)
    return 0
