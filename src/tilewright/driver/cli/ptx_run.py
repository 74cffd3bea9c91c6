"""`tilewright ptx run`: run a kernel of a PTX file on the emulator."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from tilewright.driver.assembly import decode_text
from tilewright.driver.cli.counters import COUNTER_OPTIONS, show_counters, wants_counters
from tilewright.driver.cli.kernel_arguments import (
    KERNEL_OPTIONS,
    LIMIT_OPTIONS,
    PERTURB,
    KernelArguments,
)
from tilewright.driver.cli.options import Command, Option
from tilewright.driver.files import read_input, write_output
from tilewright.driver.progress import Bar
from tilewright.ptxsim import Module
from tilewright.ptxsim.machine import CHECKS
from tilewright.support.diagnostics import InvalidValue, fail
from tilewright.support.kernel_names import choose_kernel

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments

COMMAND: Final = Command(
    "ptx run",
    "Run a kernel of a PTX file on arrays, on the CPU.",
    "PTX text",
    (
        *KERNEL_OPTIONS,
        Option(
            "--block",
            metavar="XxYxZ",
            default="1",
            help="how many threads (default: what the kernel requires, else 1)",
        ),
        Option("--cluster", metavar="XxYxZ", help="how many blocks form a cluster"),
        Option("--shared", metavar="BYTES", default="0", help="size of dynamic shared memory"),
        Option("--no-check", help="disable the checker: faster"),
        Option("--check-global", help="also detect races in global memory: slower"),
        Option("--seed", metavar="N", default="0", help="seed of the warp and block order"),
        PERTURB,
        *COUNTER_OPTIONS,
        *LIMIT_OPTIONS,
    ),
    "Unless --no-check is given, accesses out of bounds, races, uninitialised memory, missing\n"
    "fences and wrong use of barriers are errors.\n\n"
    "examples:\n"
    "  tilewright ptx run saxpy.ptx --grid 4 --block 256 --arg iota:1000xf32 "
    "--arg y.npy=ones:1000xf32 --arg 2.5 --arg 1000\n"
    "  tilewright ptx run gemm.ptx --entry gemm --grid 2x2 --block 128 --shared 65536 --counters\n"
    "  tilewright ptx run spin.ptx --max-steps 100000\n\n"
    "A run has no limit unless one is given. Ctrl-C says where the program was; the exit code is\n"
    "then 130.",
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    kernel = KernelArguments(COMMAND, arguments)
    sizes = {key: kernel.numbers(key, arguments[key]) for key in ("grid", "block")}
    cluster, seed = arguments["cluster"], kernel.numbers("seed", arguments["seed"])[0]
    shared = kernel.numbers("shared", arguments["shared"])[0]
    data, name = read_input(arguments.file)
    module = Module(decode_text(data, name, expected="PTX text"), name)
    entry = arguments["entry"]
    kernel_name = _named_kernel(module, entry) if entry else only_kernel(module)
    bar = Bar("blocks")
    output: list[str] = []
    try:
        counters = module.launch(
            kernel_name,
            sizes["grid"],
            sizes["block"],
            kernel.values,
            cluster=kernel.numbers("cluster", cluster) if cluster else None,
            shared=shared,
            check=_checks(arguments),
            seed=seed,
            perturb=kernel.numbers("perturb", arguments["perturb"])[0],
            profile=wants_counters(arguments),
            write=output.append,
            progress=bar if sys.stderr.isatty() else None,
            max_steps=kernel.max_steps(arguments),
            timeout=kernel.timeout(arguments),
        )
    finally:
        bar.end()
        # What a kernel has printed before it fails is often why it fails.
        write_output("-", "".join(output).encode("utf-8", "surrogateescape"))
    show_counters(arguments, counters)
    return kernel.finish()


def _checks(arguments: Arguments) -> frozenset[str]:
    checks = frozenset[str]() if arguments.flag("no-check") else CHECKS
    return checks | {"global"} if arguments.flag("check-global") else checks


def _named_kernel(module: Module, name: str) -> str:
    """Return the symbol of the kernel with a name, which may be that of C++."""
    try:
        return choose_kernel([entry.name for entry in module.syntax.entries()], name)
    except InvalidValue as error:
        fail(str(error))


def only_kernel(module: Module) -> str:
    """Return the name of the only kernel of a module."""
    names = [entry.name for entry in module.syntax.entries()]
    if len(names) != 1:
        fail(f"expected one kernel, or its name (--entry), got {', '.join(names) or 'none'}")
    return names[0]
