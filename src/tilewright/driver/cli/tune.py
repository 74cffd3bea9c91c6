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
from tilewright.driver.tuning.records import GPU, METERS, MODEL
from tilewright.driver.tuning.report import as_json, options_text, pruned, table
from tilewright.driver.tuning.rows import MEASURED, PREDICTED
from tilewright.driver.tuning.tune import MODEL_ARCH, Tuning
from tilewright.driver.tuning.tuner import TRIED
from tilewright.target.arch import ARCHES

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments
    from tilewright.driver.tuning.job import Device
    from tilewright.driver.tuning.tuner import Tuner

LIMIT: Final = "60"
FORMER_METERS: Final = {"emulator": MODEL}
"""Deprecated values of `--meter`, with what they mean now."""

COMMAND: Final = Command(
    "tune",
    "Try schedules of a kernel (stages, warps, warp specialization, ...), and keep the best one:\n"
    "later compilations of the kernel use it.",
    "Tile IR text or bytecode, or text of nv_tileaa",
    (
        *(option for option in KERNEL_OPTIONS if option.key in ("entry", "grid", "arg")),
        Option(
            "--meter",
            choices=(*METERS, *FORMER_METERS),
            default=GPU,
            help="measure time on the GPU (default), or predict it with the cost model, which "
            "needs no GPU; emulator: deprecated, the same as model",
        ),
        Option(
            "--top",
            metavar="N",
            help="measure only the N schedules that the cost model predicts to be fastest, and the "
            "compiler's own choice (default: all)",
        ),
        Option(
            "--no-check",
            help="do not compare results; with --meter model, do not run kernels on the emulator",
        ),
        Option(
            "--limit",
            metavar="SECONDS",
            default=LIMIT,
            help=f"start no more candidates after this time (default: {LIMIT})",
        ),
        Option(
            "--arch",
            metavar="GPU",
            help="GPU to compile for (default: the one that measures; with --meter model "
            f"{MODEL_ARCH})",
        ),
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
        Option("--store", help="keep the best schedule also if it is only predicted"),
        Option("--no-store", help="do not keep the best schedule"),
    ),
    "The kernel is launched many times on the same arrays. The results of each schedule are\n"
    "compared with those of the reference executor, or if the arrays are large, with those of the\n"
    "compiler's own choice. The best schedule is stored in the cache (`tilewright cache tuned`)\n"
    "for this kernel, GPU and version of the compiler. `tilewright compile`, `tileiras`, cuTile\n"
    "and `tilewright run --on gpu` use it; `tilewright compile --no-tuned` does not, and\n"
    "--schedule goes first. Ctrl-C prints what is known so far, and stores nothing.\n\n"
    "--top compiles all schedules and measures few, so it takes less of the GPU. The table has\n"
    "the predicted time beside the measured one, and what limits the kernel.\n\n"
    "--meter model measures nothing: it ranks schedules by the predicted time of the launch that\n"
    "--grid and --arg give, while the PTX emulator checks results. It prints the --schedule that\n"
    "applies the best one; only --store keeps it for later compilations.\n\n"
    "examples:\n"
    "  tilewright tune gemm.mlir --grid 32x32 --arg random:4096x4096xf16:1 "
    "--arg random:4096x4096xf16:2 --arg zeros:4096x4096xf32 --arg 4096 --arg 4096 --arg 4096\n"
    "  tilewright tune gemm.mlir --top 3 --grid 32x32 --arg random:4096x4096xf16:1 "
    "--arg random:4096x4096xf16:2 --arg zeros:4096x4096xf32 --arg 4096 --arg 4096 --arg 4096\n"
    "  tilewright tune add.mlir --meter model --grid 4 --arg random:64xf32:1 "
    "--arg ones:64xf32 --arg zeros:64xf32 --arg 64\n"
    "  tilewright tune kernel.tileirbc --grid 8 --arg x.npy --limit 300 --ray auto --json",
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    tuning = _tuning(arguments)
    if tuning.emulates_much:
        warn("the emulator runs each schedule on a large launch; --no-check only predicts times")
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
    stored = not is_interrupted and _wants_record(arguments, tuning.tuner) and tuning.store(warn)
    if arguments.flag("json"):
        write_line(as_json(tuning.tuner, tuning.device, stored=stored))
    else:
        _show(tuning, stored=stored, is_interrupted=is_interrupted)
    return INTERRUPTED if is_interrupted else 0


def _wants_record(arguments: Arguments, tuner: Tuner) -> bool:
    """Whether the winner is to be stored: predictions only if that is asked for."""
    if tuner.job.meter == MODEL:
        return arguments.flag("store")
    return not arguments.flag("no-store")


def _tuning(arguments: Arguments) -> Tuning:
    """The request of a command line."""
    kernel = KernelArguments(COMMAND, arguments)
    arch = arguments["arch"]
    if arch and arch not in ARCHES:
        COMMAND.fail(f"option '--arch': expected one of {', '.join(ARCHES)}, found '{arch}'")
    if arguments.flag("store") and arguments.flag("no-store"):
        COMMAND.fail("options '--store' and '--no-store' exclude each other")
    data, name = read_source(arguments.file)
    return Tuning(
        data,
        name,
        arguments["entry"] or None,
        kernel.numbers("grid", arguments["grid"]),
        kernel.values,
        meter=_meter(arguments),
        top=_count(arguments, "top") or 0,
        check=not arguments.flag("no-check"),
        limit=_number(arguments, "limit"),
        arch=arch,
        tensor_maps=arguments["tensor-maps"],
        jobs=_count(arguments, "jobs"),
        ray=arguments["ray"],
        rtol=_number(arguments, "rtol") if arguments["rtol"] else None,
        atol=_number(arguments, "atol") if arguments["atol"] else None,
    )


def _meter(arguments: Arguments) -> str:
    meter = arguments["meter"]
    if meter not in FORMER_METERS:
        return meter
    replacement = FORMER_METERS[meter]
    warn(
        f"`--meter {meter}` is deprecated, and means `--meter {replacement}`: times are predicted, "
        "instructions are no longer counted, and nothing is stored without --store"
    )
    return replacement


def _number(arguments: Arguments, key: str) -> float:
    try:
        number = float(arguments[key])
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        COMMAND.fail(f"option '--{key}': expected a number from 0 on, found '{arguments[key]}'")
    return number


def _count(arguments: Arguments, key: str) -> int | None:
    text = arguments[key]
    if text and (not text.isdecimal() or not int(text)):
        COMMAND.fail(f"option '--{key}': expected a number from 1 on, found '{text}'")
    return int(text) if text else None


def _show(tuning: Tuning, *, stored: bool, is_interrupted: bool) -> None:
    tuner = tuning.tuner
    assert tuner is not None
    if not tuner.rows:
        return
    write_line(table(tuner))
    write_line(_summary(tuner, tuning.device, is_interrupted=is_interrupted))
    if stored:
        write_line(_stored(tuner))
    elif not is_interrupted:
        write_line(_not_stored(tuner, tuning.reason))


def _summary(tuner: Tuner, device: Device, *, is_interrupted: bool) -> str:
    """How much was tried, and where."""
    model = tuner.job.meter == MODEL
    counts = [f"{len(tuner.ranked())} {PREDICTED if model else MEASURED}"]
    if tuner.top:
        counts.append(f"{pruned(tuner)} pruned by the cost model")
    counts.append(f"{len(tuner.rows)} tried in {tuner.seconds:.1f} s")
    if is_interrupted:
        counts.append("interrupted")
    elif not tuner.is_complete:
        counts.append("then the limit was reached")
    checked = "" if tuner.job.check else "; results were not compared"
    return f"{', '.join(counts)}, {'by' if model else 'on'} {device.name}{checked}"


def _stored(tuner: Tuner) -> str:
    assert tuner.winner is not None
    kernel = f"'@{tuner.job.entry}' for {tuner.job.arch}"
    if not tuner.winner.schedule:
        return f"stored: {kernel} is best as the compiler chooses"
    return f"stored: later compilations of {kernel} use '{tuner.winner.schedule}'"


def _not_stored(tuner: Tuner, reason: str) -> str:
    """Why the best schedule was not stored, and how it is applied."""
    assert tuner.winner is not None
    if not tuner.winner.schedule:
        return f"not stored: {reason}" if reason else "best as the compiler chooses"
    if not reason:
        reason = "it is predicted; --store keeps it" if tuner.job.meter == MODEL else "--no-store"
    return f"not stored: {reason}\napply it with --schedule {options_text(tuner.winner)}"


class Progress:
    """The progress of a search: a bar on a terminal, else a line for each set of candidates.

    Schedules are counted from the start of each step, the compiler's own choice included.
    """

    __slots__ = ("_bar", "_before", "_is_quiet", "_is_terminal", "_step")

    def __init__(self, *, is_quiet: bool) -> None:
        self._is_quiet = is_quiet
        self._is_terminal = sys.stderr.isatty()
        self._begin(TRIED)

    def _begin(self, step: str) -> None:
        self._bar = Bar(f"schedules {step}")
        self._step = step
        self._before = 1

    def __call__(self, done: int, count: int, step: str) -> None:
        """Show how many candidates of the current set are tried, or measured."""
        if step != self._step:
            self._bar.end()
            self._begin(step)
        if self._is_terminal:
            self._bar(self._before + done, self._before + count)
        if done == count:
            self._before += count
            if not self._is_terminal and not self._is_quiet:
                say(f"{self._before} schedules {step} so far")

    def end(self) -> None:
        """End the line of the bar."""
        self._bar.end()
