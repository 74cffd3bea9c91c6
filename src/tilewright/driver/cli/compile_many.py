"""`tilewright compile` with several files: compile in parallel into one folder."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from tilewright.driver.batch import Outcome, compile_files, processors
from tilewright.driver.cache import Cache
from tilewright.driver.cli.results import (
    KEPT,
    UNCACHED,
    ignores_records,
    resource_table,
    result_of,
    warn,
)
from tilewright.driver.files import FileError, make_folder, write_output
from tilewright.driver.progress import progress, say
from tilewright.driver.stage_dump import dump_folder
from tilewright.driver.termination import unwinding_on_termination
from tilewright.support.location import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.driver.cli.options import Arguments, Command
    from tilewright.driver.compilation_result import CompilationResult
    from tilewright.driver.settings import Settings

CANNOT_WRITE: Final = 2


def run_many(command: Command, arguments: Arguments, settings: Settings, stage: str) -> int:
    """Compile every file and return the highest exit code."""
    _check(command, arguments, stage)
    files = arguments.files
    outputs = _outputs(command, files, arguments["output"], stage)
    jobs = _jobs(command, arguments["jobs"])
    make_folder(arguments["output"])
    cache = None if arguments.flag("no-cache") or dump_folder() else Cache.default(warn)
    outcomes = compile_files(
        list(outputs), settings, stage,
        jobs=jobs, cache=cache, warn=_say_warning, use_records=not ignores_records(arguments),
    )  # fmt: skip
    codes: list[int] = []
    with unwinding_on_termination():
        for outcome in progress(outcomes, len(outputs)):
            codes.append(_finish(outcome, outputs[outcome.path], arguments.flag("resources")))
    failed = len([code for code in codes if code])
    verdict = f", {failed} failed" if failed else ""
    print(f"{len(codes) - failed} of {len(codes)} files compiled{verdict}", file=sys.stderr)
    return max(codes)


def _check(command: Command, arguments: Arguments, stage: str) -> None:
    for key in (*UNCACHED, "remarks"):
        if arguments.flag(key):
            command.fail(f"option '--{key}': expected one FILE, found {len(arguments.files)}")
    if stage not in KEPT:
        command.fail(f"expected 'ptx' or 'cubin' to be made of several files, found '{stage}'")
    if "-" in arguments.files:
        command.fail("expected files to put the results of into a folder, found standard input")
    if arguments["output"] == "-":
        command.fail("several files need a folder for their results: -o FOLDER")


def _jobs(command: Command, text: str) -> int:
    if not text:
        return processors()
    if not text.isdecimal() or not int(text):
        command.fail(f"option '--jobs': expected a number from 1 on, found '{text}'")
    return int(text)


def _outputs(command: Command, files: Sequence[str], folder: str, stage: str) -> dict[str, str]:
    """Map each input to its output; reject collisions."""
    outputs: dict[str, str] = {}
    taken: dict[str, str] = {}
    for file in dict.fromkeys(files):
        stem = os.path.splitext(os.path.basename(file))[0]
        target = os.path.join(folder, f"{stem}.{stage}")
        if target in taken:
            command.fail(f"both '{taken[target]}' and '{file}' would become '{target}'")
        taken[target] = file
        outputs[file] = target
    return outputs


def _say_warning(message: str) -> None:
    say(f"tilewright: warning: {message}")


def _finish(outcome: Outcome, target: str, resources: bool) -> int:
    """Write the result of a file and report its diagnostics; return its exit code."""
    if outcome.message:
        say(outcome.message.rstrip("\n"))
    if outcome.made is None:
        return outcome.code
    _show(outcome, outcome.made, resources)
    try:
        write_output(target, result_of(outcome.made))
    except FileError as error:
        say(f"tilewright: {error}")
        return CANNOT_WRITE
    return outcome.code


def _show(outcome: Outcome, made: CompilationResult, resources: bool) -> None:
    path = outcome.path
    for remark in (*outcome.remarks, *made.remarks):
        # Remarks of ptxas have no location, so name the file.
        start = f"{path}: " if remark.location is UNKNOWN else ""
        say(f"{start}{remark.render()}")
    if resources:
        say(f"{path}:\n{resource_table(list(made.entries.values()))}")
