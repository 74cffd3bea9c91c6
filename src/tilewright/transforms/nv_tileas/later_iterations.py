"""Iterations that a loop copies early: which they are, and whether they exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.nv_tileaa.integer import AddIOp, AndIOp, CmpIOp, SubIOp
from tilewright.dialects.nv_tileaa.shape import SelectOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.rules import constant_of
from tilewright.ir.types import IntegerType
from tilewright.transforms.nv_tileaa.scalars import constant
from tilewright.transforms.nv_tileas.stage_copies import Iteration
from tilewright.transforms.pipeline.iterations import iteration_exists

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value


class LaterIterations:
    """The iterations that a loop copies early, or several loops of which `last` is the last."""

    __slots__ = ("_difference", "_distance", "_last", "_limit", "_step")

    def __init__(self, first: ForOp, last: ForOp, distance: int) -> None:
        self._last, self._step, self._distance = last, first.step, distance
        self._difference: Value | None = None
        """The distance in values of the counter, if it is a constant."""
        self._limit: Value | None = None
        """The iteration at that distance exists if the counter is below it."""

    def first(self, build: Builder, start: Value) -> Iterator[Iteration]:
        """The first iterations, as many as the distance."""
        iteration = Iteration(start, self._exists(build, start))
        for number in range(self._distance):
            if number:
                iteration = self._following(build, iteration)
            yield iteration

    def prepare(self, build: Builder) -> None:
        """Compute before the loops what is the same for all iterations."""
        step, type = constant_of(self._step), self._step.type
        if not isinstance(step, IntegerAttr) or not isinstance(type, IntegerType):
            return
        gap = step.value * self._distance
        least = 0 if self._last.unsigned_cmp else -1 << (type.width - 1)
        if not 0 < gap < 1 << (type.width - 1):
            return
        bound, self._difference = self._last.upper_bound, constant(build, gap, type)
        # The bound minus the distance may be less than the least number.
        is_less = self._is_below(build, bound, constant(build, least + gap, type))
        reduced = build.create(SubIOp, lhs=bound, rhs=self._difference).result
        self._limit = build.create(
            SelectOp,
            condition=is_less,
            true_value=constant(build, least, type),
            false_value=reduced,
            types=[type],
        ).result

    def after(self, build: Builder, counter: Value) -> Iteration:
        """The iteration at the distance from one of the loop."""
        if self._difference is not None and self._limit is not None:
            index = build.create(AddIOp, lhs=counter, rhs=self._difference).result
            return Iteration(index, self._is_below(build, counter, self._limit))
        index = build.create(AddIOp, lhs=counter, rhs=self._step).result
        iteration = Iteration(index, self._exists(build, index))
        for _ in range(1, self._distance):
            iteration = self._following(build, iteration)
        return iteration

    def _following(self, build: Builder, iteration: Iteration) -> Iteration:
        """The iteration after one; exists only if that one does, since the index may wrap."""
        assert iteration.exists is not None
        index = build.create(AddIOp, lhs=iteration.induction, rhs=self._step).result
        exists = build.create(AndIOp, lhs=iteration.exists, rhs=self._exists(build, index)).result
        return Iteration(index, exists)

    def _exists(self, build: Builder, counter: Value) -> Value:
        return iteration_exists(build, self._last, counter)

    def _is_below(self, build: Builder, number: Value, limit: Value) -> Value:
        predicate = CmpIPredicate.ULT if self._last.unsigned_cmp else CmpIPredicate.SLT
        return build.create(CmpIOp, lhs=number, rhs=limit, predicate=predicate).result
