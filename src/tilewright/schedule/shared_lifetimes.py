"""Lifetimes of allocations of shared memory, and offsets for those that are live together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.nv_tileas.attributes import in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReadOp,
    CreatePipelineOp,
    counts_copies,
)
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp, Rearrangement
from tilewright.layout.wgmma import ALIGNMENT
from tilewright.plans.allocations import aligned, allocated_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

SMALLEST: Final = 16
"""The least alignment of an allocation, in bytes."""


class Lifetime(NamedTuple):
    """From the operation with the number `start` to that with the number `end`, both included."""

    start: int
    end: int

    def meets(self, other: Lifetime) -> bool:
        """Whether both are live at one operation."""
        return self.start <= other.end and other.start <= self.end


class Lifetimes:
    """The lifetime of each operation that allocates shared memory."""

    __slots__ = ("by_op", "numbers")

    def __init__(self, numbers: dict[Operation, int], by_op: dict[Operation, Lifetime]) -> None:
        self.numbers = numbers
        """Of all operations, in program order."""
        self.by_op = by_op

    def __bool__(self) -> bool:
        return bool(self.by_op)

    def span(self, op: Operation) -> Lifetime:
        """The numbers of an operation and of those inside of it."""
        start = self.numbers[op]
        return Lifetime(start, start + sum(1 for _ in op.walk()) - 1)

    def live_during(self, op: Operation) -> Iterator[Operation]:
        """The allocations that are live at an operation, or at one inside of it."""
        span = self.span(op)
        return (other for other, life in self.by_op.items() if life.meets(span))

    def live_at(self, op: Operation) -> Iterator[Operation]:
        """The allocations that are live at an operation."""
        number = self.numbers[op]
        return (other for other, life in self.by_op.items() if life.start <= number <= life.end)


def find_lifetimes(function: Operation) -> Lifetimes:
    """The lifetimes of all allocations of a function."""
    numbers = {op: number for number, op in enumerate(function.walk())}
    by_op = {op: _lifetime(op, numbers) for op in numbers if allocated_bytes(op)}
    return Lifetimes(numbers, by_op)


def _lifetime(op: Operation, numbers: dict[Operation, int]) -> Lifetime:
    start = numbers[op]
    users = _users(op)
    if users is None:
        # The barrier at the creation of a pipeline with mbarriers orders earlier accesses.
        begin = start if isinstance(op, CreatePipelineOp) else 0
        return Lifetime(begin, len(numbers))
    return Lifetime(start, max([start, *(_last(op, user, numbers) for user in users)]))


def _last(op: Operation, user: Operation, numbers: dict[Operation, int]) -> int:
    """The last operation of a user, or of the loop around it in which the allocation is not."""
    outer = user
    while outer.parent is not op.parent and outer.parent_op is not None:
        outer = outer.parent_op
    return numbers[outer] + sum(1 for _ in outer.walk()) - 1


def _users(op: Operation) -> list[Operation] | None:
    """The operations that access an allocation; None if any later one may."""
    if isinstance(op, CreatePipelineOp):
        return _pipeline_users(op) if counts_copies(op) else None
    return _tile_users(op.results[0]) if isinstance(op, ConvertLayoutOp) else None


def _pipeline_users(op: CreatePipelineOp) -> list[Operation]:
    users = list(op.result.users)
    for read in [user for user in users if isinstance(user, ConsumerReadOp)]:
        for value in read.values:
            if in_shared_memory(value):
                users += _tile_users(value) or ()
    return users


def _tile_users(tile: Value) -> list[Operation] | None:
    """The users of a tile in shared memory, and the waits for dots among them.

    None if it escapes, or an asynchronous dot that reads it is not waited for in its block.
    """
    users: list[Operation] = []
    pending = [tile]
    while pending:
        for user in pending.pop().users:
            if isinstance(user, Rearrangement):
                pending.append(user.result)
            elif not isinstance(user, DotOp):
                return None
            elif user.asynchronous:
                waits = list(user.result.users)
                if not all(isinstance(op, DotWaitOp) and op.parent is user.parent for op in waits):
                    return None
                users += waits
            users.append(user)
    return users


def allocation_of(tile: Value) -> Operation | None:
    """The operation that allocated the memory of a tile; None if the tile is in registers."""
    if not in_shared_memory(tile):
        return None
    op = tile.defining_op()
    while isinstance(op, Rearrangement):
        op = op.source.defining_op()
    if isinstance(op, ConsumerReadOp):
        return op.pipeline.defining_op()
    return op


def offsets_of(lifetimes: Lifetimes) -> dict[Operation, int]:
    """Give each allocation the lowest offset that no other one has while it is live.

    Its alignment is that of the swizzle pattern, or its size if that is smaller.
    """
    offsets: dict[Operation, int] = {}
    sizes = {op: allocated_bytes(op) for op in lifetimes.by_op}
    for op in sorted(sizes, key=lambda op: -sizes[op]):
        life, bytes = lifetimes.by_op[op], sizes[op]
        alignment = min(ALIGNMENT, max(SMALLEST, 1 << (bytes - 1).bit_length()))
        rivals = [
            (offset, offset + sizes[other])
            for other, offset in offsets.items()
            if lifetimes.by_op[other].meets(life)
        ]
        start = 0
        for low, high in sorted(rivals):
            if start + bytes > low:
                start = max(start, aligned(high, alignment))
        offsets[op] = start
    return offsets
