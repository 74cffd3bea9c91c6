"""`tilewright compile`: a program to any stage below it, a cubin at the end."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from tilewright.driver.api import read_level
from tilewright.driver.cli.options import (
    OPT_LEVELS,
    SANITIZE,
    WATCH_OPTIONS,
    Command,
    Option,
    output,
)
from tilewright.driver.cli.watching import chosen_instruments, report
from tilewright.driver.compile import Compilation, Settings, Watch
from tilewright.driver.files import read_input, write_output
from tilewright.driver.pipelines import STAGES
from tilewright.ir.verifier import verify
from tilewright.target.arch import ARCHES, find_arch

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments
    from tilewright.emit.cubin import Resources
    from tilewright.target.arch import Arch

SUFFIXES: Final = {".ll": "llvm", ".ptx": "ptx", ".cubin": "cubin"}
"""The stage that the name of the output asks for."""

COMMAND: Final = Command(
    "compile",
    "Compile a program for a GPU: Tile IR, or text of any level below it.",
    "Tile IR text or bytecode, or text of the gpu, nvgpu, nvvm or llvm dialects",
    (
        output("the result"),
        Option(
            "--emit",
            choices=STAGES,
            help="the stage to stop at (default: that of the suffix of -o; without one, cubin)",
        ),
        Option(
            "--arch",
            metavar="GPU",
            default="sm_90",
            help=f"the GPU to compile for (default: sm_90): {', '.join(ARCHES)}",
        ),
        Option("-O", choices=OPT_LEVELS, default="3", help="optimization level (default: 3)"),
        Option("-g", "--line-info", help="keep the lines of the source for profilers"),
        Option("--device-debug", help="keep lines and variables for a debugger, with -O0"),
        SANITIZE,
        Option("--resources", help="print what each kernel takes of the GPU, to standard error"),
        *WATCH_OPTIONS,
    ),
    "examples:\n"
    "  tilewright compile kernel.mlir -o kernel.cubin --arch sm_90 --resources\n"
    "  tilewright compile kernel.mlir --emit nvvm --verify-each\n"
    "  tilewright compile kernel.mlir -o kernel.ptx --timing",
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    stage = _stage(arguments)
    if arguments.flag("resources") and stage != "cubin":
        COMMAND.fail(f"option '--resources': expected a cubin to be made, found '{stage}'")
    if stage == "cubin" and arguments["output"] == "-" and sys.stdout.isatty():
        COMMAND.fail("a cubin does not go to a terminal: give -o FILE, or pipe the output")
    settings = Settings(
        _arch(arguments),
        int(arguments["O"]),
        line_info=arguments.flag("line-info"),
        device_debug=arguments.flag("device-debug"),
        sanitize=bool(arguments["sanitize"]),
    )
    watch = Watch(chosen_instruments(arguments))
    data, name = read_input(arguments.file)
    with watch.clock.measure("read"):
        module = read_level(data, name)
    with watch.clock.measure("verify"):
        verify(module)
    compilation = Compilation(module, settings, watch)
    try:
        made = compilation.to(stage)
    finally:
        report(watch.sink)
    if arguments.flag("timing"):
        print(watch.clock.report(), file=sys.stderr)
    if arguments.flag("resources") and compilation.cubin is not None:
        print(resource_table(list(compilation.cubin.entries.values())), file=sys.stderr)
    write_output(arguments["output"], made if isinstance(made, bytes) else made.encode())
    return 0


def _stage(arguments: Arguments) -> str:
    """What to make: what is asked for, or what the name of the output says."""
    suffix = os.path.splitext(arguments["output"])[1]
    return arguments["emit"] or SUFFIXES.get(suffix, "cubin")


def _arch(arguments: Arguments) -> Arch:
    found = find_arch(arguments["arch"])
    if found is None:
        expected = ", ".join(ARCHES)
        COMMAND.fail(f"option '--arch': expected one of {expected}, found '{arguments['arch']}'")
    return found


def resource_table(entries: list[Resources]) -> str:
    """What each kernel takes: a line each."""
    head = ("kernel", "threads", "registers", "spills", "stack", "shared", "CTAs an SM")
    rows = [head, *map(_resource_row, entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    )


def _resource_row(entry: Resources) -> tuple[str, ...]:
    threads = "any" if entry.threads is None else "x".join(map(str, entry.threads))
    occupancy = "unknown" if entry.occupancy is None else str(entry.occupancy)
    spills = f"{entry.spill_stores}+{entry.spill_loads}"
    numbers = (str(entry.registers), spills, str(entry.stack), str(entry.shared))
    return (entry.name, threads, *numbers, occupancy)
