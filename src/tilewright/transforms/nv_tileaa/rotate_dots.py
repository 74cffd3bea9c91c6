"""Rotation of loops in which a dot depends on another, as in attention: P @ V on Q @ K.

An iteration of such a loop is serial: the second dot needs what is computed from the first. But the
first dot of an iteration needs nothing of the one before. So the second dot becomes part of
the next iteration, after its first dot:

    first part of iteration 0
    for i = 1 to n:
      first dot of i
      second part of i - 1: loads and the second dot
      rest of the first part of i, which runs while the second dot is in flight
    second part of iteration n - 1

What the second part needs of the first is carried by the loop. Nothing is computed in another order
than before, so that results do not change. Without iterations the loop returns its initial values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.integer import AddIOp, DivIOp, MulIOp, SubIOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.scf import ForOp, IfOp, YieldOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.ir.passes import Pass, option
from tilewright.ir.rules import constant_of
from tilewright.ir.types import IntegerType
from tilewright.transforms.nv_tileaa.prefetchable_loads import iteration_exists
from tilewright.transforms.nv_tileaa.rotation import Rotation
from tilewright.transforms.nv_tileaa.scalars import constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


class RotateDots(Pass):
    """Let the second of two dots in a row run while the next iteration computes."""

    name = "rotate-dots"
    rotate: int = option(default=-1, doc="rotate where possible, 0 or 1; -1: chosen")

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if not function.is_kernel or not self.rotate:
                continue
            for loop in [each for each in function.walk_post_order() if isinstance(each, ForOp)]:
                rotation = Rotation.of(loop)
                if rotation is None:
                    continue
                if self.rotate > 0 or rotation.is_worthwhile(function):
                    _rotate(rotation)


def _rotate(rotation: Rotation) -> None:
    """Replace a loop by a branch with the rotated one, for the case that it has an iteration."""
    loop = rotation.loop
    build = Builder(InsertPoint.before(loop), loop.location)
    exists = iteration_exists(build, loop, loop.lower_bound)
    then, other = Block(), Block()
    types = [result.type for result in loop.results]
    guard = IfOp([exists], types, {}, [Region([then]), Region([other])], loop.location)
    build.insert(guard)
    inside = Builder(InsertPoint.at_end(then), loop.location)
    inside.create(YieldOp, values=_RotatedLoop(rotation).build(inside))
    Builder(InsertPoint.at_end(other), loop.location).create(YieldOp, values=loop.init_args)
    for old, new in zip(loop.results, guard.results, strict=True):
        old.replace_all_uses_with(new)
    loop.erase()


class _RotatedLoop:
    """Builds the parts of a rotated loop."""

    __slots__ = ("_end", "_loop", "_rotation")

    def __init__(self, rotation: Rotation) -> None:
        self._rotation, self._loop = rotation, rotation.loop
        end = rotation.loop.body.block.last
        assert end is not None
        self._end = end

    def build(self, build: Builder) -> list[Value]:
        """Build prologue, loop and epilogue; returns the results of the loop."""
        loop, rotation = self._loop, self._rotation
        values: dict[Value, Value] = dict(zip(loop.carried, loop.init_args, strict=True))
        values[loop.induction_variable] = loop.lower_bound
        _repeat(build, (*rotation.dots, *rotation.rest), values)
        start = build.create(AddIOp, lhs=loop.lower_bound, rhs=loop.step).result
        last = _last_counter(build, loop)
        rotated = self._rotated(start, self._carried(values))
        build.insert(rotated)
        final = self._bound(rotated.results, last)
        _repeat(build, rotation.second, final)
        results = dict(zip(rotation.kept, rotated.results, strict=False))
        return [
            results[carried] if carried in results else _mapped(final, yielded)
            for carried, yielded in zip(loop.carried, self._end.operands, strict=True)
        ]

    def _carried(self, values: dict[Value, Value]) -> list[Value]:
        """What an iteration passes on: the kept values of the loop, and those that cross over."""
        loop, rotation = self._loop, self._rotation
        yielded: dict[Value, Value] = dict(zip(loop.carried, self._end.operands, strict=True))
        kept = [_mapped(values, yielded[value]) for value in rotation.kept]
        return [*kept, *[_mapped(values, value) for value in rotation.crossing]]

    def _bound(self, passed: Sequence[Value], counter: Value) -> dict[Value, Value]:
        """The values of the second part, for what an iteration passed on to it."""
        rotation = self._rotation
        crossing = passed[len(rotation.kept) :]
        values = dict(zip(rotation.crossing, crossing, strict=True))
        values[self._loop.induction_variable] = counter
        return values

    def _rotated(self, start: Value, initial: Sequence[Value]) -> ForOp:
        loop, rotation = self._loop, self._rotation
        types = [start.type, *[value.type for value in initial]]
        body = Block(types, [loop.location] * len(types))
        counter, *passed = body.args
        inside = Builder(InsertPoint.at_end(body), loop.location)
        values: dict[Value, Value] = dict(zip(rotation.kept, passed, strict=False))
        values[loop.induction_variable] = counter
        _repeat(inside, rotation.dots, values)
        before = inside.create(SubIOp, lhs=counter, rhs=loop.step).result
        earlier = self._bound(passed, before)
        _repeat(inside, rotation.second, earlier)
        for carried, yielded in zip(loop.carried, self._end.operands, strict=True):
            if carried not in values:
                values[carried] = _mapped(earlier, yielded)
        _repeat(inside, rotation.rest, values)
        inside.create(YieldOp, values=self._carried(values))
        operands = [start, loop.upper_bound, loop.step, *initial]
        return ForOp(operands, types[1:], loop.attributes, [Region([body])], loop.location)


def _last_counter(build: Builder, loop: ForOp) -> Value:
    """The counter of the last iteration of a loop that has one.

    The difference of the bounds is taken for unsigned: it may not fit into a signed integer.
    """
    assert isinstance(loop.step.type, IntegerType)
    one = constant(build, 1, loop.step.type)
    most = build.create(SubIOp, lhs=loop.upper_bound, rhs=one).result
    step = constant_of(loop.step)
    if isinstance(step, IntegerAttr) and step.value == 1:
        return most
    span = build.create(SubIOp, lhs=most, rhs=loop.lower_bound).result
    steps = build.create(DivIOp, lhs=span, rhs=loop.step, signedness=Signedness.UNSIGNED).result
    covered = build.create(MulIOp, lhs=steps, rhs=loop.step).result
    return build.create(AddIOp, lhs=loop.lower_bound, rhs=covered).result


def _repeat(build: Builder, ops: Iterable[Operation], values: dict[Value, Value]) -> None:
    for op in ops:
        build.insert(op.clone(values))


def _mapped(values: dict[Value, Value], value: Value) -> Value:
    return values.get(value, value)
