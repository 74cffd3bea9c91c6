"""Run kernels: `tilewright.execute`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.api import read
from tilewright.ir.verifier import verify
from tilewright.reference.launch import launch
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from tilewright.reference.machine import Progress

PLACES: Final = ("cpu", "emulator")
"""Where kernels run."""

Source = bytes | str | os.PathLike[str] | ModuleOp


def execute(
    source: Source,
    entry: str | None,
    grid: int | Sequence[int],
    args: Sequence[Any],
    on: str = "cpu",
    *,
    check: bool = False,
    seed: int = 0,
    write: Callable[[str], object] | None = None,
    progress: Progress | None = None,
    arch: str = "sm_90",
    opt_level: int = 3,
) -> None:
    """Run a kernel over a grid; arrays among the arguments change in place.

    `source` is bytecode, text, a path or a module; `entry` may be None if it has a single kernel.
    Arguments are numbers and NumPy arrays. `check` looks for races, memory that is read before it
    is written and broken promises, in an order of blocks that `seed` decides. `write` takes what
    the kernel prints; without it that goes to standard output. `progress` is called with the
    number of blocks that are done and of all.

    On "cpu" the reference executor runs the program itself; on "emulator" the PTX that the
    program is compiled to for `arch` at `opt_level` runs on the PTX emulator, and `check` looks
    for races between threads, misused barriers and memory that nobody wrote.

    Raises `tilewright.Error` if the program is wrong, also if only the run shows it.
    """
    if on not in PLACES:
        raise Unsupported(f"execution on '{on}': expected one of {', '.join(PLACES)}")
    if isinstance(source, ModuleOp):
        module = source
        verify(module)
    else:
        module = read(source)
    if on == "emulator":
        # The compiler and the emulator are loaded by whoever needs them.
        from tilewright.driver.emulate import emulate  # noqa: PLC0415

        emulate(
            module, entry, grid, args,
            arch=arch, opt_level=opt_level, check=check, seed=seed, write=write,
        )  # fmt: skip
        return
    launch(module, entry, grid, args, check=check, seed=seed, write=write, progress=progress)
