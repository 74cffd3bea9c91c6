"""Run kernels: `tilewright.execute`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tilewright.driver.api import read_runnable
from tilewright.driver.files import DEFAULT_ARCH, read_source
from tilewright.driver.pipelines import level_of
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.reference.launch import launch
from tilewright.support.diagnostics import Unsupported
from tilewright.support.run_limits import RunLimits
from tilewright.support.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from tilewright.ptxsim import Counters
    from tilewright.reference.launch import Check
    from tilewright.reference.machine import Progress

DEVICES: Final = ("cpu", "emulator", "gpu")
"""The devices that kernels run on."""

ARCH: Final = DEFAULT_ARCH
"""The default target of the emulator."""

RUNNABLE: Final = ("cuda_tile", "nv_tileaa")
"""The levels that the reference executor interprets."""

Source = bytes | str | os.PathLike[str] | Operation


@ends_tracebacks
def execute(
    source: Source,
    entry: str | None,
    grid: int | Sequence[int],
    args: Sequence[Any],
    on: str = "cpu",
    *,
    check: Check = False,
    seed: int = 0,
    write: Callable[[str], object] | None = None,
    progress: Progress | None = None,
    at: str | None = None,
    arch: str | None = None,
    opt_level: int = 3,
    sanitize: bool = False,
    max_steps: int | None = None,
    timeout: float | None = None,
    counters: bool = False,
    perturb: int = 0,
) -> Counters | None:
    """Run a kernel over a grid; arrays among the arguments change in place.

    `source` is a program of Tile IR or nv_tileaa: bytecode, text, a path or a module; `entry` may
    be None if it has a single kernel. `at` is the level that it is lowered to before it runs.
    Arguments are numbers and NumPy arrays. `check` detects races, reads of
    uninitialised memory and violated assumptions; `seed` selects the order of blocks. "sample"
    checks about a thousand of the blocks, and runs the others faster; where blocks synchronize, it
    checks all. `write` is called with the output of the kernel; the default is standard output.
    `progress` is called with the number of finished blocks and of all blocks.

    On "cpu" the reference executor runs the program itself; on "emulator" the PTX that the
    program is compiled to for `arch` (by default sm_90) at `opt_level` runs on the PTX emulator,
    and `check` detects races between threads, misuse of barriers and reads of uninitialised memory.
    On "gpu" the program is compiled for the GPU of this machine, and arrays may be in its memory,
    as for `tilewright.launch`.

    `max_steps` and `timeout` (in seconds) limit the run on "cpu" and "emulator", which otherwise
    may last for ever. A step is an operation or a PTX instruction; blocks or threads that execute
    it together count once. Ctrl-C raises a `KeyboardInterrupt` that says where the program was.

    `sanitize` checks every access of compiled code against its view; the reference executor does
    so under `check`, which it then implies.

    On "emulator" alone: with `counters`, the performance counters of the run are returned;
    `perturb`, unless it is 0, is the seed of other results of approximate instructions, within the
    error that PTX documents.

    Raises `tilewright.Error` if the program is invalid, or fails while it runs.
    """
    is_limited = max_steps is not None or timeout is not None
    _check_device(on, check, counters=counters, perturb=perturb, is_limited=is_limited)
    module = _program(source, arch or ARCH)
    if on == "gpu":
        _on_gpu(module, entry, grid, args, bool(check), at, arch, opt_level, sanitize, write)
        return None
    arch = arch or ARCH
    if at is not None:
        module = _lowered(module, at, arch, opt_level)
    if on == "emulator":
        # The compiler and the emulator are loaded only for this device.
        from tilewright.driver.emulate import emulate  # noqa: PLC0415

        counted = emulate(
            module, entry, grid, args,
            arch=arch, opt_level=opt_level, sanitize=sanitize, check=bool(check), seed=seed,
            write=write, progress=progress, max_steps=max_steps, timeout=timeout,
            profile=counters, perturb=perturb,
        )  # fmt: skip
        return counted if counters else None
    check = check or sanitize
    launch(
        module, entry, grid, args,
        check=check, seed=seed, write=write, progress=progress,
        limits=RunLimits(max_steps, timeout),
    )  # fmt: skip
    return None


def _check_device(on: str, check: Check, *, counters: bool, perturb: int, is_limited: bool) -> None:
    """Refuse devices that there are not, and what a device cannot do."""
    if on not in DEVICES:
        raise Unsupported(f"execution on '{on}': expected one of {', '.join(DEVICES)}")
    if counters and on != "emulator":
        raise Unsupported(f"performance counters on '{on}': expected 'emulator'")
    if perturb and on != "emulator":
        raise Unsupported(f"perturbed approximations on '{on}': expected 'emulator'")
    if check not in (False, True, "sample"):
        raise Unsupported(f"check={check!r}: expected True, False or 'sample'")
    if check == "sample" and on != "cpu":
        raise Unsupported(f"checks of some blocks on '{on}': expected 'cpu'")
    if is_limited and on == "gpu":
        raise Unsupported("limits of steps and time on 'gpu': expected 'cpu' or 'emulator'")


def _on_gpu(
    module: Operation,
    entry: str | None,
    grid: int | Sequence[int],
    args: Sequence[Any],
    check: bool,
    at: str | None,
    arch: str | None,
    opt_level: int,
    sanitize: bool,
    write: Callable[[str], object] | None,
) -> None:
    # The compiler and the CUDA driver are loaded only for this device.
    from tilewright.driver.launch import run_on_gpu  # noqa: PLC0415
    from tilewright.driver.launch_checks import required_arch, select_gpu  # noqa: PLC0415
    from tilewright.driver.signatures import signature_of  # noqa: PLC0415

    if check:
        raise Unsupported("looking for races on 'gpu': expected 'cpu' or 'emulator'")
    gpu_arch = required_arch(select_gpu(signature_of(module, entry), args))
    if arch not in (None, gpu_arch):
        gist = f"running code for '{arch}' on 'gpu'"
        raise Unsupported(f"{gist}: the GPU of this machine is {gpu_arch}")
    if at is not None:
        module = _lowered(module, at, gpu_arch, opt_level)
    run_on_gpu(
        module, entry, grid, args,
        arch=gpu_arch, opt_level=opt_level, sanitize=sanitize, write=write,
    )  # fmt: skip


def _program(source: Source, arch: str) -> Operation:
    """Read and verify a program; reject levels that no executor runs."""
    if isinstance(source, Operation):
        program = source
    elif isinstance(source, os.PathLike):
        program = read_runnable(*read_source(os.fspath(source), arch))
    else:
        program = read_runnable(source, "<input>")
    verify(program)
    level = level_of(program)
    if level not in RUNNABLE:
        raise Unsupported(f"running programs at the level of '{level}'", program.location)
    return program


def _lowered(program: Operation, level: str, arch: str, opt_level: int) -> Operation:
    """Lower a clone of a program to a level."""
    from tilewright.driver.compile import Compilation, Settings, target  # noqa: PLC0415

    compilation = Compilation(program.clone(), Settings(target(arch), opt_level))
    compilation.lower(level)
    return compilation.module
