"""`tilewright reduce`: shrink a program while a test command exits with 0."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tilewright.driver.cli.options import Command, Option, output, parse_timeout
from tilewright.driver.crash_kits import FACTS, MODULE
from tilewright.driver.files import is_bytecode, read_source, write_output
from tilewright.driver.process import INTERRUPTED
from tilewright.driver.reduction.commands import FILE, CommandTest
from tilewright.driver.reduction.engine import Candidate, Reducer
from tilewright.driver.reduction.programs import reducer_of
from tilewright.driver.replay import CrashKit
from tilewright.support.diagnostics import fail
from tilewright.support.location import FileLoc
from tilewright.support.temporary import temporary_folder

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments

DEFAULT_TIMEOUT: Final = 60.0

COMMAND: Final = Command(
    "reduce",
    "Shrink a program, text or bytecode of any level, while a test calls it interesting.",
    "Tile IR text or bytecode, text of any level below it, or a crash kit, whose test is that its "
    "step fails as before",
    (
        output("the smallest program"),
        Option(
            "--test",
            metavar="CMD",
            help=f"a command that exits with 0 if the program is interesting; {FILE} in it is the "
            "file, which is the last argument otherwise",
        ),
        Option(
            "--timeout",
            metavar="SECONDS",
            help=f"programs are not interesting if CMD takes longer (default: {DEFAULT_TIMEOUT:g})",
        ),
        Option("--keep-arguments", help="keep the arguments of kernels, for tests that run them"),
    ),
    "Only valid programs are tried. Progress goes to standard error; a file that -o names has the\n"
    "smallest program at any time, also after Ctrl-C.\n\n"
    "examples:\n"
    "  tilewright reduce add.mlir -o small.mlir --test 'grep -q addf'\n"
    "  tilewright reduce kernel.tileirbc -o small.tileirbc \\\n"
    "    --test 'tilewright dis {} | grep -q store'\n"
    "  tilewright reduce ~/.cache/tilewright/crashes/licm-0123456789ab -o small.mlir",
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    path = arguments.file
    kit = CrashKit(path) if os.path.isfile(os.path.join(path, FACTS)) else None
    if kit is None and not arguments["test"]:
        COMMAND.fail("expected --test CMD, or a crash kit")
    data, name = read_source(path if kit is None else kit.path(MODULE))
    timeout = parse_timeout(COMMAND, arguments) or DEFAULT_TIMEOUT
    with temporary_folder("reduced programs") as folder:
        if arguments["test"]:
            suffix = ".tileirbc" if is_bytecode(data) else ".mlir"
            file = os.path.join(folder, f"reduced{suffix}")
            test = CommandTest(arguments["test"], file, timeout)
        else:
            assert kit is not None
            test = KitTest(kit)
        return _reduce(arguments["output"], data, name, test, arguments.flag("keep-arguments"))


class KitTest:
    """Runs the failing step of a crash kit on each candidate."""

    __slots__ = ("_kit",)

    def __init__(self, kit: CrashKit) -> None:
        self._kit = kit

    def __call__(self, candidate: Candidate) -> bool:
        """Whether the step fails as it did."""
        return self._kit.fails_alike(candidate.module.clone())


def _reduce(
    target: str,
    data: bytes,
    name: str,
    test: Callable[[Candidate], bool],
    keep_arguments: bool,
) -> int:
    def accepted(reducer: Reducer) -> None:
        _say(f"{reducer.size.operations} operations, {reducer.size.bytes} bytes: ", reducer)
        if target != "-":
            write_output(target, reducer.best.data)

    reducer = reducer_of(data, name, test, accepted, keep_arguments=keep_arguments)
    if reducer is None:
        fail(f"nothing to reduce: {_reason(test)}", FileLoc(name, 1, 1))
    before = reducer.size.operations
    try:
        reducer.run()
        code = 0
    except KeyboardInterrupt:
        code = INTERRUPTED
    after = reducer.size.operations
    print(f"{before} operations to {after}, {reducer.tests} tests", file=sys.stderr)
    write_output(target, reducer.best.data)
    return code


def _reason(test: Callable[[Candidate], bool]) -> str:
    if isinstance(test, CommandTest):
        return f"the command exits with {test.code}, and 0 means that the program is interesting"
    return "the step of the crash kit does not fail as it did"


def _say(start: str, reducer: Reducer) -> None:
    print(f"{start}{reducer.strategy} (test {reducer.tests})", file=sys.stderr, flush=True)
