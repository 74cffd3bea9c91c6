"""The state of pipelines while a kernel is converted: iterators, and how many stages are full.

All warps fill and drain a pipeline in program order, so the number of full stages is known at every
operation: a producer without an empty stage, or a consumer without a full one, would deadlock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.support.diagnostics import fail

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tilewright.ir.values import Value
    from tilewright.support.location import Location


class PipelineState(NamedTuple):
    """The iterators of the producer and the consumer, and how many stages are empty and full."""

    producer: Value
    consumer: Value
    empty: int
    full: int

    @property
    def iterators(self) -> tuple[Value, Value]:
        """The values that loops and branches carry."""
        return self.producer, self.consumer

    @property
    def counts(self) -> tuple[int, int]:
        """The counts that each iteration of a loop, and each branch, must leave alike."""
        return self.empty, self.full


class PipelineStates(dict["Value", PipelineState]):
    """The state of the pipeline of each queue at the operation that is being converted."""

    __slots__ = ()

    def acquire(self, queue: Value, location: Location) -> Value:
        """Take an empty stage; gives the iterator of the producer."""
        state = self[queue]
        if not state.empty:
            fail("expected an empty slot of the pipeline, but all are full", location)
        self[queue] = state._replace(empty=state.empty - 1)
        return state.producer

    def commit(self, queue: Value) -> None:
        """Count the acquired stage as full."""
        self[queue] = self[queue]._replace(full=self[queue].full + 1)

    def wait(self, queue: Value, location: Location) -> Value:
        """Take a full stage; gives the iterator of the consumer."""
        state = self[queue]
        if not state.full:
            fail("expected a full slot of the pipeline, but all are empty", location)
        self[queue] = state._replace(full=state.full - 1)
        return state.consumer

    def release(self, queue: Value) -> None:
        """Count the stage as empty again."""
        self[queue] = self[queue]._replace(empty=self[queue].empty + 1)

    def iterators(self, queues: Iterable[Value]) -> list[Value]:
        """The iterators of several pipelines, producer and consumer of each."""
        return [iterator for queue in queues for iterator in self[queue].iterators]

    def set_iterators(self, queues: Sequence[Value], iterators: Sequence[Value]) -> None:
        """Continue with other iterators, in the order in which `iterators` gives them."""
        pairs = zip(iterators[::2], iterators[1::2], strict=True)
        for queue, (producer, consumer) in zip(queues, pairs, strict=True):
            self[queue] = self[queue]._replace(producer=producer, consumer=consumer)
