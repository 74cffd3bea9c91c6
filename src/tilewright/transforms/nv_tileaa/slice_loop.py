"""The loop over slices that replaces the members of a slicing plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import with_element
from tilewright.dialects.nv_tileaa import integer, memory, shape, view
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.ir.attributes import UNIT
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.ir.types import I1, I32
from tilewright.transforms.nv_tileaa.scalars import constant
from tilewright.transforms.nv_tileaa.tile_slices import (
    RematerializedSlices,
    SliceAccess,
    cut_type,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.aggregate import ReduceOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileaa.slice_plan import Plan


def build_loop(plan: Plan) -> None:
    """Replace the members of a plan by a loop over slices."""
    last = plan.members[-1]
    outside = Builder(InsertPoint.after(last), last.location)
    tokens, reductions = plan.tokens(), plan.reductions()
    starts = [_first_token(outside, plan, token) for token in tokens]
    for op in reductions:
        for source in op.sources:
            type = cut_type(source.type, plan.ways[op][source], plan.count)
            value = literal([0], type)
            starts.append(outside.create(ConstantOp, value=value, types=[type]).result)
    types = [value.type for value in starts]
    body = Block([I32, *types])
    bounds = [constant(outside, number, I32) for number in (0, plan.count, 1)]
    loop = outside.create(
        ForOp,
        lower_bound=bounds[0],
        upper_bound=bounds[1],
        step=bounds[2],
        init_args=starts,
        body=body,
        types=types,
    )
    slices = Slices(plan, Builder(InsertPoint.at_end(body), last.location), body.args[0])
    slices.fill(tokens, reductions, body.args[1:])
    _replace(plan, outside, loop, tokens, reductions)


def _first_token(outside: Builder, plan: Plan, token: Value) -> Value:
    """The token that a member takes in the first iteration."""
    op = token.defining_op()
    own = op.token if isinstance(op, view.TileLoadOp | view.TileStoreOp) else None
    if isinstance(op, memory.LoadOp | memory.StoreOp):
        own = op.token
    if own is not None and own.defining_op() not in plan.members:
        return own
    return outside.create(memory.CreateMemTokenOp).result


def _replace(
    plan: Plan,
    outside: Builder,
    loop: ForOp,
    tokens: Sequence[Value],
    reductions: Sequence[ReduceOp],
) -> None:
    """Replace uses of members by the results of the loop; finish reductions after it."""
    given = iter(loop.results)
    for token in tokens:
        after = next(given)
        for user in tuple(token.users):
            if user not in plan.members:
                user.replace_operand(token, after)
    for op in reductions:
        values: dict[Value, Value] = {}
        parts = [next(given) for _ in op.sources]
        end = op.like(parts, [result.type for result in op.results])
        end.set_regions([region.clone(values) for region in op.regions])
        outside.insert(end)
        for old, new in zip(op.results, end.results, strict=True):
            old.replace_all_uses_with(new)
    for op in plan.late:
        outside.insert(op.detach())
    for op in reversed(plan.members):
        op.erase()


class Slices:
    """Builds one slice of every member, in the body of the loop."""

    __slots__ = ("_before", "_build", "_first", "_made", "_number", "_plan", "_remade")

    def __init__(self, plan: Plan, build: Builder, number: Value) -> None:
        self._plan = plan
        self._build = build
        self._before: Builder | None = None
        """Builds before the loop that is being built, if there is one."""
        self._number = number
        self._first: Value | None = None
        self._made: dict[Value, Value] = {}
        self._remade = RematerializedSlices(plan.count, number, self._builder_for, self._made)

    def fill(
        self, tokens: Sequence[Value], reductions: Sequence[ReduceOp], carried: Sequence[Value]
    ) -> None:
        """Build all members; yield the tokens and the accumulators of reductions."""
        for op in self._plan.members:
            self._build.location = op.location
            if isinstance(op, ForOp):
                self._loop(op)
            elif op not in reductions:
                self._member(op)
        rest = iter(carried)
        passed = [self._joined(next(rest), self._made[token]) for token in tokens]
        for op in reductions:
            passed += self._accumulated(op, [next(rest) for _ in op.sources])
        self._build.create(YieldOp, values=passed)

    def _joined(self, one: Value, other: Value) -> Value:
        return self._build.create(memory.JoinMemTokenOp, tokens=[one, other]).result

    def _member(self, op: Operation) -> None:
        way = self._plan.ways.get(op, {})
        operands = [self._operand(value, way.get(value)) for value in op.operands]
        types = [self._cut(result, way.get(result)) for result in op.results]
        if isinstance(op, view.TileLoadOp | view.TileStoreOp):
            aim = SliceAccess(op, way[op.tile], self._plan.count)
            operands = aim.operands(operands, self._number, self._build)
        made = op.like(operands, types)
        if isinstance(op, view.TileAccessOp):
            made.attributes["sliced"] = UNIT
        made.set_regions([region.clone({}) for region in op.regions])
        self._build.insert(made)
        self._made.update(zip(op.results, made.results, strict=True))

    def _loop(self, op: ForOp) -> None:
        """Build a loop that carries slices."""
        old, outer = op.body.block, self._build
        dims = [self._plan.dims.get(value) for value in op.carried]
        starts = [self._operand(value, dim) for value, dim in zip(op.init_args, dims, strict=True)]
        bounds = [self._operand(value, None) for value in op.operands[: -len(starts)]]
        types = [value.type for value in starts]
        body = Block([old.args[0].type, *types])
        made = op.like([*bounds, *starts], types)
        made.set_regions([Region([body])])
        outer.insert(made)
        self._made.update(zip(old.args, body.args, strict=True))
        self._before = Builder(InsertPoint.before(made), op.location)
        self._build = Builder(InsertPoint.at_end(body), op.location)
        for inner in old:
            self._build.location = inner.location
            if isinstance(inner, YieldOp):
                passed = zip(inner.values, dims, strict=True)
                self._build.create(YieldOp, values=[self._operand(*each) for each in passed])
            else:
                self._member(inner)
        self._build, self._before = outer, None
        self._made.update(zip(op.results, made.results, strict=True))

    def _builder_for(self, op: Operation) -> Builder:
        """Builds the slices of a tile from scalars: before a loop, unless the loop computes it."""
        if self._before is None or op.parent_op in self._plan.loops:
            return self._build
        return self._before

    def _cut(self, value: Value, dim: int | None) -> Type:
        return value.type if dim is None else cut_type(value.type, dim, self._plan.count)

    def _operand(self, value: Value, dim: int | None) -> Value:
        if dim is not None and value not in self._plan.dims:
            return self._remade.slice_of(value, dim)
        return self._made.get(value, value)

    def _accumulated(self, op: ReduceOp, carried: Sequence[Value]) -> list[Value]:
        """The accumulators of a reduction after this slice: the slice itself if it is the first."""
        build, way = self._build, self._plan.ways[op]
        build.location = op.location
        slices = [self._operand(source, way[source]) for source in op.sources]
        pairs = [value for pair in zip(carried, slices, strict=True) for value in pair]
        combined = self._lifted(op.body.block, pairs)
        type = slices[0].type
        first = build.create(
            shape.SplatOp, source=self._is_first(), types=[with_element(type, I1)]
        ).result
        return [
            build.create(shape.SelectOp, condition=first, true_value=new, false_value=old).result
            for new, old in zip(slices, combined, strict=True)
        ]

    def _is_first(self) -> Value:
        if self._first is None:
            zero = constant(self._build, 0, I32)
            self._first = self._build.create(
                integer.CmpIOp,
                predicate=CmpIPredicate.EQ,
                lhs=self._number,
                rhs=zero,
                types=[I1],
            ).result
        return self._first

    def _lifted(self, body: Block, arguments: Sequence[Value]) -> list[Value]:
        """Apply the body of a reduction, on scalars, to tiles element by element."""
        build, like = self._build, arguments[0].type
        standing: dict[Value, Value] = dict(zip(body.args, arguments, strict=True))

        def tile(value: Value) -> Value:
            if value not in standing:
                type = with_element(like, value.type)
                standing[value] = build.create(shape.SplatOp, source=value, types=[type]).result
            return standing[value]

        for op in body:
            if not op.results:
                return [tile(value) for value in op.operands]
            if isinstance(op, ConstantOp):
                standing[op.result] = tile(build.insert(op.clone()).result)
                continue
            types = [with_element(like, result.type) for result in op.results]
            made = build.insert(op.like([tile(value) for value in op.operands], types))
            standing.update(zip(op.results, made.results, strict=True))
        return []
