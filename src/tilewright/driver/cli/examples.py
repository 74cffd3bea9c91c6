"""`tilewright examples`: list, print or copy the example kernels."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from tilewright.driver.cli.options import Command, Option
from tilewright.driver.examples import EXAMPLES, read_example
from tilewright.driver.files import make_folder, write_line, write_output

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments

ALL: Final = "all"

COMMAND: Final = Command(
    "examples",
    "List the example kernels, or print or copy them.",
    f"the example to print; {ALL}: list them, or with -o copy all",
    (
        Option(
            "-o",
            "--output",
            metavar="FILE",
            default="-",
            help="where to write the example; of all, the folder to copy them to",
        ),
    ),
    "examples:\n"
    "  tilewright examples\n"
    "  tilewright examples -o examples\n"
    "  tilewright examples gemm.mlir -o gemm.mlir",
    operand="NAME",
    default=ALL,
    words=(ALL, *EXAMPLES),
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    name, target = arguments.file, arguments["output"]
    if name in EXAMPLES:
        write_output(target, read_example(name))
        return 0
    if name != ALL:
        COMMAND.fail(f"expected {', '.join(EXAMPLES)} or {ALL}, found '{name}'")
    if target == "-":
        write_line("\n".join(f"{each:<10} {summary}" for each, summary in EXAMPLES.items()))
        return 0
    make_folder(target)
    for each in EXAMPLES:
        write_output(os.path.join(target, each), read_example(each))
    return 0
