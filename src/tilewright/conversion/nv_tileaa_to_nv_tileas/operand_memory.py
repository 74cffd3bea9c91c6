"""Shared memory for the operands of dots by wgmma that are stored at the same time.

A tile is stored where it is computed, and remains until its last dot. In an innermost loop, stages
hold the tiles of several iterations: all tiles that it computes are stored as long as it runs. So
two loops, one after the other, share the memory for their tiles, but not for those from before
both; likewise in a loop around them, as that of a persistent kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.shape import ExpandDimsOp, PermuteOp, ViewOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.types import stored_bytes
from tilewright.target.tensor_cores import EITHER_MAJOR_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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

    def fits(self, dot: DotOp, operands: Iterable[Value]) -> bool:
        """Whether operands of a dot fit beside all that are stored at the same time."""
        tiles = {_stored_tile(operand) for operand in operands}
        if not self._spans:
            return _bytes(tiles) <= self._limit
        spans = self._spans | {tile: self._span(tile, dot) for tile in tiles}
        return all(
            _bytes(value for value, span in spans.items() if span.start <= start <= span.end)
            <= self._limit
            for start in {span.start for span in spans.values()}
        )

    def fits_with(self, limit: int, dot: DotOp, operands: Sequence[Value]) -> bool:
        """Whether they fit with another limit, which holds from then on if they do."""
        before, self._limit = self._limit, limit
        fits = self.fits(dot, operands)
        if not fits:
            self._limit = before
        return fits

    def add(self, dot: DotOp, operands: Iterable[Value]) -> None:
        """Store operands of a dot, too."""
        if not self._numbers:
            kernel = next(op for op in dot.ancestors() if isinstance(op, FuncOp))
            self._numbers = {op: number for number, op in enumerate(kernel.walk())}
        for tile in map(_stored_tile, operands):
            self._spans[tile] = self._span(tile, dot)

    def _span(self, value: Value, dot: DotOp) -> Span:
        block = value.parent_block
        around = None if block is None else block.parent_op
        while around is not None and around.loop_body is None:
            around = around.parent_op
        if around is not None and not _has_loops(around):
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


def _has_loops(loop: Operation) -> bool:
    """Whether other loops are inside of a loop."""
    return any(op.loop_body is not None for op in loop.walk() if op is not loop)


def _stored_tile(operand: Value) -> Value:
    """The tile that is stored for an operand: one for all that differ in shape or order only.

    Keys that are values as well are an example. Instructions read 16-bit elements in either order.
    """
    if pointee_bytes(element_of(operand.type)) != EITHER_MAJOR_BYTES:
        return operand
    while isinstance(op := operand.defining_op(), ViewOp | ExpandDimsOp | PermuteOp):
        operand = op.source
    return operand


def _bytes(values: Iterable[Value]) -> int:
    return sum(stored_bytes(value.type) for value in values)
