"""`tilewright tune`: try schedules of a kernel, and keep the best one for later compilations."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from tilewright.driver.cli.compile import TENSOR_MAPS
from tilewright.driver.cli.kernel_arguments import KERNEL_OPTIONS, KernelArguments
from tilewright.driver.cli.options import Command, Option
from tilewright.driver.cli.results import warn
from tilewright.driver.files import read_source, write_line
from tilewright.driver.process import INTERRUPTED
from tilewright.driver.progress import Bar, say
from tilewright.driver.tuning.records import EMULATOR, GPU, METERS
from tilewright.driver.tuning.report import as_json, table
from tilewright.driver.tuning.tune import Tuning
from tilewright.target.arch import ARCHES

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments
    from tilewright.driver.tuning.tuner import Tuner

LIMIT: Final = "60"

COMMAND: Final = Command(
    "tune",
    "Try schedules of a kernel (stages, warps, warp specialization, ...), and keep the best one:\n"
    "later compilations of the kernel use it.",
    "Tile IR text or bytecode, or text of nv_tileaa",
    (
        *(option for option in KERNEL_OPTIONS if option.key in ("entry", "grid", "arg")),
        Option(
            "--meter",
            choices=METERS,
            default=GPU,
            help="measure time on the GPU (default), or count instructions, bank conflicts and "
            "sectors of memory on the PTX emulator: no time, but the same on every machine",
        ),
        Option(
            "--limit",
            metavar="SECONDS",
            default=LIMIT,
            help=f"start no more candidates after this time (default: {LIMIT})",
        ),
        Option("--arch", metavar="GPU", help="GPU to compile for (default: the one that measures)"),
        TENSOR_MAPS,
        Option("-j", "--jobs", metavar="N", help="how many compilations at once (default: cores)"),
        Option(
            "--ray",
            metavar="ADDRESS",
            help="compile and measure on the Ray cluster at an address, or on one that is started "
            "on this machine: local (needs tilewright[tune])",
        ),
        Option("--rtol", metavar="X", help="relative tolerance of results (default: rounding)"),
        Option("--atol", metavar="X", help="absolute tolerance of results (default: rounding)"),
        Option("--json", help="print JSON instead of a table"),
        Option("--no-store", help="do not keep the best schedule"),
    ),
    "The kernel is launched many times on the same arrays. The results of each schedule are\n"
    "compared with those of the reference executor, or if the arrays are large, with those of the\n"
    "compiler's own choice. The best schedule is stored in the cache (`tilewright cache tuned`)\n"
    "for this kernel, GPU and version of the compiler. `tilewright compile`, `tileiras`, cuTile\n"
    "and `tilewright run --on gpu` use it; `tilewright compile --no-tuned` does not, and\n"
    "--schedule goes first. Ctrl-C prints what was measured, and stores nothing.\n\n"
    "examples:\n"
    "  tilewright tune gemm.mlir --grid 32x32 --arg random:4096x4096xf16:1 "
    "--arg random:4096x4096xf16:2 --arg zeros:4096x4096xf32 --arg 4096 --arg 4096 --arg 4096\n"
    "  tilewright tune add.mlir --meter emulator --grid 4 --arg random:64xf32:1 "
    "--arg ones:64xf32 --arg zeros:64xf32 --arg 64\n"
    "  tilewright tune kernel.tileirbc --grid 8 --arg x.npy --limit 300 --ray auto --json",
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    data, name = read_source(arguments.file)
    tuning = _tuning(arguments, data, name)
    progress = Progress(is_quiet=arguments.flag("json"))
    is_interrupted = False
    try:
        tuning.run(progress)
    except KeyboardInterrupt:
        is_interrupted = True
    finally:
        progress.end()
        tuning.close()
    if tuning.tuner is None:
        return INTERRUPTED
    stored = not is_interrupted and not arguments.flag("no-store") and tuning.store(warn)
    if arguments.flag("json"):
        write_line(as_json(tuning.tuner, tuning.device, stored=stored))
    else:
        _show(tuning, stored=stored, is_interrupted=is_interrupted)
    return INTERRUPTED if is_interrupted else 0


def _tuning(arguments: Arguments, data: bytes, name: str) -> Tuning:
    """The request of a command line."""
    kernel = KernelArguments(COMMAND, arguments)
    arch = arguments["arch"]
    if arch and arch not in ARCHES:
        COMMAND.fail(f"option '--arch': expected one of {', '.join(ARCHES)}, found '{arch}'")
    return Tuning(
        data,
        name,
        arguments["entry"] or None,
        kernel.numbers("grid", arguments["grid"]),
        kernel.values,
        meter=arguments["meter"],
        limit=_number(arguments, "limit"),
        arch=arch,
        tensor_maps=arguments["tensor-maps"],
        jobs=_jobs(arguments["jobs"]),
        ray=arguments["ray"],
        rtol=_number(arguments, "rtol") if arguments["rtol"] else None,
        atol=_number(arguments, "atol") if arguments["atol"] else None,
    )


def _number(arguments: Arguments, key: str) -> float:
    try:
        number = float(arguments[key])
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        COMMAND.fail(f"option '--{key}': expected a number from 0 on, found '{arguments[key]}'")
    return number


def _jobs(text: str) -> int | None:
    if text and (not text.isdecimal() or not int(text)):
        COMMAND.fail(f"option '--jobs': expected a number from 1 on, found '{text}'")
    return int(text) if text else None


def _show(tuning: Tuning, *, stored: bool, is_interrupted: bool) -> None:
    tuner = tuning.tuner
    assert tuner is not None
    if not tuner.rows:
        return
    write_line(table(tuner))
    if tuner.job.meter == EMULATOR:
        write_line("these are counts of the PTX emulator, no times")
    taken = f"{len(tuner.measured())} measured, {len(tuner.rows)} tried in {tuner.seconds:.1f} s"
    end = "" if tuner.is_complete else ", then the limit was reached"
    write_line(f"{taken}{', interrupted' if is_interrupted else end}, on {tuning.device.name}")
    if stored:
        write_line(_stored(tuner))
    elif not is_interrupted and tuning.reason:
        write_line(f"not stored: {tuning.reason}")


def _stored(tuner: Tuner) -> str:
    assert tuner.winner is not None
    kernel = f"'@{tuner.job.entry}' for {tuner.job.arch}"
    if not tuner.winner.schedule:
        return f"stored: {kernel} is best as the compiler chooses"
    return f"stored: later compilations of {kernel} use '{tuner.winner.schedule}'"


class Progress:
    """The progress of a search: a bar on a terminal, else a line for each set of candidates.

    Schedules are counted from the start of the search, the compiler's own choice included.
    """

    __slots__ = ("_bar", "_is_quiet", "_is_terminal", "_tried")

    def __init__(self, *, is_quiet: bool) -> None:
        self._bar = Bar("schedules")
        self._tried = 1
        self._is_quiet = is_quiet
        self._is_terminal = sys.stderr.isatty()

    def __call__(self, done: int, count: int) -> None:
        """Show how many candidates of the current set are done."""
        if self._is_terminal:
            self._bar(self._tried + done, self._tried + count)
        if done == count:
            self._tried += count
            if not self._is_terminal and not self._is_quiet:
                say(f"{self._tried} schedules tried so far")

    def end(self) -> None:
        """End the line of the bar."""
        self._bar.end()
