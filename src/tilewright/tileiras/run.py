"""`tileiras`: compile a bytecode file to a cubin, with the exit codes of NVIDIA's compiler."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tilewright import __version__
from tilewright.bytecode.opcodes import MAGIC, MLIR_MAGIC
from tilewright.bytecode.versions import KNOWN, NEWEST, VERSIONS, spell
from tilewright.driver.files import is_bytecode, read_input, write_line, write_output
from tilewright.driver.tool_options import Asked
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import (
    Diagnostic,
    Error,
    InternalError,
    Severity,
    Unsupported,
)
from tilewright.support.identity import identity
from tilewright.tileiras.command_line import GPUS, OPT_LEVELS, TITLE, YAML, help_text, read_job
from tilewright.tileiras.messages import message

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from tilewright.dialects.cuda_tile.structure import ModuleOp
    from tilewright.driver.cache import Warn
    from tilewright.driver.compilation_result import CompilationResult
    from tilewright.driver.settings import Settings
    from tilewright.support.remarks import Remark
    from tilewright.tileiras.command_line import Job, RemarkOptions

OK: Final = 0
WRONG_USAGE: Final = 1
WRONG_SETTINGS: Final = 2
WRONG_INPUT: Final = 3
FAILED: Final = 5


class Rejected(Exception):
    """The input is rejected; carries the message and the exit code."""

    def __init__(self, code: int, text: str) -> None:
        self.code = code
        super().__init__(text)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    try:
        with CollectorPause():
            return _run(sys.argv[1:] if argv is None else argv)
    except Rejected as refused:
        print(refused, file=sys.stderr)
        return refused.code
    except BrokenPipeError:
        return OK  # the reader of our output has closed the pipe
    except Exception as error:
        return _our_bug(error)


def _answer(question: str) -> str:
    if question == "list-versions":
        return "\n".join(map(spell, VERSIONS))
    return version_text() if question == "version" else help_text(question)


def version_text() -> str:
    """Return the version with a digest: front ends key their cubin caches by this text."""
    from hashlib import sha256  # noqa: PLC0415

    from tilewright.emit.toolchain import toolchain_stamp  # noqa: PLC0415
    from tilewright.support.schedule_keys import VARIABLE  # noqa: PLC0415

    stamp = toolchain_stamp().encode("utf-8", "surrogateescape")
    schedule = os.environ.get(VARIABLE)
    records = _records_stamp()
    # Front ends parse a number of this form to detect the supported Tile IR version.
    tile_ir = f"Tile IR V{spell(NEWEST)}.0"
    lines = (
        TITLE,
        f"Version {__version__}",
        f"Digest {identity()}",
        f"LLVM and ptxas {sha256(stamp).hexdigest()[:16]}",
        *([f"Schedule {schedule}"] if schedule else []),
        *([f"Tuned {records}"] if records else []),
        tile_ir,
    )
    return "\n".join(lines)


def _records_stamp() -> str:
    from tilewright.emit.toolchain import has_records  # noqa: PLC0415

    if not has_records():
        return ""
    from tilewright.driver.tuning.records import records_stamp  # noqa: PLC0415

    return records_stamp()


def _our_bug(error: Exception) -> int:
    from tilewright.driver.cli import REPORT  # noqa: PLC0415

    sys.excepthook(type(error), error, error.__traceback__)
    print(REPORT, file=sys.stderr)
    print(bug_text(error), file=sys.stderr)
    return FAILED


def bug_text(error: Exception) -> str:
    """Format an internal error."""
    from tilewright.tileiras.messages import with_location  # noqa: PLC0415

    text = (
        f"error: internal error of Tilewright {__version__}: {str(error) or type(error).__name__}"
    )
    return with_location(error.location, text) if isinstance(error, InternalError) else text


def _run(arguments: Sequence[str]) -> int:
    try:
        job = read_job(arguments)
    except Asked as asked:
        _say(_answer(asked.name))
        return OK
    if job is None:
        return WRONG_USAGE
    perform(job)
    return OK


def _say(text: str) -> None:
    with _failing(WRONG_USAGE):
        write_line(text)


def perform(job: Job) -> None:
    """Compile one file; raises `Rejected`."""
    data = _input(job)
    _check(job)
    made = _compile(job, data)
    with _failing(WRONG_SETTINGS):
        write_output(job.output, made)


@contextmanager
def _failing(code: int) -> Generator[None]:
    """Turn errors into `Rejected` with an exit code; what is not supported fails to compile."""
    try:
        yield
    except Unsupported as error:
        raise Rejected(FAILED, message(error.diagnostics)) from None
    except Error as error:
        raise Rejected(code, message(error.diagnostics)) from None


def _input(job: Job) -> bytes:
    """Read the input and check its magic number and version."""
    if not job.file:
        _say(help_text())
        raise Rejected(WRONG_USAGE, "error: no input file provided")
    with _failing(WRONG_USAGE):
        # `-` is standard output, but an input of that name is a file.
        data, _ = read_input("./-" if job.file == "-" else job.file)
    if not is_bytecode(data):
        hint = " (it looks like MLIR bytecode instead)" if data.startswith(MLIR_MAGIC) else ""
        text = f"error: input does not correspond to Tile IR bytecode{hint}"
        raise Rejected(WRONG_INPUT, text)
    version = tuple(data[len(MAGIC) :][:2])
    if version not in KNOWN:
        known = ", ".join(map(spell, KNOWN))
        actual = ".".join(map(str, version)) or "none"
        text = f"error: expected a Tile IR bytecode version ({known}), found {actual}"
        raise Rejected(WRONG_INPUT, text)
    return data


def _check(job: Job) -> None:
    """Reject incompatible options."""
    if not job.gpu:
        raise Rejected(
            WRONG_SETTINGS, f"error: expected --gpu-name with one of {', '.join(GPUS)}, found none"
        )
    if job.opt_level not in OPT_LEVELS:
        levels = f"{OPT_LEVELS[0]} to {OPT_LEVELS[-1]}"
        text = f"error: expected an optimization level from {levels}, found {job.opt_level}"
        raise Rejected(WRONG_SETTINGS, text)
    if job.device_debug and job.opt_level:
        raise Rejected(
            WRONG_SETTINGS,
            "error: --device-debug needs -O0: optimized code has no variables to look at",
        )
    with _failing(FAILED):
        if job.preview:
            raise Unsupported(f"preview feature '{job.preview}'")
        if job.library:
            raise Unsupported(f"library of foreign functions '{job.library}'")


def _compile(job: Job, data: bytes) -> bytes:
    """Return the cubin, from the cache or compiled."""
    from tilewright.driver.cache import cached  # noqa: PLC0415
    from tilewright.driver.schedules import environment_schedule  # noqa: PLC0415
    from tilewright.driver.settings import Settings  # noqa: PLC0415
    from tilewright.driver.tuning.lookup import compile_tuned, tuned  # noqa: PLC0415
    from tilewright.support.schedule_keys import ENVIRONMENT  # noqa: PLC0415
    from tilewright.target.arch import ARCHES  # noqa: PLC0415

    with _failing(WRONG_SETTINGS):
        schedule = environment_schedule()
    settings = Settings(
        ARCHES[job.gpu],
        job.opt_level,
        job.line_info,
        job.device_debug,
        job.sanitize,
        schedule,
        schedule_source=ENVIRONMENT,
    )

    def warn(text: str) -> None:
        # About this machine, not about the program: never an error.
        if not job.no_warnings:
            print(f"warning: {text}", file=sys.stderr)

    def attempt(settings: Settings) -> tuple[CompilationResult, list[Remark]]:
        if job.remarks.wanted:
            return _with_remarks(job, data, settings, warn)
        make = lambda: _made(job, data, settings)  # noqa: E731
        return cached(data, job.file, settings, "cubin", make, warn), []

    (made, remarks), choice = compile_tuned(tuned(settings, data, job.file), attempt, Rejected)
    _show_warnings(job, made.remarks)
    if job.remarks.wanted:
        _show(job.remarks, [*choice.remarks, *remarks])
    assert made.cubin is not None
    return made.cubin


def _show_warnings(job: Job, diagnostics: list[Diagnostic]) -> None:
    """Print the warnings among the diagnostics; with `--Werror` they are errors."""
    warnings = [each for each in diagnostics if each.severity is Severity.WARNING]
    if not warnings or job.no_warnings:
        return
    if job.warnings_as_errors:
        errors = [Diagnostic(each.message, each.location, notes=each.notes) for each in warnings]
        raise Rejected(FAILED, message(errors))
    print(message(warnings), file=sys.stderr)


def _with_remarks(
    job: Job, data: bytes, settings: Settings, warn: Warn
) -> tuple[CompilationResult, list[Remark]]:
    """Return the result and all remarks, from the cache or compiled."""
    from tilewright.driver.remarks import cached_remarks  # noqa: PLC0415

    make = lambda: _remarked(job, data, settings)  # noqa: E731
    return cached_remarks(data, job.file, settings, "cubin", make, warn)


def _made(job: Job, data: bytes, settings: Settings) -> CompilationResult:
    """Compile a program to a cubin; loads the compiler."""
    module, warnings = _program(job, data)
    from tilewright.driver.compile import Compilation  # noqa: PLC0415

    with _failing(FAILED):
        compilation = Compilation(module, settings, source=_reader(job, data))
        compilation.observers.sink.diagnostics += warnings
        compilation.dumped_to("cubin")
        return compilation.result()


def _remarked(job: Job, data: bytes, settings: Settings) -> tuple[CompilationResult, list[Remark]]:
    """Compile a program to a cubin and collect its remarks."""
    module, warnings = _program(job, data)
    from tilewright.driver.compile_remarks import compile_with_remarks  # noqa: PLC0415

    with _failing(FAILED):
        return compile_with_remarks(module, settings, warnings, _reader(job, data))


def _reader(job: Job, data: bytes) -> Callable[[], ModuleOp]:
    """Return a function that reads the program anew."""
    from tilewright.bytecode.reader import read_bytecode  # noqa: PLC0415

    return lambda: read_bytecode(data, job.file)


def _program(job: Job, data: bytes) -> tuple[ModuleOp, list[Diagnostic]]:
    """Read and verify the program; return it with the warnings about it."""
    # Start the LLVM process early, so that it loads while the passes run.
    from tilewright.emit.service import pool  # noqa: PLC0415

    pool().warm()
    from tilewright.bytecode.reader import read_bytecode  # noqa: PLC0415
    from tilewright.ir.verifier import verify  # noqa: PLC0415

    with _failing(WRONG_INPUT):
        module = read_bytecode(data, job.file)
        return module, verify(module)


def _show(options: RemarkOptions, remarks: list[Remark]) -> None:
    """Write the requested remarks."""
    from tilewright.tileiras.remarks import as_text, as_yaml, select  # noqa: PLC0415

    chosen = select(remarks, options.categories)
    text = as_yaml(chosen) if options.form == YAML else as_text(chosen)
    with _failing(WRONG_INPUT):
        # Names in a program may contain bytes that are not UTF-8.
        target = options.file if options.form == YAML else "-"
        write_output(target, text.encode("utf-8", "backslashreplace"))
