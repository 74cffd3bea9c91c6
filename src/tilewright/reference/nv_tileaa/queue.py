"""Queues and regions with directives.

A block is its own producer and consumer here: what it puts in, it must have room for, and what it
gets must be there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.dialects.nv_tileaa import queue as d
from tilewright.reference.batch import Batch, merge
from tilewright.reference.errors import Fault
from tilewright.reference.meanings import meaning
from tilewright.reference.tile import Array, is_array, per_block
from tilewright.reference.walk import Crossing, Passage, leave, passage, walk

meaning(d.QueueYieldOp)(leave)

Entry = list[Any]


class Queue:
    """The entries of a queue, for each block."""

    __slots__ = ("depth", "entries")

    def __init__(self, depth: int, entries: list[deque[Entry]]) -> None:
        self.depth = depth
        self.entries = entries

    def pick(self, lanes: Array) -> Queue:
        """The queues of some of the blocks; they stay the same ones."""
        return Queue(self.depth, [self.entries[lane] for lane in lanes.tolist()])

    def join(self, queues: Sequence[Queue], order: Array) -> Queue:
        """The queues of blocks that meet again."""
        entries = [entry for queue in queues for entry in queue.entries]
        return Queue(self.depth, [entries[place] for place in order.tolist()])


@meaning(d.CreateQueueOp)
def create_queue(op: d.CreateQueueOp, at: Batch) -> Queue:
    """An empty queue for each block."""
    return Queue(op.depth, [deque() for _ in range(at.count)])


@meaning(d.QueuePutOp)
def put(op: d.QueuePutOp, at: Batch) -> Crossing:
    """Puts in what the region yields."""
    exits = yield from walk(op.body.block, at)
    batch, values = merge(at, [(exit.batch, exit.values) for exit in exits])
    queue: Queue = batch[op.queue]
    for lane, entries in enumerate(queue.entries):
        if len(entries) == queue.depth:
            batch.fail(op, Fault.DEADLOCK, "waits for room that nobody is left to make", lane)
        entries.append([_of_lane(value, batch.count, lane) for value in values])
    return Passage(batch, (), [])


def _of_lane(value: Any, count: int, lane: int) -> Any:
    if not is_array(value):
        return value.pick(np.array([lane]))
    return per_block(value, count)[lane : lane + 1]


@meaning(d.QueueGetOp)
def get(op: d.QueueGetOp, at: Batch) -> Crossing:
    """Takes an entry out, and gives what the region makes of it."""
    queue: Queue = at[op.queue]
    for lane, entries in enumerate(queue.entries):
        if not entries:
            at.fail(op, Fault.DEADLOCK, "waits for an entry that nobody is left to put in", lane)
    rows = [entries.popleft() for entries in queue.entries]
    columns = [_together(column) for column in zip(*rows, strict=True)]
    at.bind(op.body.block.args, columns)
    return passage(at, (yield from walk(op.body.block, at)), [])


def _together(column: Sequence[Any]) -> Any:
    first = column[0]
    if not is_array(first):
        return first.join(column, np.arange(len(column)))
    return np.concatenate(column)


@meaning(d.PragmaOp)
def pragma(op: d.PragmaOp, at: Batch) -> Crossing:
    """What the region yields."""
    return passage(at, (yield from walk(op.body.block, at)), [])
