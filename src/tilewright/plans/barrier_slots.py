"""Allocation of mbarrier slots to tokens, by live range.

A token takes a slot from the pool where it is created. The tokens of dependent operations are later
phases of the same mbarrier; a join waits for all its tokens and continues in the slot of the first.
A slot is free again after the last operation that waits on it.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp, JoinMemTokenOp
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.support.diagnostics import fail, note
from tilewright.target.resources import BARRIER_SLOTS

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value

T = TypeVar("T", bound=Hashable)


class Lifetime(NamedTuple, Generic[T]):
    """From the operation with the number `start` to that with the number `end`, both included."""

    token: T
    start: int
    end: int


def assign(lifetimes: Iterable[Lifetime[T]], pool: int) -> tuple[dict[T, int], Lifetime[T] | None]:
    """Give each token the lowest free slot; also return the first token left over."""
    slots: dict[T, int] = {}
    busy: dict[int, int] = {}
    for token, start, end in sorted(lifetimes, key=lambda lifetime: lifetime.start):
        slot = next((slot for slot in range(pool) if busy.get(slot, -1) < start), None)
        if slot is None:
            return slots, Lifetime(token, start, end)
        slots[token] = slot
        busy[slot] = end
    return slots, None


def token_slots(
    function: Operation,
    pool: int = BARRIER_SLOTS,
    among: Container[CreateMemTokenOp] | None = None,
) -> dict[CreateMemTokenOp, int]:
    """A slot for each token that a function creates, or for those in `among`.

    More live tokens than slots are a `UserError`.
    """
    lifetimes = token_lifetimes(function)
    if among is not None:
        lifetimes = [life for life in lifetimes if life.token in among]
    slots, left = assign(lifetimes, pool)
    if left is None:
        return slots
    rivals = [life for life in lifetimes if life.start <= left.start <= life.end]
    fail(
        f"expected at most {pool} tokens at once, one for each barrier, got one more",
        left.token.location,
        *[note("a token that still lives", life.token.location) for life in rivals[:1]],
    )


def token_lifetimes(function: Operation) -> list[Lifetime[CreateMemTokenOp]]:
    """The live range of each token that a function creates."""
    numbers = {op: number for number, op in enumerate(function.walk())}
    creations = [op for op in numbers if isinstance(op, CreateMemTokenOp)]
    return [_Walk(numbers, op).lifetime() for op in creations]


class _Walk:
    """Follows a token through the operations that continue in its slot."""

    __slots__ = ("_creation", "_end", "_numbers", "_pending", "_seen", "_start")

    def __init__(self, numbers: dict[Operation, int], creation: CreateMemTokenOp) -> None:
        self._creation = creation
        self._numbers = numbers
        self._start = self._end = numbers[creation]
        self._pending: list[Value] = [creation.result]
        self._seen: set[Value] = {creation.result}

    def lifetime(self) -> Lifetime[CreateMemTokenOp]:
        """From the creation, or the start of the loop that carries it, to the last use."""
        while self._pending:
            token = self._pending.pop()
            for user, index in token.uses():
                self._reach(user, token.parent_block)
                self._follow(user, index)
        return Lifetime(self._creation, self._start, self._end)

    def _reach(self, user: Operation, home: Block | None) -> None:
        """Extend the live range to a use, or to the end of a region that the use is in."""
        outer = user
        while outer.parent is not home and outer.parent_op is not None:
            outer = outer.parent_op
        self._end = max(self._end, self._last(outer) if outer is not user else self._numbers[user])

    def _follow(self, user: Operation, index: int) -> None:
        if isinstance(user, JoinMemTokenOp):
            self._add(user.results if index == 0 else ())
        elif user.regions:
            self._enter(user)
        elif user.is_terminator and user.parent_op in self._numbers:
            assert user.parent_op is not None
            self._enter(user.parent_op)
        else:
            self._add(user.results)

    def _enter(self, op: Operation) -> None:
        """A token that enters or leaves a region is live throughout the region."""
        self._start = min(self._start, self._numbers[op])
        self._end = max(self._end, self._last(op))
        self._add(op.results)
        for region in op.regions:
            for block in region.blocks:
                self._add(block.args)

    def _add(self, values: Iterable[Value]) -> None:
        for value in values:
            if value.type is MEM_TOKEN and value not in self._seen:
                self._seen.add(value)
                self._pending.append(value)

    def _last(self, op: Operation) -> int:
        """The number of the last operation inside another."""
        return self._numbers[op] + sum(1 for _ in op.walk()) - 1
