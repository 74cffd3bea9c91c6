"""`tilewright opt`: run passes on a module."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from tilewright.bytecode.versions import parse_version
from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.api import read_level
from tilewright.driver.assembly import tile_module, with_plain_locations, wrap_in_module
from tilewright.driver.cli.instruments import chosen_instruments, report
from tilewright.driver.cli.options import (
    BYTECODE_VERSION,
    INSTRUMENT_OPTIONS,
    OPT_LEVELS,
    TEXT_OPTIONS,
    Command,
    Option,
    UsageError,
    columns,
    output,
)
from tilewright.driver.files import read_source, write_output
from tilewright.driver.pipelines import LEVELS, PASSES, leaves_tile_ir, parse_pipeline
from tilewright.ir.instruments import Timing
from tilewright.ir.passes import Pipeline
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink, UserError
from tilewright.text.printer import Style, print_op

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments
    from tilewright.ir.operation import Operation

COMMAND: Final = Command(
    "opt",
    "Run passes on a module, text or bytecode, and print the result.",
    "Tile IR text or bytecode, or MLIR text",
    (
        output("the result"),
        Option(
            "--pass",
            metavar="PIPELINE",
            help="passes to run, as `canonicalize,cuda_tile.entry(cse)`; may be repeated",
        ),
        Option(
            "-O",
            choices=OPT_LEVELS,
            default="0",
            help="the passes of an optimization level, before those of --pass (default: 0, none)",
        ),
        Option(
            "--emit",
            choices=("text", "bytecode"),
            default="text",
            help="what to write (default: text)",
        ),
        BYTECODE_VERSION,
        *INSTRUMENT_OPTIONS,
        Option(
            "--allow-unregistered-dialect",
            help="accept operations of unregistered dialects, in generic form",
        ),
        *TEXT_OPTIONS,
    ),
    f"passes:\n{columns(sorted(PASSES))}\n\n"
    "examples:\n  tilewright opt kernel.mlir --pass canonicalize,cse\n"
    "  tilewright opt kernel.tileirbc -O3 --timing -o optimized.tileirbc --emit bytecode",
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    sink = Sink()
    pipeline = _pipeline(arguments, sink)
    data, name = read_source(arguments.file)

    def read() -> Operation:
        module = read_level(data, name, arguments.flag("allow-unregistered-dialect"))
        return wrap_in_module(module) if leaves_tile_ir(pipeline) else module

    module = read()
    verify(module)
    timing = Timing()
    instruments = chosen_instruments(arguments)
    try:
        pipeline.run(module, sink, [*instruments, timing])
    except Exception as error:
        # Loaded only to report a bug.
        from tilewright.driver.crash_kits import is_bug, report_pipeline  # noqa: PLC0415

        if not is_bug(error):
            raise
        reported = report_pipeline(error, pipeline, read, instruments)
        if reported is error:
            raise
        raise reported from error
    finally:
        report(sink)
    verify(module)
    if arguments.flag("timing"):
        print(timing.report(), file=sys.stderr)
    write_output(arguments["output"], _render(module, name, arguments))
    return 0


def _pipeline(arguments: Arguments, sink: Sink) -> Pipeline:
    level = LEVELS[int(arguments["O"])]
    texts = [*([level] if level else []), *arguments.all("pass")]
    try:
        return Pipeline(*(step for text in texts for step in parse_pipeline(text, sink).steps))
    except UserError as error:
        raise UsageError(error.render()) from error


def _render(module: Operation, name: str, arguments: Arguments) -> bytes:
    if arguments["emit"] == "bytecode":
        version = parse_version(arguments["bytecode-version"])
        return write_bytecode(with_plain_locations(tile_module(module, name)), version)
    text = print_op(
        module,
        style=Style(arguments["asm-style"]),
        debug=arguments.flag("print-debug-info"),
        generic=arguments.flag("generic"),
    )
    return text.encode()
