"""`tilewright opt`: run passes on a module."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.versions import parse_version
from tilewright.bytecode.writer import write_bytecode
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.assembly import decode_text, parse_any
from tilewright.driver.cli.options import (
    VERSIONS,
    add_input,
    add_output,
    add_text_options,
    command_parser,
)
from tilewright.driver.files import is_bytecode, read_input, write_output
from tilewright.driver.pipelines import LEVELS, PASSES, parse_pipeline
from tilewright.ir.instruments import EVERY, PrintEach, Timing, VerifyEach
from tilewright.ir.passes import Pipeline
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Severity, Sink, fail
from tilewright.text.printer import Style, print_op

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.passes import Instrument


def run(arguments: Sequence[str]) -> int:
    """Run the subcommand."""
    options = _parser().parse_args(arguments)
    pipelines = [LEVELS[options.level]] if options.level else []
    pipelines += options.passes
    steps = [step for text in pipelines for step in parse_pipeline(text).steps]
    data, name = read_input(options.file)
    module = _read(data, name, options.allow_unregistered_dialect)
    verify(module)
    timing = Timing()
    sink = Sink()
    try:
        Pipeline(*steps).run(module, sink, _instruments(options, timing))
    finally:
        for diagnostic in sink.diagnostics:
            if diagnostic.severity is not Severity.ERROR:
                print(diagnostic.render(), file=sys.stderr)
    verify(module)
    if options.timing:
        print(timing.report(), file=sys.stderr)
    write_output(options.output, _render(module, options))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "opt",
        "Run passes on a module, text or bytecode, and print what comes out.",
        f"passes:\n  {', '.join(PASSES)}\n\n"
        "examples:\n  tilewright opt kernel.mlir --pass canonicalize,cse\n"
        "  tilewright opt kernel.tileirbc -O3 --timing -o optimized.tileirbc --emit bytecode",
    )
    add_input(parser, "a module: Tile IR text or bytecode, or MLIR text of any dialect we know")
    add_output(parser, "the result")
    parser.add_argument(
        "--pass",
        action="append",
        default=[],
        dest="passes",
        metavar="PIPELINE",
        help="passes to run, for example `canonicalize,cuda_tile.entry(cse)`; may be repeated",
    )
    parser.add_argument("-O", type=int, choices=range(4), default=0, dest="level", help="level")
    parser.add_argument(
        "--emit", choices=("text", "bytecode"), default="text", help="what to write"
    )
    parser.add_argument("--bytecode-version", choices=VERSIONS, default=VERSIONS[-1])
    parser.add_argument("--verify-each", action="store_true", help="verify after every pass")
    parser.add_argument("--print-after-all", action="store_true", help="print after every pass")
    parser.add_argument("--timing", action="store_true", help="print how long each pass took")
    parser.add_argument(
        "--allow-unregistered-dialect",
        action="store_true",
        help="take operations of dialects that we do not know, in generic form",
    )
    add_text_options(parser)
    return parser


def _read(data: bytes, name: str, allow_unregistered: bool) -> Operation:
    if is_bytecode(data):
        return read_bytecode(data, name)
    return parse_any(decode_text(data, name), name, allow_unregistered)


def _instruments(options: argparse.Namespace, timing: Timing) -> list[Instrument]:
    chosen: list[Instrument] = []
    if options.print_after_all:
        chosen.append(PrintEach(print_op, sys.stderr.write, after=EVERY))
    if options.verify_each:
        chosen.append(VerifyEach())
    return [*chosen, timing]


def _render(module: Operation, options: argparse.Namespace) -> bytes:
    if options.emit == "text":
        style = Style(options.asm_style)
        return print_op(module, style=style, debug=options.debug, generic=options.generic).encode()
    if not isinstance(module, ModuleOp):
        fail(f"expected a cuda_tile module to write bytecode, found '{module.name}'")
    return write_bytecode(module, parse_version(options.bytecode_version))
