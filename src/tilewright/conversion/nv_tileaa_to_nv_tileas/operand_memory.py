"""Shared memory for the operands of dots by wgmma that are stored at the same time.

A tile is stored where it is computed, and remains until its last dot. In a loop, stages hold the
tiles of several iterations: all tiles that it computes are stored as long as it runs. So two loops,
one after the other, share the memory for their tiles, but not for those from before both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.types import stored_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tilewright.dialects.nv_tileaa.matrix import DotOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


class Span(NamedTuple):
    """The operations during which a tile is stored, by their numbers in program order."""

    start: int
    end: int

    def joined(self, other: Span) -> Span:
        """From the start of the first to the end of the last."""
        return Span(min(self.start, other.start), max(self.end, other.end))


class OperandMemory:
    """The operands of dots in shared memory, of which those that are live together must fit."""

    __slots__ = ("_limit", "_numbers", "_spans")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._numbers: dict[Operation, int] = {}
        self._spans: dict[Value, Span] = {}

    def fits(self, dot: DotOp) -> bool:
        """Whether the operands of a dot fit beside all that are stored at the same time."""
        if not self._spans:
            return _bytes({dot.a, dot.b}) <= self._limit
        spans = self._spans | {value: self._span(value, dot) for value in (dot.a, dot.b)}
        return all(
            _bytes(value for value, span in spans.items() if span.start <= start <= span.end)
            <= self._limit
            for start in {span.start for span in spans.values()}
        )

    def add(self, dot: DotOp) -> None:
        """Store the operands of a dot, too."""
        if not self._numbers:
            kernel = next(op for op in dot.ancestors() if isinstance(op, FuncOp))
            self._numbers = {op: number for number, op in enumerate(kernel.walk())}
        for value in (dot.a, dot.b):
            self._spans[value] = self._span(value, dot)

    def _span(self, value: Value, dot: DotOp) -> Span:
        block = value.parent_block
        around = None if block is None else block.parent_op
        while around is not None and around.loop_body is None:
            around = around.parent_op
        if around is not None:
            return Span(self._numbers[around], self._last(around))
        op = value.defining_op()
        start = 0 if op is None else self._last(op) + 1
        # A loop in which the tile is not computed reads it again and again.
        user = next(each for each in (dot, *dot.ancestors()) if each.parent is block)
        span = Span(start, self._last(user))
        return span.joined(self._spans[value]) if value in self._spans else span

    def _last(self, op: Operation) -> int:
        """The number of the last operation inside of an operation, or of itself."""
        return self._numbers[op] + sum(1 for _ in op.walk()) - 1


def _bytes(values: Iterable[Value]) -> int:
    return sum(stored_bytes(value.type) for value in values)
