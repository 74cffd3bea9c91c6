"""Runs a kernel over its grid.

Blocks run in lockstep, as many together as memory allows. Where a kernel waits in a loop for
another block, or a checker watches, each block runs for itself, and they take turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tilewright.dialects import scf
from tilewright.dialects.cuda_tile.control_flow import LoopOp
from tilewright.dialects.cuda_tile.enums import MemoryOrdering
from tilewright.reference import (
    aggregate,
    atomics,
    bitwise,
    control_flow,
    conversion,
    core,
    floating,
    integer,
    memory,
    misc,
    mma,
    structure,
    view,
)
from tilewright.reference.batch import Batch
from tilewright.reference.machine import Machine, Progress
from tilewright.reference.meanings import MEANINGS
from tilewright.reference.nv_tileaa import groups
from tilewright.reference.ordering import ordering_of
from tilewright.reference.programs import Kernel, global_arrays
from tilewright.reference.scheduler import run_alone, take_turns
from tilewright.reference.tile import shape
from tilewright.reference.walk import Walk, walk

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.reference.tile import Array

GROUPS: Final = (
    aggregate,
    atomics,
    bitwise,
    control_flow,
    conversion,
    core,
    floating,
    integer,
    memory,
    misc,
    mma,
    structure,
    view,
    *groups.GROUPS,
)
"""The modules that hold the meanings; to import them fills the table."""

ELEMENTS_AT_ONCE: Final = 1 << 18
BLOCKS_AT_ONCE: Final = 4096


def run_kernel(
    machine: Machine,
    entry: Kernel,
    arguments: Sequence[Any],
    progress: Progress | None = None,
) -> None:
    """Run every block of the grid; `arguments` are values of the entry's parameters."""
    blocks = block_coordinates(machine.grid)
    with np.errstate(all="ignore"):
        if machine.checker is not None or waits(entry):
            walks = (start(machine, entry, block[np.newaxis], arguments) for block in blocks)
            take_turns(machine, walks, len(blocks), progress)
            return
        done = 0
        for group in np.array_split(blocks, -(-len(blocks) // batch_size(entry)) or 1):
            run_alone(start(machine, entry, group, arguments))
            done += len(group)
            if progress is not None:
                progress(done, len(blocks))


def start(machine: Machine, entry: Kernel, blocks: Array, arguments: Sequence[Any]) -> Walk:
    """A walk of some blocks through the kernel."""
    batch = Batch.of_blocks(machine, blocks)
    batch.bind(entry.body.block.args, arguments)
    return walk(entry.body.block, batch)


def block_coordinates(grid: tuple[int, int, int]) -> Array:
    """All blocks of a grid, x first."""
    x, y, z = grid
    k, j, i = np.indices((z, y, x), np.int32).reshape(3, -1)
    return np.stack([i, j, k], axis=1)


def waits(entry: Kernel) -> bool:
    """Whether a kernel may wait in a loop until another block has written something."""
    return any(
        ordering_of(op) is not MemoryOrdering.WEAK
        for loop in entry.walk()
        if isinstance(loop, LoopOp | scf.WhileOp)
        for op in loop.walk()
    )


def batch_size(entry: Kernel) -> int:
    """How many blocks to run together: few if their tiles are large."""
    largest = max(_tile_sizes(entry), default=1)
    return max(1, min(BLOCKS_AT_ONCE, ELEMENTS_AT_ONCE // largest))


def _tile_sizes(entry: Kernel) -> Iterator[int]:
    for op in entry.walk():
        for result in op.results:
            yield prod(shape(result))


def load_program(machine: Machine, module: Operation) -> None:
    """Put the global arrays of a program into memory."""
    nowhere = Batch.of_blocks(machine, np.zeros((1, 3), np.int32))
    for array in global_arrays(module):
        MEANINGS[type(array)](array, nowhere)
