"""The state that all blocks of one launch share: memory, grid, output, checker."""

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
from tilewright.dialects.cuda_tile.multimem import (
    MultimemLoadReduceViewTkoOp,
    MultimemReduceViewTkoOp,
    MultimemStoreViewTkoOp,
)
from tilewright.dialects.cuda_tile.view import LoadViewTkoOp, StoreViewTkoOp
from tilewright.dialects.nv_tileaa import atomics, memory, multimem, view
from tilewright.reference.access import NO_TOKEN, Access, Token
from tilewright.reference.errors import ExecutionError, Fault
from tilewright.reference.tile import Array, is_array
from tilewright.support.location import UNKNOWN
from tilewright.support.run_limits import RunLimits

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.reference.address_space import AddressSpace, Allocation
    from tilewright.reference.batch import Batch
    from tilewright.reference.checker import Checker
    from tilewright.reference.walk import Step
    from tilewright.support.diagnostics import Interrupted
    from tilewright.support.location import Location

MEMORY_OPS: Final[frozenset[type[Operation]]] = frozenset(
    {
        AtomicCASTkoOp,
        AtomicRMWTkoOp,
        AtomicRedViewTkoOp,
        LoadPtrTkoOp,
        LoadViewTkoOp,
        MultimemLoadReduceViewTkoOp,
        MultimemReduceViewTkoOp,
        MultimemStoreViewTkoOp,
        StorePtrTkoOp,
        StoreViewTkoOp,
        atomics.AtomicCasOp,
        atomics.AtomicRmwOp,
        memory.LoadOp,
        memory.StoreOp,
        multimem.MultimemLoadReduceOp,
        multimem.MultimemReduceOp,
        multimem.MultimemStoreOp,
        view.GatherLoadOp,
        view.ScatterStoreOp,
        view.TiledAtomicRmwOp,
        view.TiledLoadOp,
        view.TiledStoreOp,
    }
)

Progress = Callable[[int, int], object]
"""Called with the number of finished blocks and the number of all blocks."""


class Waiting(NamedTuple):
    """A block began another iteration with nothing changed: only other blocks can unblock it."""

    op: Operation
    batch: Batch
    version: int
    """The version of memory at that time."""


class Machine:
    """The state of a launch that does not belong to one block."""

    __slots__ = (
        "batch",
        "checker",
        "decoded",
        "globals",
        "grid",
        "limits",
        "op",
        "scratches",
        "space",
        "write",
        "yield_points",
    )

    def __init__(
        self,
        space: AddressSpace,
        grid: tuple[int, int, int],
        write: Callable[[str], object],
        checker: Checker[Any] | None = None,
        limits: RunLimits | None = None,
    ) -> None:
        self.space = space
        self.grid = grid
        self.write = write
        """Receives the kernel's printed output."""
        self.checker: Checker[Any] | None = checker
        """Checks memory accesses and assumptions, if enabled."""
        self.limits = limits or RunLimits()
        self.op: Operation | None = None
        self.batch: Batch | None = None
        """The operation that runs, and its blocks."""
        self.decoded: dict[Block, list[Step]] = {}
        """The decoded operations of the blocks that have run."""
        self.globals: dict[str, int] = {}
        """The address of each global array."""
        self.scratches: dict[Block, dict[tuple[int, ...], list[Allocation]]] = {}
        """The `alloca` allocations of a region, per block."""
        self.yield_points: frozenset[type[Operation]] = MEMORY_OPS if checker else frozenset()
        """The operations before which other blocks may be scheduled."""

    def without_checker(self) -> Machine:
        """The same launch for blocks that are not checked."""
        machine = Machine(self.space, self.grid, self.write, limits=self.limits)
        machine.globals = self.globals
        self.space.compares = False
        return machine

    def access(self, op: Operation, at: Batch, token: Token | None) -> Access:
        """Begin a memory operation that is ordered after a token."""
        if self.checker is None:
            return Access(op, at)
        return self.checker.access(op, at, token or NO_TOKEN)

    def scratch(
        self, op: Operation, at: Batch, lane: int, size: int, alignment: int, is_shared: bool
    ) -> int:
        """Allocate memory for one block and return its address."""
        block = tuple(int(coordinate) for coordinate in at.blocks[lane])
        owner = None if is_shared else block
        data = np.zeros(size, np.uint8)
        allocation = self.space.allocate(f"alloca of block {block[:3]}", data, alignment, owner)
        if self.checker is not None:
            self.checker.settle()
            self.checker.uninitialise(allocation)
        assert op.parent is not None
        self.scratches.setdefault(op.parent, {}).setdefault(block, []).append(allocation)
        return allocation.base

    def leave(self, region: Block, at: Batch) -> None:
        """Free the memory that blocks have allocated in a region that they leave."""
        scratches = self.scratches.get(region)
        if not scratches:
            return
        if self.checker is not None:
            self.checker.settle()
        for block in at.blocks.tolist():
            for allocation in scratches.pop(tuple(block), ()):
                self.space.release(allocation)

    def detect_livelock(self, op: Operation) -> LivelockDetector:
        """A livelock detector for one execution of a loop."""
        return LivelockDetector(op, self.space)

    def check_limits(self) -> None:
        """Raise an error if the run has reached a limit."""
        limit = self.limits.check()
        if limit is not None:
            diagnostic = self.limits.exceeded(limit, *self._whereabouts())
            raise ExecutionError(Fault.LIMIT, [diagnostic])

    def interrupted(self) -> Interrupted:
        """The exception for Ctrl-C, which says where the program is."""
        return self.limits.interrupted(*self._whereabouts())

    def _whereabouts(self) -> tuple[str, Location]:
        """The blocks that run, as text, and the location of their operation."""
        if self.op is None or self.batch is None:
            return "no block yet", UNKNOWN
        first, *others = self.batch.blocks
        coordinates = ", ".join(str(axis) for axis in first[:3])
        more = f" and {len(others):,} more" if others else ""
        return f"block ({coordinates}){more}", self.op.location


class LivelockDetector:
    """Detects loop iterations that change nothing."""

    __slots__ = ("carried", "op", "space", "version")

    def __init__(self, op: Operation, space: AddressSpace) -> None:
        self.op = op
        self.space = space
        self.version = -1
        self.carried: Sequence[Any] = ()

    def begin_iteration(self, batch: Batch, carried: Sequence[Any]) -> Waiting | None:
        """Begin an iteration; return a `Waiting` if its state is that of the previous one."""
        same = self.version == self.space.version and _same(self.carried, carried)
        self.version = self.space.version
        self.carried = carried
        return Waiting(self.op, batch, self.version) if same else None


def _same(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether loop-carried values are equal; tokens are ignored."""
    pairs = zip(before, after, strict=True)
    return all(a is b or not is_array(a) or _equal(a, b) for a, b in pairs)


def _equal(a: Array, b: Array) -> bool:
    # Compare bytes, so that a NaN equals itself.
    return a.shape == b.shape and a.tobytes() == b.tobytes()
