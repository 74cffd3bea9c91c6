"""Run kernels: `tilewright.execute`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.api import read
from tilewright.ir.verifier import verify
from tilewright.reference.launch import launch
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from tilewright.reference.machine import Progress

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
) -> None:
    """Run a kernel over a grid; arrays among the arguments change in place.

    `source` is bytecode, text, a path or a module; `entry` may be None if it has a single kernel.
    Arguments are numbers and NumPy arrays. `check` looks for races, memory that is read before it
    is written and broken promises, in an order of blocks that `seed` decides. `write` takes what
    the kernel prints; without it that goes to standard output. `progress` is called with the
    number of blocks that are done and of all.

    Raises `tilewright.Error` if the program is wrong, also if only the run shows it.
    """
    if on != "cpu":
        raise Unsupported(f"execution on '{on}'")
    if isinstance(source, ModuleOp):
        module = source
        verify(module)
    else:
        module = read(source)
    launch(module, entry, grid, args, check=check, seed=seed, write=write, progress=progress)
