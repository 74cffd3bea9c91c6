"""Queues and regions with directives.

A block is its own producer and consumer here: a put needs a free slot, and a get needs an entry.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.dialects.nv_tileaa import queue as d
from tilewright.reference.batch import Batch, merge
from tilewright.reference.errors import Fault
from tilewright.reference.evaluators import decoder, evaluator
from tilewright.reference.tile import Array, is_array, per_block
from tilewright.reference.walk import Crossing, Passage, leave, passage, walk

decoder(d.QueueYieldOp)(leave)

Entry = list[Any]


class Queue:
    """The entries of a queue, for each block."""

    __slots__ = ("capacity", "entries")

    def __init__(self, capacity: int, entries: list[deque[Entry]]) -> None:
        self.capacity = capacity
        self.entries = entries

    def pick(self, lanes: Array) -> Queue:
        """Select the queues of some of the blocks, which are aliased."""
        return Queue(self.capacity, [self.entries[lane] for lane in lanes.tolist()])

    def join(self, queues: Sequence[Queue], counts: Sequence[int], order: Array) -> Queue:
        """The queues of blocks that reconverge."""
        entries = [entry for queue in queues for entry in queue.entries]
        return Queue(self.capacity, [entries[lane] for lane in order.tolist()])


@evaluator(d.CreateQueueOp)
def create_queue(op: d.CreateQueueOp, at: Batch) -> Queue:
    """Make an empty queue for each block."""
    return Queue(op.depth, [deque() for _ in range(at.count)])


@evaluator(d.QueuePutOp)
def put(op: d.QueuePutOp, at: Batch) -> Crossing:
    """Put the yielded values into the queue."""
    exits = yield from walk(op.body.block, at)
    batch, values = merge(at, [(exit.batch, exit.values) for exit in exits])
    queue: Queue = batch[op.queue]
    for lane, entries in enumerate(queue.entries):
        if len(entries) == queue.capacity:
            batch.fail(
                op, Fault.DEADLOCK, "waits for a free slot that no consumer is left to make", lane
            )
        entries.append([_of_lane(value, batch.count, lane) for value in values])
    return Passage(batch, (), [])


def _of_lane(value: Any, count: int, lane: int) -> Any:
    if not is_array(value):
        return value.pick(np.array([lane]))
    return per_block(value, count)[lane : lane + 1]


@evaluator(d.QueueGetOp)
def get(op: d.QueueGetOp, at: Batch) -> Crossing:
    """Take an entry out, and run the region on it."""
    queue: Queue = at[op.queue]
    for lane, entries in enumerate(queue.entries):
        if not entries:
            at.fail(
                op, Fault.DEADLOCK, "waits for an entry that no producer is left to put in", lane
            )
    rows = [entries.popleft() for entries in queue.entries]
    columns = [_together(column) for column in zip(*rows, strict=True)]
    at.bind(op.body.block.args, columns)
    return passage(at, (yield from walk(op.body.block, at)), [])


def _together(column: Sequence[Any]) -> Any:
    first = column[0]
    if not is_array(first):
        return first.join(column, [1] * len(column), np.arange(len(column)))
    return np.concatenate(column)


@evaluator(d.PragmaOp)
def pragma(op: d.PragmaOp, at: Batch) -> Crossing:
    """Run the region."""
    return passage(at, (yield from walk(op.body.block, at)), [])
