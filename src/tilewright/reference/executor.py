"""Runs a kernel over its grid.

Blocks run in lockstep, as many together as memory allows. Where a kernel waits in a loop for
another block, or a checker watches, each block runs for itself, and they take turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tilewright.dialects.cuda_tile.control_flow import LoopOp
from tilewright.dialects.cuda_tile.enums import MemoryOrdering
from tilewright.dialects.cuda_tile.structure import EntryOp, ModuleOp
from tilewright.dialects.cuda_tile.types import TileType
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
from tilewright.reference.control_flow import Walk
from tilewright.reference.machine import Machine, Progress
from tilewright.reference.scheduler import run_alone, take_turns

if TYPE_CHECKING:
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
)
"""The modules that hold the meanings; to import them fills the table."""

ELEMENTS_AT_ONCE: Final = 1 << 18
BLOCKS_AT_ONCE: Final = 4096


def run_kernel(
    machine: Machine,
    entry: EntryOp,
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


def start(machine: Machine, entry: EntryOp, blocks: Array, arguments: Sequence[Any]) -> Walk:
    """A walk of some blocks through the kernel."""
    batch = Batch.of_blocks(machine, blocks)
    batch.bind(entry.arguments, arguments)
    return structure.entry(entry, batch)


def block_coordinates(grid: tuple[int, int, int]) -> Array:
    """All blocks of a grid, x first."""
    x, y, z = grid
    k, j, i = np.indices((z, y, x), np.int32).reshape(3, -1)
    return np.stack([i, j, k], axis=1)


def waits(entry: EntryOp) -> bool:
    """Whether a kernel may wait in a loop until another block has written something."""
    return any(
        getattr(op, "ordering", MemoryOrdering.WEAK) is not MemoryOrdering.WEAK
        for loop in entry.walk()
        if isinstance(loop, LoopOp)
        for op in loop.walk()
    )


def batch_size(entry: EntryOp) -> int:
    """How many blocks to run together: few if their tiles are large."""
    largest = max(_tile_sizes(entry), default=1)
    return max(1, min(BLOCKS_AT_ONCE, ELEMENTS_AT_ONCE // largest))


def _tile_sizes(entry: EntryOp) -> Iterator[int]:
    for op in entry.walk():
        for result in op.results:
            if isinstance(result.type, TileType):
                yield result.type.count


def load_program(machine: Machine, module: ModuleOp) -> None:
    """Put the global arrays of a program into memory."""
    structure.module(module, Batch.of_blocks(machine, np.zeros((1, 3), np.int32)))
