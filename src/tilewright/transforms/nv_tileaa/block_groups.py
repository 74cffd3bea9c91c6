"""Block ids for which the longest blocks of several rows of the grid start first.

A row of the grid is the blocks that differ in x alone, for example those of one head of an
attention. A GPU starts row after row. Counting x from the last block down, the longest block of
the last rows would start when the GPU is nearly done, and run on alone. So a group of rows, as
many as occupy a GPU, starts its blocks together: the last block of each row, then the one before.
Groups are no larger than that because blocks of a row read the same data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.arith import integer as arith
from tilewright.dialects.nv_tileaa import integer
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.ir.types import I32
from tilewright.target.arch import TYPICAL_SMS
from tilewright.transforms.nv_tileaa.scalars import constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value


class Division(NamedTuple):
    """A quotient and the remainder."""

    quotient: Value
    remainder: Value


class BlockGroups:
    """Builds the ids that a block takes instead of its own.

    A group has at least as many blocks as a GPU has SMs. Nothing overflows, whatever the grid: one
    of several rows has less than twice as many.
    """

    __slots__ = ("_build", "_counts", "_ids")

    def __init__(self, build: Builder, ids: Sequence[Value], counts: Sequence[Value]) -> None:
        self._build = build
        self._ids = ids
        self._counts = counts

    def ids(self, *, with_z: bool) -> list[Value]:
        """X, y and z; rows of all z are in one sequence, or rows of each z on their own."""
        x, y, z = self._ids
        columns, rows, layers = self._counts
        row = self._sum(y, self._times(z, rows)) if with_z else y
        count = self._times(rows, layers) if with_z else rows
        group_rows = self._divided_up(constant(self._build, TYPICAL_SMS, I32), columns)
        group = self._divided(row, group_rows)
        first = self._difference(row, group.remainder)
        # The last group may have fewer rows.
        size = self._least(group_rows, self._difference(count, first))
        number = self._sum(x, self._times(group.remainder, columns))
        order = self._divided(number, size)
        last = self._difference(columns, constant(self._build, 1, I32))
        new_x = self._difference(last, order.quotient)
        new_row = self._sum(first, order.remainder)
        if not with_z:
            return [new_x, new_row, z]
        layer = self._divided(new_row, rows)
        return [new_x, layer.remainder, layer.quotient]

    def _sum(self, lhs: Value, rhs: Value) -> Value:
        return self._build.create(integer.AddIOp, lhs=lhs, rhs=rhs).result

    def _difference(self, lhs: Value, rhs: Value) -> Value:
        return self._build.create(integer.SubIOp, lhs=lhs, rhs=rhs).result

    def _times(self, lhs: Value, rhs: Value) -> Value:
        return self._build.create(integer.MulIOp, lhs=lhs, rhs=rhs).result

    def _least(self, lhs: Value, rhs: Value) -> Value:
        return self._build.create(arith.MinUIOp, lhs=lhs, rhs=rhs).result

    def _divided_up(self, lhs: Value, rhs: Value) -> Value:
        """The quotient of positive numbers, rounded up."""
        one = constant(self._build, 1, I32)
        return self._quotient(self._sum(lhs, self._difference(rhs, one)), rhs)

    def _divided(self, lhs: Value, rhs: Value) -> Division:
        quotient = self._quotient(lhs, rhs)
        return Division(quotient, self._difference(lhs, self._times(quotient, rhs)))

    def _quotient(self, lhs: Value, rhs: Value) -> Value:
        unsigned = Signedness.UNSIGNED
        return self._build.create(integer.DivIOp, lhs=lhs, rhs=rhs, signedness=unsigned).result
