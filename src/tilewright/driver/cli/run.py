"""`tilewright run`: run a kernel."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from tilewright.driver.api import read_runnable
from tilewright.driver.cli.counters import COUNTER_OPTIONS, show_counters, wants_counters
from tilewright.driver.cli.kernel_arguments import (
    KERNEL_OPTIONS,
    LIMIT_OPTIONS,
    PERTURB,
    KernelArguments,
)
from tilewright.driver.cli.options import SANITIZE, Command, Option
from tilewright.driver.execute import DEVICES, RUNNABLE, execute
from tilewright.driver.files import DEFAULT_ARCH, read_source
from tilewright.driver.progress import Bar
from tilewright.driver.signatures import signature_of
from tilewright.support.diagnostics import Diagnostic, UserError, note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.driver.cli.options import Arguments
    from tilewright.runtime.signature import Signature

COMMAND: Final = Command(
    "run",
    "Run a kernel on arrays.",
    "Tile IR text or bytecode, text of nv_tileaa, or CUDA Tile C++ (FILE.cu, which nvcc compiles)",
    (
        *KERNEL_OPTIONS,
        Option(
            "--check",
            choices=("all", "sample"),
            implied="all",
            help="detect races, uninitialised memory and violated assumptions in all blocks, or in "
            "about a thousand of them (sample: where blocks synchronize, all are checked)",
        ),
        Option("--seed", metavar="N", default="0", help="seed of the block order under --check"),
        SANITIZE,
        Option("--on", choices=DEVICES, default="cpu", help="device to run on (default: cpu)"),
        Option("--at", choices=RUNNABLE, help="lower the program to this level before it runs"),
        Option(
            "--arch",
            metavar="GPU",
            help="GPU to compile for (default: sm_90; with --on gpu, that GPU)",
        ),
        PERTURB,
        *COUNTER_OPTIONS,
        *LIMIT_OPTIONS,
    ),
    "examples:\n"
    "  tilewright run examples/add.mlir --grid 4 --arg random:64xf32:1 --arg ones:64xf32 \\\n"
    "    --arg sum.npy=zeros:64xf32 --arg 64 --show 2\n"
    "  tilewright run examples/add.mlir --on emulator --counters --grid 4 --arg iota:64xf32 \\\n"
    "    --arg ones:64xf32 --arg zeros:64xf32 --arg 64\n"
    "  tilewright run kernel.tileirbc --grid 2x2 --arg a.npy --arg 16 --expect 0=wanted.npy\n"
    "  tilewright run examples/add.cu --entry add --grid 4 --arg iota:64xf32 --arg ones:64xf32 \\\n"
    "    --arg sum.npy=zeros:64xf32 --arg 64\n"
    "  tilewright run kernel.mlir --arg 16 --max-steps 1000000 --timeout 60\n\n"
    "A run has no limit unless one is given. Ctrl-C says where the program was; the exit code is\n"
    "then 130.",
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    kernel = KernelArguments(COMMAND, arguments)
    grid = kernel.numbers("grid", arguments["grid"])
    if wants_counters(arguments) and arguments["on"] != "emulator":
        option = "counters" if arguments.flag("counters") else "counters-json"
        kernel.fail(option, f"expected --on emulator, found --on {arguments['on']}")
    perturb = kernel.numbers("perturb", arguments["perturb"])[0]
    if perturb and arguments["on"] != "emulator":
        kernel.fail("perturb", f"expected --on emulator, found --on {arguments['on']}")
    data, name = read_source(arguments.file, arguments["arch"] or DEFAULT_ARCH)
    program = read_runnable(data, name)
    _check_count(signature_of(program, arguments["entry"] or None), kernel.values)
    bar = Bar("blocks")
    try:
        counters = execute(
            program,
            arguments["entry"] or None,
            grid,
            kernel.values,
            arguments["on"],
            check="sample" if arguments["check"] == "sample" else arguments.flag("check"),
            seed=kernel.numbers("seed", arguments["seed"])[0],
            at=arguments["at"] or None,
            arch=arguments["arch"] or None,
            sanitize=bool(arguments["sanitize"]),
            progress=bar if sys.stderr.isatty() else None,
            max_steps=kernel.max_steps(arguments),
            timeout=kernel.timeout(arguments),
            counters=wants_counters(arguments),
            perturb=perturb,
        )
    finally:
        bar.end()
    if counters is not None:
        show_counters(arguments, counters)
    return kernel.finish()


def _check_count(kernel: Signature, values: Sequence[Any]) -> None:
    """Reject a wrong number of arguments, and say how to give them."""
    try:
        kernel.check_count(values)
    except UserError as error:
        how = "give one for each parameter, such as `--arg iota:64xf32` for an array or `--arg 16`"
        (wrong,) = error.diagnostics
        notes = (note(f"{how}: `tilewright run --help`"),)
        raise UserError([Diagnostic(wrong.message, wrong.location, notes=notes)]) from None
