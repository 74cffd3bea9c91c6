"""The order of the accesses of blocks that do not synchronize, which run in batches.

Without atomics and strong accesses nothing orders the accesses of two blocks: they race if they
conflict, in every schedule. Those of one block are ordered by tokens. So an event is a pair of a
block and a step, the number of the memory operation in the batch that the block began in. A token
is a set of steps, the bits of an integer, which is the same for all blocks but where they diverge.

Of the blocks that have read an element since it was written, two are recorded: a write conflicts
with one of them in any case.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import numpy as np

from tilewright.dialects import scf
from tilewright.dialects.cuda_tile import memory, view
from tilewright.dialects.cuda_tile.control_flow import LoopOp
from tilewright.dialects.cuda_tile.enums import MemoryOrdering
from tilewright.dialects.cuda_tile.memory import AllocaOp
from tilewright.dialects.nv_tileaa import memory as lower_memory
from tilewright.dialects.nv_tileaa import queue
from tilewright.dialects.nv_tileaa import view as lower_view
from tilewright.ir.types import F4E2M1FN
from tilewright.reference.access import Token
from tilewright.reference.checker import CheckedAccess, Checker, distinct
from tilewright.reference.errors import Fault
from tilewright.reference.lockstep_shadow import (
    BLOCK,
    LOWER,
    Elements,
    LockstepShadow,
    block_and_step,
    same_block,
)
from tilewright.reference.machine import MEMORY_OPS
from tilewright.reference.ordering import ordering_of
from tilewright.reference.programs import cta_count
from tilewright.reference.tile import DTYPES, Array, element, per_block
from tilewright.reference.uninitialised import clear_marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.reference.address_space import AddressSpace, Allocation, Hit, Window
    from tilewright.reference.batch import Batch
    from tilewright.reference.programs import Kernel

PLAIN: Final = (
    memory.LoadPtrTkoOp,
    memory.StorePtrTkoOp,
    view.LoadViewTkoOp,
    view.StoreViewTkoOp,
    lower_memory.LoadOp,
    lower_memory.StoreOp,
    lower_view.GatherLoadOp,
    lower_view.ScatterStoreOp,
    lower_view.TiledLoadOp,
    lower_view.TiledStoreOp,
)
"""The operations that access memory without synchronization if they are weak."""
ALONE: Final = (AllocaOp, lower_memory.AllocaOp, queue.CreateQueueOp)
"""Operations whose memory belongs to one block."""


def runs_in_batches(kernel: Kernel) -> bool:
    """Whether the blocks of a kernel neither synchronize nor poll, nor have memory of their own."""
    if cta_count(kernel) > 1:
        return False
    loops = [op for op in kernel.walk() if isinstance(op, LoopOp | scf.WhileOp)]
    return all(_is_plain(op) for op in kernel.walk()) and not any(
        type(op) in MEMORY_OPS for loop in loops for op in loop.walk()
    )


def _is_plain(op: Operation) -> bool:
    """Whether an operation accesses memory only by weak loads and stores of whole bytes."""
    if type(op) not in MEMORY_OPS:
        return not isinstance(op, ALONE)
    is_weak = isinstance(op, PLAIN) and ordering_of(op) is MemoryOrdering.WEAK
    return is_weak and not any(element(value) is F4E2M1FN for value in op.operands)


class History(NamedTuple):
    """The memory operations that a batch has begun."""

    first: int
    """The number of its first block."""
    blocks: Array
    steps: list[Operation | None]
    """The operation of each step; the first one is the host's."""


class LockstepChecker(Checker[LockstepShadow]):
    """Checks the accesses of blocks that do not synchronize."""

    __slots__ = ("_histories", "_numbers", "sets")

    checks_tiles = runs_batches = True

    def __init__(self, space: AddressSpace, seed: int) -> None:
        super().__init__(space, seed)
        self._histories: list[History] = []
        self.sets: list[int] = [0]
        """Sets of steps by their number."""
        self._numbers: dict[int, int] = {0: 0}

    def access(self, op: Any, at: Batch, token: Token) -> LockstepAccess:
        """Begin a memory operation; delayed stores that precede it are performed first."""
        root = at.root
        if root.history is None:
            root.history = self._begin(root.blocks)
        history: History = root.history
        self.perform(lambda access: access.history is history and access.precedes(token))
        history.steps.append(op)
        return LockstepAccess(op, at, self, history, token)

    def _begin(self, blocks: Array) -> History:
        last = self._histories[-1] if self._histories else None
        history = History(1 if last is None else last.first + len(last.blocks), blocks, [None])
        self._histories.append(history)
        return history

    def _make_shadow(self, allocation: Allocation) -> LockstepShadow:
        return LockstepShadow(len(allocation.bytes))

    def number_of(self, steps: int) -> int:
        """The number of a set of steps."""
        number = self._numbers.get(steps)
        if number is None:
            number = self._numbers[steps] = len(self.sets)
            self.sets.append(steps)
        return number

    def describe(self, block: int, step: int) -> tuple[Operation, Sequence[int]]:
        """The operation of an event, and the coordinates of its block."""
        index = bisect_right(self._histories, block, key=lambda history: history.first) - 1
        history = self._histories[index]
        op = history.steps[step]
        assert op is not None
        return op, history.blocks[block - history.first].tolist()


class SampleChecker(LockstepChecker):
    """Checks the accesses of some blocks."""

    __slots__ = ()

    samples = True

    def end(self) -> None:
        """Forget what was not written: the other blocks have written more than was recorded."""
        for allocation in self.space.allocations:
            clear_marks(allocation.bytes)


class LockstepAccess(CheckedAccess):
    """A checked memory operation of a batch of blocks."""

    __slots__ = (
        "address_lanes",
        "blocks",
        "common",
        "history",
        "is_uniform",
        "lockstep",
        "past",
        "step",
    )

    def __init__(
        self, op: Operation, at: Batch, checker: LockstepChecker, history: History, token: Token
    ) -> None:
        super().__init__(op, at, checker)
        self.lockstep = checker
        self.history = history
        self.step = len(history.steps) - 1
        self.blocks: Array = (at.lanes_in(at.root) + history.first) << BLOCK
        """The events of the blocks, without steps."""
        self.past = token.after(self.step)
        """What happens before, in each block, and this operation."""
        self.common = reduce(and_, self.past.pasts)
        """What happens before in all blocks."""
        self.is_uniform = False
        self.address_lanes = np.zeros(1, np.int64)

    @property
    def token(self) -> Token:
        return self.past

    def precedes(self, token: Token) -> bool:
        """Whether an operation after a token is ordered after this, in some block."""
        return any(past >> self.step & 1 for past in token.pasts)

    def store(
        self, addresses: Array, element: Type, values: Array, mask: Array | None = None
    ) -> None:
        # Blocks that store to the same addresses race: each has its own row.
        super().store(per_block(addresses, self.at.count), element, values, mask)

    def load_tiles(self, window: Window, element: Type) -> Array | None:
        tiles = self._tiles(window, element, len(window.starts))
        if tiles is None:
            return None
        self._read(*tiles)
        return super().load_tiles(window, element)

    def store_tiles(self, window: Window, element: Type, values: Array) -> bool:
        tiles = self._tiles(window, element, self.at.count)
        if tiles is None:
            return False
        self._check_defined(values, None)
        self._check_writable(tiles[0])
        values = np.array(values)

        def store() -> None:
            self._write(*tiles)
            super(LockstepAccess, self).store_tiles(window, element, values)

        self.delay(store)
        return True

    def _tiles(
        self, window: Window, element: Type, count: int
    ) -> tuple[Allocation, Elements] | None:
        """The elements of tiles in an allocation; None if they are not in one."""
        region = self.at.machine.space.tiles(window, DTYPES[element])
        if region is None:
            return None
        allocation, _, starts = region
        size, rank = DTYPES[element].itemsize, len(window.shape)
        rows = per_block(starts.view(np.int64), count).reshape(count, *[1] * rank)
        for dim, (extent, stride) in enumerate(zip(window.shape, window.strides, strict=True)):
            within = np.arange(extent) * (stride // size)
            rows = rows + within.reshape(extent, *[1] * (rank - dim - 1))
        return allocation, Elements(rows, size, _lanes(rows), count < self.at.count)

    def _choose(self, addresses: Array, mask: Array | None = None) -> Array:
        chosen = super()._choose(addresses, mask)
        self.address_lanes = _lanes(addresses) if self.lanes is None else self.lanes
        self.is_uniform = len(addresses) < self.at.count
        return chosen

    def _elements(self, hit: Hit, size: int) -> Elements:
        rows, lanes = (hit.offsets // np.uint64(size)).view(np.int64), self.address_lanes
        if hit.chosen is not None:
            lanes = np.broadcast_to(lanes, hit.chosen.shape)[hit.chosen]
        return Elements(rows, size, lanes, self.is_uniform)

    def reads(self, hit: Hit, size: int) -> None:
        self._read(hit.allocation, self._elements(hit, size))

    def writes(self, hit: Hit, size: int) -> None:
        super().writes(hit, size)
        self._write(hit.allocation, self._elements(hit, size))

    def _read(self, allocation: Allocation, read: Elements) -> None:
        shadow = self.lockstep.shadow(allocation)
        unwritten = shadow.unwritten(read)
        if unwritten is not None:
            row, lane = read.first(unwritten)
            self.report_uninitialised(allocation, row, read.size, lane)
        read = shadow.divide(read)
        # Of blocks that all read the same elements, two conflict with any write.
        for elements in (read, read._replace(lanes=read.lanes + 1))[: 1 + read.is_uniform]:
            self._check_writer(allocation, shadow, elements)
            self._record_read(shadow, elements)

    def _write(self, allocation: Allocation, written: Elements) -> None:
        shadow = self.lockstep.shadow(allocation)
        shadow.note_written(written)
        written = shadow.divide(written)
        self._check_writer(allocation, shadow, written)
        self._check_readers(allocation, shadow, written)
        self._record_write(allocation, shadow, written)

    def _check_writer(
        self, allocation: Allocation, shadow: LockstepShadow, accessed: Elements
    ) -> None:
        """Report a race with a write that does not happen before this."""
        if shadow.writer is None:
            return
        events = shadow.writer[accessed.rows]
        if not events.any():
            return
        own = same_block(events, self.blocks[accessed.lanes])
        ordered = own & self._happen_before(np.where(own, events & LOWER, 0), accessed.lanes)
        unordered = (events != 0) & ~ordered
        if unordered.any():
            lane = accessed.first(unordered)[1]
            self._race(allocation, *block_and_step(int(events[unordered][0])), lane)

    def _happen_before(self, steps: Array, lanes: Array) -> Array:
        """Whether steps of the blocks happen before this."""
        size = len(self.history.steps) // 8 + 1
        pasts = [np.frombuffer(past.to_bytes(size, "little"), np.uint8) for past in self.past.pasts]
        table = np.unpackbits(np.stack(pasts), axis=1, bitorder="little").view(np.bool_)
        return table[self._past_of(lanes), steps]

    def _past_of(self, lanes: Array) -> Array:
        """Which of the pasts is that of each lane."""
        which = self.past.which
        return np.zeros_like(lanes) if which is None else which[lanes]

    def _record_read(self, shadow: LockstepShadow, read: Elements) -> None:
        if shadow.reader is None:
            shadow.reader = shadow.none()
        rows, blocks = read.rows, self.blocks[read.lanes]
        before = shadow.reader[rows]
        events = np.broadcast_to(blocks | self._number_after(0), rows.shape)
        own = same_block(before, blocks)
        if own.any():
            for number in distinct(before[own] & LOWER):
                chosen = own & (before & LOWER == number)
                events = np.where(chosen, blocks | self._number_after(number), events)
        own |= before == 0
        if own.all():
            shadow.reader[rows] = events
        else:
            shadow.reader[rows[own]] = events[own]
        others = ~same_block(shadow.reader[rows], blocks)
        if others.any():
            if shadow.other is None:
                shadow.other = shadow.none()
            shadow.other[rows[others]] = np.broadcast_to(blocks | self.step, rows.shape)[others]

    def _number_after(self, number: int) -> int:
        """The number of the set of steps of a block that has read once more."""
        kept = self.lockstep.sets[number] & ~self.common
        return self.lockstep.number_of(kept | 1 << self.step)

    def _check_readers(
        self, allocation: Allocation, shadow: LockstepShadow, written: Elements
    ) -> None:
        """Report a race with a read that does not happen before this."""
        if shadow.reader is None:
            return
        events = shadow.reader[written.rows]
        if not events.any():
            return
        if shadow.other is not None:
            self._check_others(allocation, shadow.other, written)
        ordered, past = same_block(events, self.blocks[written.lanes]), self._past_of(written.lanes)
        for number in distinct(events & LOWER):
            steps = self.lockstep.sets[number]
            happens_before = np.array([not steps & ~each for each in self.past.pasts])
            ordered &= (events & LOWER != number) | happens_before[past]
        unordered: Array = (events != 0) & ~ordered
        if unordered.any():
            lane = written.first(unordered)[1]
            block, number = block_and_step(int(events[unordered][0]))
            steps = self.lockstep.sets[number]
            if block << int(BLOCK) == int(self.blocks[lane]):
                steps &= ~self.past.pick(np.array([lane])).pasts[0]
            self._race(allocation, block, steps.bit_length() - 1, lane)

    def _check_others(self, allocation: Allocation, other: Array, written: Elements) -> None:
        """Report a race with a read of another block, where blocks share what they read."""
        events = other[written.rows]
        foreign = (events != 0) & ~same_block(events, self.blocks[written.lanes])
        if foreign.any():
            lane = written.first(foreign)[1]
            self._race(allocation, *block_and_step(int(events[foreign][0])), lane)

    def _record_write(
        self, allocation: Allocation, shadow: LockstepShadow, written: Elements
    ) -> None:
        if shadow.writer is None:
            shadow.writer = shadow.none()
        rows, lanes = written.rows, np.broadcast_to(written.lanes, written.rows.shape)
        # Numbers of the rows find an element that is written twice: one of them is lost.
        numbers = np.arange(rows.size).reshape(rows.shape)
        shadow.writer[rows] = numbers
        lost = shadow.writer[rows] != numbers
        if lost.any():
            other = int(lanes.flat[int(shadow.writer[rows][lost][0])])
            self._written_twice(allocation, written.first(lost)[1], other)
        shadow.writer[rows] = self.blocks[written.lanes] | self.step
        for readers in (shadow.reader, shadow.other):
            if readers is not None:
                readers[rows] = 0

    def _written_twice(self, allocation: Allocation, lane: int, other: int) -> NoReturn:
        if lane == other:
            gist = "writes twice to one address, in no order"
            self.at.fail(self.op, Fault.RACE, gist, lane)
        self.report_race(allocation, self.op, self.at.blocks[other].tolist(), lane)

    def _race(self, allocation: Allocation, block: int, step: int, lane: int) -> NoReturn:
        self.report_race(allocation, *self.lockstep.describe(block, step), lane)


def _lanes(rows: Array) -> Array:
    """The lanes of rows, in a shape that broadcasts to theirs."""
    return np.arange(len(rows)).reshape(len(rows), *[1] * (rows.ndim - 1))
