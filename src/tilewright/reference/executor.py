"""Executes a kernel over its grid.

Blocks run in lockstep, as many together as memory allows. If a kernel polls memory in a loop, each
block runs alone, interleaved with the others; under a checker also if blocks synchronize.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tilewright.dialects import scf
from tilewright.dialects.cuda_tile.control_flow import LoopOp
from tilewright.dialects.cuda_tile.enums import MemoryOrdering
from tilewright.dialects.cuda_tile.structure import EntryOp
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
    multimem,
    structure,
    view,
)
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import EVALUATORS
from tilewright.reference.grid import Blocks
from tilewright.reference.machine import Machine, Progress
from tilewright.reference.nv_tileaa import groups
from tilewright.reference.ordering import ordering_of
from tilewright.reference.programs import Kernel, cta_count, global_arrays
from tilewright.reference.scheduler import (
    BLOCKS_AT_ONCE,
    CHECKED_AT_ONCE,
    Started,
    interleave,
    run_alone,
)
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
    multimem,
    structure,
    view,
    *groups.GROUPS,
)
"""The modules that register evaluators; importing them fills the table."""

ELEMENTS_AT_ONCE: Final = 1 << 18
BATCHES_AT_ONCE: Final = 4
"""The number of batches that are interleaved."""


def run_kernel(
    machine: Machine,
    entry: Kernel,
    arguments: Sequence[Any],
    progress: Progress | None = None,
) -> None:
    """Run every block of the grid; `arguments` are values of the entry's parameters."""
    try:
        with np.errstate(all="ignore"):
            _run_blocks(machine, entry, arguments, progress or _ignore)
    except KeyboardInterrupt:
        raise machine.interrupted() from None


def _run_blocks(
    machine: Machine, entry: Kernel, arguments: Sequence[Any], progress: Progress
) -> None:
    blocks, checker = Blocks(machine.grid, cta_count(entry)), machine.checker
    if checker is None and not waits(entry):
        _run_in_lockstep(machine, entry, arguments, progress, blocks)
        return
    groups, at_once = _groups(machine, entry, blocks)
    walks = (Started(start(machine, entry, group, arguments), len(group)) for group in groups)
    interleave(machine, walks, blocks.count, progress, at_once)
    if blocks.sample is not None:
        _run_in_lockstep(machine.without_checker(), entry, arguments, progress, blocks)


def _run_in_lockstep(
    machine: Machine, entry: Kernel, arguments: Sequence[Any], progress: Progress, blocks: Blocks
) -> None:
    """Run the blocks that no checker has run."""
    done = 0 if blocks.sample is None else len(blocks.sample)
    machine.limits.refresh = lambda: progress(done, blocks.count)
    for group in blocks.split(batch_size(entry)):
        run_alone(start(machine, entry, group, arguments))
        done += len(group)
        progress(done, blocks.count)


def _groups(machine: Machine, entry: Kernel, blocks: Blocks) -> tuple[Iterator[Array], int]:
    """The blocks that are interpreted together, and the number of such groups at once.

    Under a checker blocks start in a random order.
    """
    checker = machine.checker
    if checker is None:
        return _alone(blocks.split(BLOCKS_AT_ONCE)), BLOCKS_AT_ONCE
    shuffle = checker.random.permutation
    if checker.runs_batches:
        size = batch_size(entry)
        groups = blocks.choose(checker.random, size) if checker.samples else blocks.split(size)
        return map(shuffle, groups), BATCHES_AT_ONCE
    return _alone(map(shuffle, blocks.split(BLOCKS_AT_ONCE))), CHECKED_AT_ONCE


def _alone(groups: Iterable[Array]) -> Iterator[Array]:
    return (group[[row]] for group in groups for row in range(len(group)))


def _ignore(done: int, count: int) -> None:
    """Show no progress."""


def start(machine: Machine, entry: Kernel, blocks: Array, arguments: Sequence[Any]) -> Walk:
    """Begin the interpretation of a kernel for some blocks."""
    batch = Batch.of_blocks(machine, blocks)
    batch.bind(entry.body.block.args, arguments)
    if isinstance(entry, EntryOp):
        for number, predicate in entry.assumptions():
            misc.check_assumption(entry, batch, entry.arguments[number], predicate)
    return walk(entry.body.block, batch)


def waits(entry: Kernel) -> bool:
    """Whether a kernel may poll memory in a loop until another block writes it."""
    return any(
        ordering_of(op) is not MemoryOrdering.WEAK
        for loop in entry.walk()
        if isinstance(loop, LoopOp | scf.WhileOp)
        for op in loop.walk()
    )


def batch_size(entry: Kernel) -> int:
    """The number of blocks to run together, less if their tiles are large."""
    largest = max(_tile_sizes(entry), default=1)
    return max(1, min(BLOCKS_AT_ONCE, ELEMENTS_AT_ONCE // largest))


def _tile_sizes(entry: Kernel) -> Iterator[int]:
    for op in entry.walk():
        for result in op.results:
            yield prod(shape(result))


def load_program(machine: Machine, module: Operation) -> None:
    """Allocate the global arrays of a program."""
    single_block = Batch.of_blocks(machine, np.zeros((1, 4), np.int32))
    for array in global_arrays(module):
        EVALUATORS[type(array)](array, single_block)
