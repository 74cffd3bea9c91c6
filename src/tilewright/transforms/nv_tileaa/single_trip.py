"""The operations from one loop up to another, in two versions: for one iteration, and for any.

scf.if %trip_count == 1 {
  operations of the loops, once       // each tile that several loops load is loaded once
} else {
  the loops
}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.loop_bounds import integer_of
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.elements import width_of
from tilewright.dialects.nv_tileaa.constraints import TOKEN
from tilewright.dialects.nv_tileaa.integer import AndIOp, CmpIOp, SubIOp
from tilewright.dialects.scf import ForOp, IfOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_pure
from tilewright.ir.operation import Block, Region
from tilewright.ir.types import FloatType, IntegerType, TensorType
from tilewright.transforms.nv_tileaa.address_ops import clone_address_ops
from tilewright.transforms.nv_tileaa.repeated_loads import has_same_iterations
from tilewright.transforms.nv_tileaa.scalars import constant
from tilewright.transforms.pipeline.iterations import iteration_exists

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileaa.prefetchable_loads import PrefetchableLoad
    from tilewright.transforms.nv_tileaa.repeated_loads import RepeatedLoads


class SingleTrip:
    """The operations of a block from the first loop of some repeated loads up to the last one."""

    __slots__ = ("_first", "loops", "ops")

    def __init__(self, repeated: RepeatedLoads) -> None:
        self._first = repeated.first.loop
        last = repeated.later[-1].loop
        op: Operation | None = self._first
        self.ops: list[Operation] = []
        """The operations, in order."""
        while op is not None and op is not last:
            self.ops.append(op)
            op = op.next
        self.ops.append(last)
        self.loops = [
            op for op in self.ops if isinstance(op, ForOp) and has_same_iterations(self._first, op)
        ]
        """Those among them that are loops with as many iterations as the first one."""

    @property
    def scalars(self) -> list[Operation]:
        """What computes scalars and views, and depends on no other operation of these."""
        inside = {result for op in self.ops for result in op.results}
        independent: list[Operation] = []
        for op in self.ops:
            is_tile = any(isinstance(result.type, TensorType) for result in op.results)
            if op.regions or is_tile or not is_pure(op) or not inside.isdisjoint(op.operands):
                continue
            inside.difference_update(op.results)
            independent.append(op)
        return independent

    def hoist(self, ops: Sequence[Operation]) -> None:
        """Move some operations before the first loop: both versions need them."""
        for op in ops:
            op.detach().insert_before(self._first)
        self.ops = [op for op in self.ops if op not in ops]

    def used_after(self) -> list[Value]:
        """The results of the operations that others use."""
        ops = set(self.ops)
        return [
            result
            for op in self.ops
            for result in op.results
            if any(self._position(user) not in ops for user in result.users)
        ]

    def _position(self, op: Operation) -> Operation:
        """The operation of the block that is another one, or has it inside."""
        block = self._first.parent
        return next((each for each in (op, *op.ancestors()) if each.parent is block), op)

    # Law: with one iteration, a loop is its body with the lower bound and the initial values.
    def build(self, same: Mapping[Operation, Operation], early: Sequence[PrefetchableLoad]) -> IfOp:
        """Build both versions.

        For one iteration, the loads `same` are those of the first loop that they map to, and the
        loads `early` are issued right after them.
        """
        results, ops = self.used_after(), set(self.ops)
        build = Builder(InsertPoint.before(self._first), self._first.location)
        condition = _is_single(build, self._first)
        then, other = Block(), Block()
        types = [result.type for result in results]
        regions = [Region([then]), Region([other])]
        branch = build.insert(IfOp([condition], types, {}, regions, self._first.location))
        values = _Once(Builder(InsertPoint.at_end(then), self._first.location), same, early)
        for op in self.ops:
            if op in self.loops and isinstance(op, ForOp):
                values.add_loop(op)
            else:
                values.add(op)
        values.end(results)
        for result, new in zip(results, branch.results, strict=True):
            for user in [user for user in result.users if self._position(user) not in ops]:
                user.replace_operand(result, new)
        for op in self.ops:
            other.append(op.detach())
        Builder(InsertPoint.at_end(other), self._first.location).create(YieldOp, values=results)
        return branch


class _Once:
    """A copy of operations in which loops are their bodies, executed once."""

    __slots__ = ("_build", "_early", "_same", "_values", "_waiting")

    def __init__(
        self,
        build: Builder,
        same: Mapping[Operation, Operation],
        early: Sequence[PrefetchableLoad],
    ) -> None:
        self._build, self._same, self._early = build, same, early
        self._waiting = set(same.values())
        """The loads after which the early ones are issued."""
        self._values: dict[Value, Value] = {}

    def _of(self, value: Value) -> Value:
        return self._values.get(value, value)

    def add_loop(self, loop: ForOp) -> None:
        """Add the body of a loop."""
        carried = [self._of(value) for value in loop.init_args]
        self._values.update(zip(loop.body.block.args, (loop.lower_bound, *carried), strict=True))
        *inside, last = loop.body.block
        for op in inside:
            self.add(op)
        self._values.update(zip(loop.results, map(self._of, last.operands), strict=True))

    def add(self, op: Operation) -> None:
        """Add an operation, unless there is one with the same results already."""
        if op.results and op.results[0] in self._values:
            return
        twin = self._same.get(op)
        if twin is not None:
            self._values[op.results[0]] = self._values[twin.results[0]]
            return
        self._build.insert(op.clone(self._values))
        if self._waiting == {op}:
            self._issue_early()
        self._waiting.discard(op)

    def _issue_early(self) -> None:
        for load in self._early:
            loop = load.load.parent_op
            assert isinstance(loop, ForOp)
            self._values[loop.induction_variable] = loop.lower_bound
            clone_address_ops(self._build, load.load, load.address_ops, self._values)
            self._build.insert(load.load.clone(self._values))

    def end(self, results: Sequence[Value]) -> None:
        """Yield what the operations compute."""
        self._build.create(YieldOp, values=[self._of(value) for value in results])


def can_pass(type: Type) -> bool:
    """Whether a branch can have a result of a type: a tile, a number or a token."""
    return isinstance(type, TensorType | IntegerType | FloatType) or TOKEN.accepts(type)


def _is_single(build: Builder, loop: ForOp) -> Value:
    """Whether a loop has exactly one iteration."""
    type = loop.lower_bound.type
    assert isinstance(type, IntegerType)
    lower, step = integer_of(loop.lower_bound), integer_of(loop.step)
    most = (1 << (width_of(type) - 1)) - 1
    if step == 1 and lower is not None and 0 <= lower < most:
        following = constant(build, lower + 1, type)
        return build.create(
            CmpIOp, lhs=loop.upper_bound, rhs=following, predicate=CmpIPredicate.EQ
        ).result
    # The difference of the bounds is that of the numbers, modulo their width, if there is one.
    span = build.create(SubIOp, lhs=loop.upper_bound, rhs=loop.lower_bound).result
    is_short = build.create(CmpIOp, lhs=span, rhs=loop.step, predicate=CmpIPredicate.ULE).result
    exists = iteration_exists(build, loop, loop.lower_bound)
    return build.create(AndIOp, lhs=exists, rhs=is_short).result
