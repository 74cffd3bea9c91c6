"""`tilewright opt`: run passes on a module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.bytecode.versions import parse_version
from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.api import read_level
from tilewright.driver.assembly import (
    decode_text,
    tile_module,
    with_plain_locations,
    wrap_in_module,
)
from tilewright.driver.cli import report_error
from tilewright.driver.cli.instruments import PassWatch, report
from tilewright.driver.cli.options import (
    BYTECODE_VERSION,
    HELP_NAMES,
    INSTRUMENT_OPTIONS,
    OPT_LEVELS,
    TEXT_OPTIONS,
    Command,
    Option,
    UsageError,
    columns,
    output,
)
from tilewright.driver.cli.split_input import SEPARATOR, split_input
from tilewright.driver.files import is_bytecode, read_source, write_output
from tilewright.driver.pipelines import (
    LEVELS,
    PASSES,
    leaves_tile_ir,
    parse_pipeline,
    pipeline_lines,
)
from tilewright.ir.passes import Pipeline
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Diagnostic, Error, Severity, Sink, UserError
from tilewright.text.printer import Style, print_op

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments
    from tilewright.ir.operation import Operation


ALL_PASSES: Final = "--help-passes"


def _topic(word: str) -> str | None:
    # Loaded only to print help.
    from tilewright.driver.cli.pass_help import all_passes_text, pass_text  # noqa: PLC0415

    return all_passes_text() if word == ALL_PASSES else pass_text(word)


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
            "--split-input-file",
            help="the file has several programs, separated by lines `// -----`",
        ),
        Option(
            "--verify-diagnostics",
            help="check that the diagnostics are those of comments such as "
            "`// expected-error@+1 {{text}}`",
        ),
        Option(
            "--allow-unregistered-dialect",
            help="accept operations of unregistered dialects, in generic form",
        ),
        Option(ALL_PASSES, help="describe every pass and its options, and exit"),
        *TEXT_OPTIONS,
    ),
    f"passes (`tilewright opt --help PASS` describes one):\n{columns(sorted(PASSES))}\n\n"
    "examples:\n  tilewright opt kernel.mlir --pass canonicalize,cse\n"
    "  tilewright opt kernel.tileirbc -O3 --timing -o optimized.tileirbc --emit bytecode\n"
    "  tilewright opt kernel.mlir -O3 --print-changed=diff --statistics\n"
    "  tilewright opt --help loop-split",
    topic=_topic,
    help_names=(*HELP_NAMES, ALL_PASSES),
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    _check(arguments)
    sink = Sink()
    pipeline = _pipeline(arguments, sink)
    report(sink)
    data, name = read_source(arguments.file)
    programs = _programs(data, name, arguments)
    results: list[bytes] = []
    code = 0
    for program in programs:
        try:
            results += _optimized(program, name, pipeline, arguments)
        except Error as error:
            if len(programs) == 1:
                raise
            code = max(code, report_error(error))
    if not code:
        write_output(arguments["output"], SEPARATOR.encode().join(results))
    return code


def _check(arguments: Arguments) -> None:
    """Reject options that exclude each other."""
    if arguments["emit"] == "bytecode" and arguments.flag("split-input-file"):
        COMMAND.fail("option '--split-input-file': expected text to be written, found bytecode")


def _programs(data: bytes, name: str, arguments: Arguments) -> list[bytes | str]:
    """The programs of the input file."""
    given = [key for key in ("split-input-file", "verify-diagnostics") if arguments.flag(key)]
    if not given:
        return [data]
    if is_bytecode(data):
        COMMAND.fail(f"option '--{given[0]}': expected a file of text, found bytecode")
    text = decode_text(data, name)
    return [*split_input(text)] if arguments.flag("split-input-file") else [text]


def _optimized(
    program: bytes | str, name: str, pipeline: Pipeline, arguments: Arguments
) -> list[bytes]:
    """Run the passes on one program.

    Returns its text or bytecode; nothing if it has an error that `--verify-diagnostics` expects.
    """
    if not arguments.flag("verify-diagnostics"):
        sink = Sink()
        try:
            return [_run_passes(program, name, pipeline, arguments, sink)]
        finally:
            report(sink)
    # Loaded only by tests of diagnostics.
    from tilewright.driver.expected_diagnostics import check_diagnostics, read_expected  # noqa: PLC0415

    assert isinstance(program, str)
    expected = read_expected(program, name)
    sink = Sink(remarks=True)
    results: list[bytes] = []
    errors: tuple[Diagnostic, ...] = ()
    try:
        results.append(_run_passes(program, name, pipeline, arguments, sink))
    except Error as error:
        errors = error.diagnostics
    others = [each for each in sink.diagnostics if each.severity is not Severity.ERROR]
    problems = check_diagnostics(expected, [*others, *errors], sink.remarks, name)
    if problems:
        raise UserError(problems)
    return results


def _run_passes(
    program: bytes | str, name: str, pipeline: Pipeline, arguments: Arguments, sink: Sink
) -> bytes:
    watch = PassWatch(COMMAND, arguments)

    def read() -> Operation:
        module = read_level(program, name, arguments.flag("allow-unregistered-dialect"))
        return wrap_in_module(module) if leaves_tile_ir(pipeline) else module

    module = read()
    sink.diagnostics += verify(module)
    watch.show_pipeline(lambda: pipeline_lines(pipeline))
    try:
        pipeline.run(module, sink, [*watch.instruments, watch.clock])
    except Exception as error:
        # Loaded only to report a bug.
        from tilewright.driver.crash_kits import is_bug, report_pipeline  # noqa: PLC0415

        if not is_bug(error):
            raise
        reported = report_pipeline(error, pipeline, read, watch.instruments)
        if reported is error:
            raise
        raise reported from error
    verify(module)
    watch.report(sink)
    return _render(module, name, arguments)


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
