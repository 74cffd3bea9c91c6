"""`tilewright explain`: report what the compiler decided about a program, and why."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.driver.cli.options import OPT_LEVELS, SCHEDULE, Command, Option, parse_timeout
from tilewright.driver.cutile_kernels import export_kernels
from tilewright.driver.files import PYTHON, read_source, write_line, write_output
from tilewright.driver.schedules import parse_schedule
from tilewright.driver.settings import Settings
from tilewright.driver.tuning.lookup import Tuned, compile_tuned, tuned
from tilewright.support.diagnostics import InvalidValue
from tilewright.support.kernel_names import choose_kernel
from tilewright.target.arch import ARCHES, find_arch

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments
    from tilewright.explain.report import Report
    from tilewright.target.arch import Arch

MOST: Final = 2
"""How many compilations are compared."""

COMMAND: Final = Command(
    "explain",
    "Report what the compiler decided about a program: resources and what limits them, shared\n"
    "memory, pipelines, instructions, layouts, bytes and operations, remarks. Two files, or an\n"
    "option that is given twice, are compared.",
    "Tile IR text or bytecode, text of a level below it, CUDA Tile C++ (FILE.cu, which nvcc "
    "compiles), or cuTile Python (FILE.py, which is run without its kernels)",
    (
        Option(
            "--html",
            metavar="FILE",
            help="write one page with the source beside every level and pictures, instead of text; "
            "it works offline",
        ),
        Option("--kernel", metavar="NAME", help="explain this kernel alone"),
        Option(
            "--arch",
            metavar="GPU",
            default="sm_90",
            help=f"the GPU to compile for (default: sm_90): {', '.join(ARCHES)}",
        ),
        Option("-O", choices=OPT_LEVELS, default="3", help="optimization level (default: 3)"),
        SCHEDULE,
        Option("--no-tuned", help="ignore what `tilewright tune` has chosen for the program"),
        Option(
            "--sources",
            metavar="FOLDER",
            help="show the files that locations name if they are here, too (default: the folder of "
            "FILE, and the current one); an empty name shows none; may be repeated",
        ),
        Option(
            "--timeout",
            metavar="SECONDS",
            help="stop LLVM, and ptxas, if one takes longer",
        ),
    ),
    "examples:\n"
    "  tilewright explain kernel.mlir\n"
    "  tilewright explain kernel.mlir --html kernel.html\n"
    "  tilewright explain kernel.mlir --schedule stages=2 --schedule stages=4\n"
    "  tilewright explain kernel.mlir kernel.tileirbc --html comparison.html\n\n"
    "An empty schedule, --schedule '', is the one that the compiler chooses.",
    many=True,
)


class Wanted(NamedTuple):
    """A compilation to explain."""

    file: str
    arch: Arch
    opt_level: int
    schedule: str


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    wanted = _wanted(arguments)
    reports = [_report(each, arguments) for each in wanted]
    target = arguments["html"]
    if target:
        write_output(target, _page(reports).encode("utf-8", "surrogateescape"))
    else:
        write_line(_text(reports))
    return 0


def _wanted(arguments: Arguments) -> list[Wanted]:
    """The compilations of a command line: one, or two if a file or an option is given twice."""
    choices = {
        "files": arguments.files,
        "--arch": arguments.all("arch") or [arguments["arch"]],
        "-O": arguments.all("O") or [arguments["O"]],
        "--schedule": arguments.all("schedule") or [""],
    }
    for name, values in choices.items():
        if len(values) > MOST:
            COMMAND.fail(f"expected at most two of {name}, found {len(values)}")
    count = max(map(len, choices.values()))
    columns = [values * (count // len(values)) for values in choices.values()]
    return [
        Wanted(file, _arch(arch), int(level), parse_schedule(schedule))
        for file, arch, level, schedule in zip(*columns, strict=True)
    ]


def _arch(name: str) -> Arch:
    arch = find_arch(name)
    if arch is None:
        COMMAND.fail(f"option '--arch': expected one of {', '.join(ARCHES)}, found '{name}'")
    return arch


def _report(wanted: Wanted, arguments: Arguments) -> Report:
    """Compile and explain one program. Loads the compiler."""
    from tilewright.driver.explanation import explain  # noqa: PLC0415
    from tilewright.explain.positions import Positions  # noqa: PLC0415
    from tilewright.explain.remark_rows import remark_row  # noqa: PLC0415

    kernel = arguments["kernel"]
    settings = Settings(
        wanted.arch,
        wanted.opt_level,
        schedule=wanted.schedule,
        timeout=parse_timeout(COMMAND, arguments),
    )
    title, others = "", list[str]()
    if wanted.file.endswith(PYTHON):
        data, name, others = _python_kernel(wanted.file, kernel)
        title = f"{os.path.basename(wanted.file)}: {name}"
        kernel = ""
    else:
        data, name = read_source(wanted.file, wanted.arch.name)
    choice = Tuned(settings) if arguments.flag("no-tuned") else tuned(settings, data, name)
    folders = _folders(wanted.file, arguments)
    report, choice = compile_tuned(
        choice, lambda each: explain(data, name, each, title=title, folders=folders)
    )
    entries = [remark_row(remark, Positions({})) for remark in choice.remarks]
    report = report._replace(remarks=[*entries, *report.remarks])
    if others:
        note = f"the program also launches {', '.join(others)}: --kernel selects one"
        report = report._replace(notes=[*report.notes, note])
    return _selected(report, kernel) if kernel else report


def _folders(file: str, arguments: Arguments) -> list[str]:
    """The folders whose files may become part of a report."""
    given = arguments.all("sources")
    if "" in given:
        return []
    return [os.curdir, os.path.dirname(file) or os.curdir, *given]


def _python_kernel(path: str, wanted: str) -> tuple[bytes, str, list[str]]:
    """The bytecode of a kernel of a cuTile program, its name, and the names of the others."""
    kernels = export_kernels(path)
    name = wanted or next(iter(kernels))
    if name not in kernels:
        COMMAND.fail(f"option '--kernel': expected one of {', '.join(kernels)}, found '{wanted}'")
    others = [] if wanted else [other for other in kernels if other != name]
    return kernels[name], name, others


def _selected(report: Report, asked: str) -> Report:
    """The report without other kernels; its levels stay whole."""
    try:
        name = choose_kernel([kernel.name for kernel in report.kernels], asked)
    except InvalidValue as error:
        COMMAND.fail(f"option '--kernel': {error}")
    kernels = [kernel for kernel in report.kernels if kernel.name == name]
    remarks = [remark for remark in report.remarks if remark.kernel in ("", name)]
    return report._replace(kernels=kernels, remarks=remarks)


def _page(reports: list[Report]) -> str:
    from tilewright.explain.html import html_report  # noqa: PLC0415
    from tilewright.explain.html_comparison import html_comparison  # noqa: PLC0415

    return html_report(reports[0]) if len(reports) == 1 else html_comparison(*reports)


def _text(reports: list[Report]) -> str:
    from tilewright.explain.compare import text_comparison  # noqa: PLC0415
    from tilewright.explain.text import text_report  # noqa: PLC0415

    return text_report(reports[0]) if len(reports) == 1 else text_comparison(*reports)
