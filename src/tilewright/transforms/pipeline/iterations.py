"""Iterations of a loop: whether there is one, the last one, and what is executed only if it exists.

That is a branch, or a load under a predicate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.loop_bounds import integer_of
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.elements import with_element
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.early_execution import scalar_index
from tilewright.dialects.nv_tileaa.integer import AddIOp, AndIOp, CmpIOp, DivIOp, MulIOp, SubIOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.shape import SelectOp, SplatOp
from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.ir.types import I1, IntegerType, TensorType
from tilewright.transforms.nv_tileaa.scalars import constant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tilewright.dialects.nv_tileaa.early_execution import AnyLoad
    from tilewright.dialects.nv_tileaa.view import TileLoadOp
    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

OUT_OF_BOUNDS: Final = -1
"""A tile with this index is out of bounds, whatever its other indices are."""


class Limit(NamedTuple):
    """What the counter of an iteration is below if there is one at a distance from it."""

    difference: Value
    """Of the counters of both."""
    limit: Value


class Counters:
    """The counters of the iterations around one of a loop, and whether these exist."""

    __slots__ = ("_build", "_counters", "_exists", "_is_first", "_limits", "_loop")

    def __init__(
        self,
        build: Builder,
        loop: ForOp,
        counter: Value,
        limits: Mapping[int, Limit] | None = None,
        *,
        is_first: bool = False,
    ) -> None:
        """Start with the counter of an iteration, which exists unless it is the first one.

        Where there are limits of the counter for distances, these take one comparison.
        """
        self._build, self._loop, self._limits = build, loop, limits or {}
        self._is_first = is_first
        self._counters: dict[int, Value] = {0: counter}
        self._exists: dict[int, Value] = {}

    def after(self, distance: int) -> Value:
        """The counter a number of iterations later, or earlier if that is negative."""
        if distance not in self._counters:
            kind, nearer = (AddIOp, distance - 1) if distance > 0 else (SubIOp, distance + 1)
            step = self._loop.step
            if (limit := self._limits.get(distance)) is not None:
                nearer, step = 0, limit.difference
            counter = self._build.create(kind, lhs=self.after(nearer), rhs=step)
            self._counters[distance] = counter.result
        return self._counters[distance]

    def exists(self, distance: int) -> Value:
        """Whether there is an iteration at a distance.

        Only if those before exist, since its counter may wrap.
        """
        if distance not in self._exists:
            self._exists[distance] = self._compare(distance)
        return self._exists[distance]

    def _compare(self, distance: int) -> Value:
        if (limit := self._limits.get(distance)) is not None:
            return _is_below(self._build, self._loop, self.after(0), limit.limit)
        is_next = distance <= int(not self._is_first)
        before = None if is_next else self.exists(distance - 1)
        exists = iteration_exists(self._build, self._loop, self.after(distance))
        if before is None:
            return exists
        return self._build.create(AndIOp, lhs=before, rhs=exists).result


def iteration_exists(build: Builder, loop: ForOp, counter: Value) -> Value:
    """Whether a loop has an iteration with a value of its counter, the first one or the next."""
    return _is_below(build, loop, counter, loop.upper_bound)


def asks_existence(op: Operation, loop: ForOp) -> bool:
    """Whether an operation of a loop's body compares its counter as `iteration_exists` does."""
    asked = (loop.induction_variable, loop.upper_bound)
    return isinstance(op, CmpIOp) and op.operands == asked and op.predicate is _predicate(loop)


def limits_of(build: Builder, loop: ForOp, distances: Iterable[int]) -> dict[int, Limit]:
    """What the counter of an iteration is below if the one at a distance exists.

    Only for distances that are constant numbers, which fit into the counter.
    """
    step, type = integer_of(loop.step), loop.step.type
    if step is None or not isinstance(type, IntegerType):
        return {}
    limits: dict[int, Limit] = {}
    lowest = 0 if loop.unsigned_cmp else -1 << (type.width - 1)
    for distance in distances:
        gap, bound = step * distance, loop.upper_bound
        if not 0 < gap < 1 << (type.width - 1):
            continue
        difference = constant(build, gap, type)
        # The bound minus the difference may be less than the lowest number.
        is_less = _is_below(build, loop, bound, constant(build, lowest + gap, type))
        reduced = build.create(SubIOp, lhs=bound, rhs=difference).result
        limit = build.create(
            SelectOp,
            condition=is_less,
            true_value=constant(build, lowest, type),
            false_value=reduced,
            types=[type],
        ).result
        limits[distance] = Limit(difference, limit)
    return limits


def last_counter(build: Builder, loop: ForOp) -> Value:
    """The counter of the last iteration of a loop that has one."""
    type = loop.step.type
    assert isinstance(type, IntegerType)
    most = build.create(SubIOp, lhs=loop.upper_bound, rhs=constant(build, 1, type)).result
    if integer_of(loop.step) == 1:
        return most
    # The difference is unsigned: it may not fit into a signed integer.
    span = build.create(SubIOp, lhs=most, rhs=loop.lower_bound).result
    number = build.create(DivIOp, lhs=span, rhs=loop.step, signedness=Signedness.UNSIGNED).result
    covered = build.create(MulIOp, lhs=number, rhs=loop.step).result
    return build.create(AddIOp, lhs=loop.lower_bound, rhs=covered).result


def branch(
    build: Builder,
    condition: Value,
    then: Callable[[Builder], Sequence[Value]],
    otherwise: Callable[[Builder], Sequence[Value]] | None = None,
) -> IfOp:
    """Build an `scf.if` of one or two blocks that yield values."""

    def region(fill: Callable[[Builder], Sequence[Value]]) -> Region:
        block = Block()
        inside = Builder(InsertPoint.at_end(block), build.location)
        inside.create(YieldOp, values=fill(inside))
        return Region([block])

    regions = [region(then), Region() if otherwise is None else region(otherwise)]
    end = regions[0].block.last
    assert end is not None
    types = [value.type for value in end.operands]
    return build.insert(IfOp([condition], types, {}, regions, build.location))


# Law: without an iteration, the results of a loop are its initial values.
def guard_loop(loop: ForOp, waits: Sequence[Operation] = ()) -> IfOp:
    """Move a loop into the branch of an `scf.if` that is taken if it has an iteration.

    With it go the waits for its results that follow it, each of which has one operand and result.
    """
    moved: list[Operation] = [loop, *waits]
    yielded: list[Value] = [*loop.results]
    for wait in waits:
        yielded[yielded.index(wait.operands[0])] = wait.results[0]
    uses = [list(value.users) for value in yielded]
    build = Builder(InsertPoint.after(moved[-1]), loop.location)

    def then(inside: Builder) -> Sequence[Value]:
        for op in moved:
            inside.insert(op.detach())
        return yielded

    exists = iteration_exists(build, loop, loop.lower_bound)
    guard = branch(build, exists, then, (lambda _: loop.init_args) if yielded else None)
    for old, users, new in zip(yielded, uses, guard.results, strict=True):
        for user in users:
            user.replace_operand(old, new)
    return guard


def predicate(build: Builder, load: AnyLoad, condition: Value) -> None:
    """Let a load access no memory if a condition is false; then its results are undefined."""
    if isinstance(load, LoadOp):
        _mask(build, load, condition)
    else:
        _move_out_of_bounds(build, load, condition)


# Law: where its mask is false, a load accesses no memory.
def _mask(build: Builder, load: LoadOp, condition: Value) -> None:
    type, mask = with_element(load.pointers.type, I1), condition
    if isinstance(type, TensorType):
        mask = build.create(SplatOp, source=condition, types=[type]).result
    if load.mask is not None:
        mask = build.create(AndIOp, lhs=load.mask, rhs=mask).result
    other, token = load.other, load.token
    rest = [value for value in (other, token) if value is not None]
    segments = (1, 1, int(other is not None), int(token is not None))
    load.set_operands([load.pointers, mask, *rest], segments)


# Law: a load of a tile that is out of bounds accesses no memory; an assumption that it is in bounds
# is dropped.
def _move_out_of_bounds(build: Builder, load: TileLoadOp, condition: Value) -> None:
    number = scalar_index(load)
    assert number is not None
    index = load.indices[number]
    assert isinstance(index.type, IntegerType)
    away = constant(build, OUT_OF_BOUNDS, index.type)
    moved = build.create(
        SelectOp, condition=condition, true_value=index, false_value=away, types=[index.type]
    )
    load.set_operand(1 + number, moved.result)
    load.sliced = True
    if load.in_bounds is not None:
        load.in_bounds = tuple([*load.in_bounds[:number], 0, *load.in_bounds[number + 1 :]])


def _is_below(build: Builder, loop: ForOp, number: Value, limit: Value) -> Value:
    return build.create(CmpIOp, lhs=number, rhs=limit, predicate=_predicate(loop)).result


def _predicate(loop: ForOp) -> CmpIPredicate:
    return CmpIPredicate.ULT if loop.unsigned_cmp else CmpIPredicate.SLT
