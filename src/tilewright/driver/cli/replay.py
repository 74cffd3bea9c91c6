"""`tilewright replay`: run the failing step of a crash kit again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from tilewright.driver.back_end import PASSES
from tilewright.driver.cli.instruments import PassWatch
from tilewright.driver.cli.options import INSTRUMENT_OPTIONS, Command, Option
from tilewright.driver.crash_kits import VARIABLE, crash_folder, newest_kit
from tilewright.driver.replay import CrashKit
from tilewright.support.diagnostics import Sink

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments

NEWEST: Final = "the newest kit"

COMMAND: Final = Command(
    "replay",
    "Run the step of a compilation again that left a crash kit: a pass, LLVM or ptxas.",
    "a folder that an internal error, or a failure of ptxas, has left",
    (
        Option("--from-input", help="run the whole compilation of the program instead"),
        *INSTRUMENT_OPTIONS,
    ),
    f"Kits are in the folder that {VARIABLE} names, by default in the cache folder.\n"
    "The exit code is that of the failure, and 0 if the step does not fail.\n\n"
    "examples:\n"
    "  tilewright replay ~/.cache/tilewright/crashes/licm-0123456789ab\n"
    "  tilewright replay --from-input --verify-each",
    operand="KIT",
    default=NEWEST,
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    folder = arguments.file
    if folder == NEWEST:
        newest = newest_kit()
        if newest is None:
            COMMAND.fail(f"expected a crash kit, and there is none in '{crash_folder()}'")
        folder = newest
    kit = CrashKit(folder)
    watch = PassWatch(COMMAND, arguments)
    instruments = [*watch.instruments, watch.clock]
    if kit.step == PASSES:
        watch.show_pipeline(lambda: kit.pipeline)
    try:
        if arguments.flag("from-input"):
            kit.compile_input(instruments)
            what = "the compilation"
        else:
            kit.replay(instruments)
            what = kit.describe()
    finally:
        watch.report(Sink())
    print(f"{folder}: {what} does not fail", file=sys.stderr)
    return 0
