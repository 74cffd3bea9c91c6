"""The loop over parts that replaces the members of a region."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import with_element
from tilewright.dialects.nv_tileaa import integer, memory, shape, view
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block
from tilewright.ir.types import I1, I32
from tilewright.transforms.nv_tileaa.scalars import constant
from tilewright.transforms.tile.part_builder import PartBuilder
from tilewright.transforms.tile.parts import cut_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.aggregate import ReduceOp
    from tilewright.ir.values import Value
    from tilewright.transforms.tile.region import PartRegion


def build_loop(region: PartRegion) -> None:
    """Replace the members of a region by a loop over parts."""
    last, parts = region.members[-1], region.cut.parts
    outside = Builder(InsertPoint.after(last), last.location)
    tokens, reductions = region.tokens(), region.reductions()
    starts = [_first_token(outside, region, token) for token in tokens]
    for op in reductions:
        for source in op.sources:
            type = cut_type(source.type, region.cut.ways[op].axes[source], parts)
            value = literal([0], type)
            starts.append(outside.create(ConstantOp, value=value, types=[type]).result)
    types = [value.type for value in starts]
    body = Block([I32, *types])
    bounds = [constant(outside, number, I32) for number in (0, parts, 1)]
    loop = outside.create(
        ForOp,
        lower_bound=bounds[0],
        upper_bound=bounds[1],
        step=bounds[2],
        init_args=starts,
        body=body,
        types=types,
    )
    filled = _Body(region, Builder(InsertPoint.at_end(body), last.location), body.args[0])
    filled.fill(tokens, reductions, body.args[1:])
    _replace(region, outside, loop, tokens, reductions)


def _first_token(outside: Builder, region: PartRegion, token: Value) -> Value:
    """The token that a member takes in the first iteration."""
    op = token.defining_op()
    own = op.token if isinstance(op, view.TileLoadOp | view.TileStoreOp) else None
    if isinstance(op, memory.LoadOp | memory.StoreOp):
        own = op.token
    if own is not None and own.defining_op() not in region.members:
        return own
    return outside.create(memory.CreateMemTokenOp).result


def _replace(
    region: PartRegion,
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
            if user not in region.members:
                user.replace_operand(token, after)
    for op in reductions:
        values: dict[Value, Value] = {}
        parts = [next(given) for _ in op.sources]
        end = op.like(parts, [result.type for result in op.results])
        end.set_regions([region.clone(values) for region in op.regions])
        outside.insert(end)
        for old, new in zip(op.results, end.results, strict=True):
            old.replace_all_uses_with(new)
    for op in region.late:
        outside.insert(op.detach())
    for op in reversed(region.members):
        op.erase()


class _Body:
    """Builds one part of every member, in the body of the loop."""

    __slots__ = ("_first", "_number", "_parts", "_region")

    def __init__(self, region: PartRegion, build: Builder, number: Value) -> None:
        self._region, self._number = region, number
        self._parts = PartBuilder(region.cut, number, build)
        self._first: Value | None = None

    def fill(
        self, tokens: Sequence[Value], reductions: Sequence[ReduceOp], carried: Sequence[Value]
    ) -> None:
        """Build all members; yield the tokens and the accumulators of reductions."""
        parts = self._parts
        for op in self._region.members:
            if isinstance(op, ForOp):
                parts.loop(op, [parts.operand(value, None) for value in op.operands[:3]])
            elif op not in reductions:
                parts.copy(op)
        rest = iter(carried)
        passed = [self._joined(next(rest), parts.values[token]) for token in tokens]
        for op in reductions:
            passed += self._accumulated(op, [next(rest) for _ in op.sources])
        parts.build.create(YieldOp, values=passed)

    def _joined(self, one: Value, other: Value) -> Value:
        return self._parts.build.create(memory.JoinMemTokenOp, tokens=[one, other]).result

    def _accumulated(self, op: ReduceOp, carried: Sequence[Value]) -> list[Value]:
        """The accumulators of a reduction after this part: the part itself if it is the first."""
        build, axes = self._parts.build, self._region.cut.ways[op].axes
        build.location = op.location
        parts = [self._parts.operand(source, axes[source]) for source in op.sources]
        pairs = [value for pair in zip(carried, parts, strict=True) for value in pair]
        combined = self._lifted(op.body.block, pairs)
        type = parts[0].type
        first = build.create(
            shape.SplatOp, source=self._is_first(), types=[with_element(type, I1)]
        ).result
        return [
            build.create(shape.SelectOp, condition=first, true_value=new, false_value=old).result
            for new, old in zip(parts, combined, strict=True)
        ]

    def _is_first(self) -> Value:
        if self._first is None:
            zero = constant(self._parts.build, 0, I32)
            self._first = self._parts.build.create(
                integer.CmpIOp,
                predicate=CmpIPredicate.EQ,
                lhs=self._number,
                rhs=zero,
                types=[I1],
            ).result
        return self._first

    def _lifted(self, body: Block, arguments: Sequence[Value]) -> list[Value]:
        """Apply the body of a reduction, on scalars, to tiles element by element."""
        build, like = self._parts.build, arguments[0].type
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
