"""Rotation of loops in which a dot depends on another, as in attention: P @ V on Q @ K.

An iteration of such a loop is serial: the second dot needs what is computed from the first. But the
first dot of an iteration needs nothing of the one before. So the second dot becomes part of
the next iteration, after its first dot:

    first part of iteration 0
    for i = 1 to n:
      first dot of i
      second part of i - 1: loads and the second dot
      rest of the first part of i, which runs while the second dot is in flight
      what is computed from the second dot
    second part of iteration n - 1

What the second part needs of the first is carried by the loop. Nothing is computed in another order
than before, so that results do not change. Without iterations the loop returns its initial values.

A loop that goes on where another ends, as the one with a causal mask does, also takes over its last
second part, and both share the first part of the first iteration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.integer import MaxSIOp, MaxUIOp
from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr, Signedness
from tilewright.dialects.nv_tileaa.integer import AddIOp, DivIOp, MulIOp, SubIOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TiledLoadOp
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.ir.passes import Pass
from tilewright.ir.rules import constant_of
from tilewright.ir.types import IntegerType
from tilewright.transforms.nv_tileaa.memory_order import MemoryOrder
from tilewright.transforms.nv_tileaa.prefetchable_loads import iteration_exists
from tilewright.transforms.nv_tileaa.rotation import Rotation, previous_loop
from tilewright.transforms.nv_tileaa.scalars import constant
from tilewright.transforms.nv_tileaa.shared_prologue import FirstPart, SharedPrologue, branch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

ROTATE: Final = "rotate"


class RotateDots(Pass):
    """Let the second of two dots in a row run while the next iteration computes."""

    name = "rotate-dots"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            wanted = function.asks(ROTATE)
            if not function.is_kernel or wanted == 0:
                continue
            rotations = _rotations(function, is_forced=wanted is not None)
            if wanted and not rotations:
                function.refuse(ROTATE, "no loop has a dot that it can compute an iteration later")
            _share_pipelines(function, rotations)
            while rotations:
                loop, rotation = rotations.popitem()
                before = previous_loop(loop)
                first = None if before is None else rotations.get(before)
                if first is not None and first.continues_in(rotation):
                    del rotations[first.loop]
                    _rotate_both(first, rotation)
                else:
                    _rotate(rotation)


def _rotations(function: FuncOp, *, is_forced: bool) -> dict[ForOp, Rotation]:
    """The loops that are rotated: where it pays, or if it is forced, all that can be."""
    loops = [each for each in function.walk() if isinstance(each, ForOp)]
    return {
        loop: rotation
        for loop in loops
        if (rotation := Rotation.of(loop)) is not None
        and (is_forced or rotation.blocks(function) > 0)
    }


def _share_pipelines(function: FuncOp, rotations: dict[ForOp, Rotation]) -> None:
    """Prepare loops for the number of blocks on an SM: loads may have to share a pipeline."""
    blocks = min([rotation.blocks(function) for rotation in rotations.values()], default=0)
    order = MemoryOrder()
    for loop, rotation in list(rotations.items()):
        if rotation.shares_pipeline(function):
            for load in [op for op in loop.body.block if isinstance(op, TiledLoadOp)]:
                order.load(load)
            again = Rotation.of(loop)
            assert again is not None
            rotations[loop] = again
    spec = function.kernel_spec
    if spec is not None and spec.occupancy is None and blocks > 1:
        function.attributes["kernel_spec"] = KernelSpecAttr(spec.num_ctas, spec.num_warps, blocks)


def _rotate(rotation: Rotation) -> None:
    """Replace a loop by a branch with the rotated one, for the case that it has an iteration."""
    loop, parts = rotation.loop, _RotatedLoop(rotation)
    build = Builder(InsertPoint.before(loop), loop.location)
    exists = iteration_exists(build, loop, loop.lower_bound)

    def then(inside: Builder) -> Sequence[Value]:
        passed = parts.first(inside, loop.lower_bound, loop.init_args)
        start = inside.create(AddIOp, lhs=loop.lower_bound, rhs=loop.step).result
        last = _last_counter(inside, loop)
        return parts.finish(inside, parts.loop(inside, start, passed), last)

    _replace(loop, branch(build, exists, then, lambda _: loop.init_args))
    loop.erase()


def _rotate_both(first: Rotation, second: Rotation) -> None:
    """Replace two consecutive loops by rotated ones: the last dot of the first is in the second."""
    loop, other = first.loop, second.loop
    build = Builder(InsertPoint.before(other), other.location)
    exists = iteration_exists(build, other, loop.lower_bound)
    starts = iteration_exists(build, loop, loop.lower_bound)
    parts, later = _RotatedLoop(first), _RotatedLoop(second)
    shared = SharedPrologue.of(parts.first_part, later.first_part)

    def then(inside: Builder) -> Sequence[Value]:
        start = inside.create(AddIOp, lhs=loop.lower_bound, rhs=loop.step).result
        if shared is None:
            passed = branch(inside, starts, lambda block: in_first(block, start), in_second)
        else:
            passed = shared.build(inside, starts, [loop.lower_bound, *loop.init_args])
            passed = parts.loop(inside, start, passed)
        # Where the first loop ends: its bound is live in it, the lower one of the second is not.
        larger = MaxUIOp if loop.unsigned_cmp else MaxSIOp
        end = inside.create(larger, lhs=start, rhs=loop.upper_bound).result
        last = _last_counter(inside, other)
        return later.finish(inside, later.loop(inside, end, passed), last)

    def in_first(inside: Builder, start: Value) -> Sequence[Value]:
        passed = parts.first(inside, loop.lower_bound, loop.init_args)
        return parts.loop(inside, start, passed)

    def in_second(inside: Builder) -> Sequence[Value]:
        return later.first(inside, other.lower_bound, loop.init_args)

    _replace(other, branch(build, exists, then, lambda _: loop.init_args))
    other.erase()
    loop.erase()


def _replace(loop: ForOp, results: Sequence[Value]) -> None:
    for old, new in zip(loop.results, results, strict=True):
        old.replace_all_uses_with(new)


class _RotatedLoop:
    """Builds the parts of a rotated loop, from what one iteration passes on to the next."""

    __slots__ = ("_end", "_loop", "_rotation")

    def __init__(self, rotation: Rotation) -> None:
        self._rotation, self._loop = rotation, rotation.loop
        end = rotation.loop.body.block.last
        assert end is not None
        self._end = end

    @property
    def first_part(self) -> FirstPart:
        """The first part of an iteration."""
        loop, rotation = self._loop, self._rotation
        ops = (*rotation.dots, *rotation.rest, *rotation.late)
        return FirstPart(ops, [loop.induction_variable, *loop.carried], self._carried({}))

    def first(self, build: Builder, counter: Value, initial: Sequence[Value]) -> list[Value]:
        """The first part of the first iteration."""
        part = self.first_part
        values = dict(zip(part.arguments, [counter, *initial], strict=True))
        _repeat(build, part.ops, values)
        return [_mapped(values, value) for value in part.results]

    def loop(self, build: Builder, start: Value, passed: Sequence[Value]) -> Sequence[Value]:
        """The iterations from `start` on, each with the second part of the one before."""
        return build.insert(self._rotated(start, passed)).results

    def finish(self, build: Builder, passed: Sequence[Value], last: Value) -> list[Value]:
        """The second part of the last iteration; returns the results of the loop."""
        rotation = self._rotation
        final = self._bound(passed, last)
        _repeat(build, rotation.second, final)
        results = dict(zip(rotation.kept, passed, strict=False))
        return [
            results[carried] if carried in results else _mapped(final, yielded)
            for carried, yielded in zip(self._loop.carried, self._end.operands, strict=True)
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
        _repeat(inside, rotation.last, earlier)
        _repeat(inside, rotation.rest, values)
        # What needs the last dot follows what can run beside it.
        _repeat(inside, rotation.updates, earlier)
        for carried, yielded in zip(loop.carried, self._end.operands, strict=True):
            if carried not in values:
                values[carried] = _mapped(earlier, yielded)
        _repeat(inside, rotation.late, values)
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
