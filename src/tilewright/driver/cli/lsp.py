"""`tilewright lsp`: the language server for editors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.bytecode.versions import parse_version
from tilewright.driver.cli.options import VERSIONS, Command, Option
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments

STDIO: Final = "stdio"

COMMAND: Final = Command(
    "lsp",
    "Serve an editor: errors while typing, documentation, definitions, references, completion.",
    "how the editor is connected; only stdio, standard input and output",
    (
        Option(
            "--tile-version",
            choices=VERSIONS,
            default=VERSIONS[-1],
            help=f"report what this version of Tile IR does not have (default: {VERSIONS[-1]})",
        ),
        Option("--stdio", help="the default; some editors pass it"),
    ),
    "The protocol is that of language servers (LSP). It needs pygls: pip install\n"
    "'tilewright[lsp]'. docs/editors.md has the settings of VS Code and Neovim.\n\n"
    "example:\n  tilewright lsp",
    operand="CONNECTION",
    default=STDIO,
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    if arguments.file != STDIO:
        COMMAND.fail(f"expected {STDIO}, found '{arguments.file}'")
    version = parse_version(arguments["tile-version"])
    try:
        from tilewright.driver.lsp.server import serve  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("lsprotocol", "pygls"):
            raise
        raise Unsupported(
            "the language server without pygls: pip install 'tilewright[lsp]'"
        ) from error
    serve(version)
    return 0
