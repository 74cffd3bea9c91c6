"""Entry point of the executor: launch a kernel of a module on arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, Final, Literal

from tilewright.reference.address_space import AddressSpace
from tilewright.reference.arguments import bind_arguments
from tilewright.reference.checker import Checker
from tilewright.reference.errors import ExecutionError, Fault
from tilewright.reference.events import EventChecker
from tilewright.reference.executor import load_program, run_kernel
from tilewright.reference.lockstep import LockstepChecker, SampleChecker, runs_in_batches
from tilewright.reference.machine import Machine, Progress
from tilewright.reference.programs import kernels
from tilewright.reference.uninitialised import clear_marks
from tilewright.support.diagnostics import Diagnostic, InvalidValue
from tilewright.support.kernel_names import choose_kernel

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.reference.programs import Kernel
    from tilewright.support.run_limits import RunLimits

Grid = int | Sequence[int]
Check = bool | Literal["sample"]
"""Whether a run is checked; "sample" checks some of its blocks."""

LARGEST: Final = (0x7FFFFFFF, 0xFFFF, 0xFFFF)
"""The maximum extents of a grid on a GPU."""


def launch(
    module: Operation,
    entry: str | None,
    grid: Grid,
    arguments: Sequence[Any],
    *,
    check: Check = False,
    seed: int = 0,
    write: Callable[[str], object] | None = None,
    progress: Progress | None = None,
    limits: RunLimits | None = None,
    names: Sequence[str] | None = None,
) -> None:
    """Run a kernel of a verified module; array arguments are updated in place.

    `check` reports races, reads of uninitialised memory and violated assumptions; unordered blocks
    and operations then run in a random order chosen by `seed`. "sample" does so for some of the
    blocks only, if blocks do not synchronize. Without `limits`
    it may run for ever. `names` are those of the arguments in diagnostics.
    """
    kernel = find_entry(module, entry)
    space = AddressSpace()
    checker = _checker(kernel, check)(space, seed) if check else None
    machine = Machine(space, full_grid(grid), write or sys.stdout.write, checker, limits)
    load_program(machine, module)
    values = bind_arguments(kernel, arguments, space, names)
    if checker is None:
        for allocation in space.allocations:
            clear_marks(allocation.bytes)
        run_kernel(machine, kernel, values, progress)
        return
    checker.begin()
    try:
        run_kernel(machine, kernel, values, progress)
    finally:
        checker.end()


def _checker(kernel: Kernel, check: Check) -> type[Checker[Any]]:
    """The checker for a kernel: if its blocks do not synchronize, they run in batches."""
    if not runs_in_batches(kernel):
        return EventChecker
    return SampleChecker if check == "sample" else LockstepChecker


def find_entry(module: Operation, name: str | None) -> Kernel:
    """Find a kernel by its symbol or C++ name; without a name, the only kernel."""
    entries = {entry.sym_name: entry for entry in kernels(module)}
    try:
        return entries[choose_kernel(list(entries), name)]
    except InvalidValue as error:
        raise ExecutionError(Fault.ARGUMENT, [Diagnostic(str(error), module.location)]) from None


def full_grid(grid: Grid) -> tuple[int, int, int]:
    """The extents of a grid in all three dimensions."""
    extents = _extents(grid)
    if not 1 <= len(extents) <= 3 or any(extent < 1 for extent in extents):
        message = f"expected a grid of one to three positive extents, got {grid!r}"
        raise ExecutionError(Fault.ARGUMENT, [Diagnostic(message)])
    for axis, (extent, most) in enumerate(zip(extents, LARGEST, strict=False)):
        if extent > most:
            message = f"expected a grid of at most {most} blocks in dimension {axis}, got {extent}"
            raise ExecutionError(Fault.ARGUMENT, [Diagnostic(message)])
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z


def _extents(grid: Any) -> list[int]:
    """The extents of a grid, which is an integer or a sequence; an empty list if it is neither."""
    try:
        return [int(index(grid))]
    except TypeError:
        pass  # perhaps a sequence
    try:
        return [int(index(extent)) for extent in grid]
    except TypeError:
        return []
