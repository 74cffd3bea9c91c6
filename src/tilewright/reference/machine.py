"""What all blocks of one launch share: memory, the grid, where output goes, who may run when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tilewright.dialects.cuda_tile.atomics import (
    AtomicCASTkoOp,
    AtomicRedViewTkoOp,
    AtomicRMWTkoOp,
)
from tilewright.dialects.cuda_tile.memory import LoadPtrTkoOp, StorePtrTkoOp
from tilewright.dialects.cuda_tile.view import LoadViewTkoOp, StoreViewTkoOp
from tilewright.dialects.nv_tileaa import atomics, memory, view
from tilewright.reference.access import NO_TOKEN, Access, Token
from tilewright.reference.errors import Fault
from tilewright.reference.tile import Array, is_array

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.reference.address_space import AddressSpace, Allocation
    from tilewright.reference.batch import Batch
    from tilewright.reference.checker import Checker

MEMORY_OPS: Final[frozenset[type[Operation]]] = frozenset(
    {
        AtomicCASTkoOp,
        AtomicRMWTkoOp,
        AtomicRedViewTkoOp,
        LoadPtrTkoOp,
        LoadViewTkoOp,
        StorePtrTkoOp,
        StoreViewTkoOp,
        atomics.AtomicCasOp,
        atomics.AtomicRmwOp,
        memory.LoadOp,
        memory.StoreOp,
        view.GatherLoadOp,
        view.ScatterStoreOp,
        view.TiledAtomicRmwOp,
        view.TiledLoadOp,
        view.TiledStoreOp,
    }
)

Progress = Callable[[int, int], object]
"""Told how many blocks are done, of how many."""

FUEL: Final = 1_000_000
"""How often a `loop` may go round before we take it to be endless."""


class Waiting(NamedTuple):
    """A block came round a loop with nothing changed: only other blocks can get it out."""

    op: Operation
    batch: Batch
    version: int
    """The state of memory that it has seen."""


class Machine:
    """The state of a launch that does not belong to one block."""

    __slots__ = ("checker", "fuel", "globals", "grid", "scratches", "space", "turns", "write")

    def __init__(
        self,
        space: AddressSpace,
        grid: tuple[int, int, int],
        write: Callable[[str], object],
        checker: Checker | None = None,
        fuel: int = FUEL,
    ) -> None:
        self.space = space
        self.grid = grid
        self.write = write
        """Takes what the kernel prints."""
        self.checker = checker
        """Watches memory and promises, if somebody asked for that."""
        self.fuel = fuel
        self.globals: dict[str, int] = {}
        """The address of each global array."""
        self.scratches: dict[Block, dict[tuple[int, ...], list[Allocation]]] = {}
        """What the operations `alloca` of a region have allocated in each block."""
        self.turns: frozenset[type[Operation]] = MEMORY_OPS if checker else frozenset()
        """The operations before which other blocks may run."""

    def access(self, op: Operation, at: Batch, token: Token | None) -> Access:
        """A memory operation that starts, behind the ones that a token stands for."""
        if self.checker is None:
            return Access(op, at)
        return self.checker.access(op, at, token or NO_TOKEN)

    def scratch(
        self, op: Operation, at: Batch, lane: int, size: int, alignment: int, is_shared: bool
    ) -> int:
        """The address of new memory for one block."""
        block = tuple(int(coordinate) for coordinate in at.blocks[lane])
        owner = None if is_shared else block
        data = np.zeros(size, np.uint8)
        allocation = self.space.allocate(f"alloca of block {block}", data, alignment, owner)
        if self.checker is not None:
            self.checker.settle()
            self.checker.uninitialise(allocation)
        assert op.parent is not None
        self.scratches.setdefault(op.parent, {}).setdefault(block, []).append(allocation)
        return allocation.base

    def leave(self, region: Block, at: Batch) -> None:
        """Take back the memory that blocks have got in a region, at the end of which they are."""
        scratches = self.scratches.get(region)
        if not scratches:
            return
        if self.checker is not None:
            self.checker.settle()
        for x, y, z in at.blocks.tolist():
            for allocation in scratches.pop((x, y, z), ()):
                self.space.release(allocation)

    def watch(self, op: Operation) -> Watch:
        """A watch over one run of a loop."""
        return Watch(op, self.space, self.fuel)


class Watch:
    """Finds out whether a loop makes progress."""

    __slots__ = ("carried", "fuel", "op", "space", "version")

    def __init__(self, op: Operation, space: AddressSpace, fuel: int) -> None:
        self.op = op
        self.space = space
        self.fuel = fuel
        self.version = -1
        self.carried: Sequence[Any] = ()

    def turn(self, batch: Batch, carried: Sequence[Any]) -> Waiting | None:
        """Note that the loop starts another iteration; tells if that will be like the last one."""
        if self.fuel == 0:
            message = f"did not end in {batch.machine.fuel} iterations"
            batch.fail(self.op, Fault.DEADLOCK, message)
        self.fuel -= 1
        same = self.version == self.space.version and _same(self.carried, carried)
        self.version = self.space.version
        self.carried = carried
        return Waiting(self.op, batch, self.version) if same else None


def _same(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether loop-carried values are the same; tokens say nothing about values."""
    pairs = zip(before, after, strict=True)
    return all(a is b or not is_array(a) or _equal(a, b) for a, b in pairs)


def _equal(a: Array, b: Array) -> bool:
    # Bytes, so that a NaN equals itself.
    return a.shape == b.shape and a.tobytes() == b.tobytes()
