"""Loops over parts: one that replaces the members of a region, and loops over parts of K.

A loop over K gets more iterations, each of a part of K; accumulation keeps its order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import with_element
from tilewright.dialects.nv_tileaa import constraints, integer, memory, shape, view
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.conversion import ExtIOp
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block
from tilewright.ir.rules import constant_of
from tilewright.ir.tiling import Join
from tilewright.ir.types import I1, I32, I64
from tilewright.transforms.nv_tileaa.scalars import Arithmetic, constant
from tilewright.transforms.tile.closure import CannotCut, Cut, Scope
from tilewright.transforms.tile.parts import PartBuilder, cut_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.tiling import Way
    from tilewright.ir.values import Value
    from tilewright.transforms.tile.region import PartRegion


def build_loop(region: PartRegion) -> None:
    """Replace the members of a region by a loop over parts."""
    last, parts = region.members[-1], region.cut.parts
    outside = Builder(InsertPoint.after(last), last.location)
    starts = [_first_token(outside, region, token) for token in region.tokens()]
    for op in region.reductions():
        for source in op.sources:
            type = cut_type(source.type, region.cut.ways[op].axes[source], parts)
            value = literal([0], type)
            starts.append(outside.create(ConstantOp, value=value, types=[type]).result)
    types = [value.type for value in starts]
    body = Block([I32, *types])
    lower, upper, step = (constant(outside, number, I32) for number in (0, parts, 1))
    loop = outside.create(
        ForOp,
        lower_bound=lower,
        upper_bound=upper,
        step=step,
        init_args=starts,
        body=body,
        types=types,
    )
    _fill(body, region)
    _replace(region, outside, loop)


def _first_token(outside: Builder, region: PartRegion, token: Value) -> Value:
    """The token that a member takes in the first iteration."""
    op = token.defining_op()
    if isinstance(op, view.TileLoadOp | view.TileStoreOp | memory.LoadOp | memory.StoreOp):
        own = op.token
        if own is not None and own.defining_op() not in region.members:
            return own
    return outside.create(memory.CreateMemTokenOp).result


def _replace(region: PartRegion, outside: Builder, loop: ForOp) -> None:
    """Replace uses of members by the results of the loop; finish reductions after it."""
    given = iter(loop.results)
    for token in region.tokens():
        after = next(given)
        for user in tuple(token.users):
            if user not in region.members:
                user.replace_operand(token, after)
    for op in region.reductions():
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


def _fill(body: Block, region: PartRegion) -> None:
    """Build one part of every member; yield the tokens and the accumulators of reductions."""
    number, *carried = body.args
    build = Builder(InsertPoint.at_end(body), region.members[-1].location)
    parts, reductions = PartBuilder(region.cut, number, build), region.reductions()
    for op in region.members:
        if isinstance(op, ForOp):
            parts.loop(op, [parts.operand(value, None) for value in op.operands[:3]])
        elif op not in reductions:
            parts.copy(op)
    rest = iter(carried)
    passed: list[Value] = []
    for token in region.tokens():
        joined = [next(rest), parts.values[token]]
        passed.append(build.create(memory.JoinMemTokenOp, tokens=joined).result)
    is_first: Value | None = None
    for op in reductions:
        axes = region.cut.ways[op].axes
        build.location = op.location
        added = [parts.operand(source, axes[source]) for source in op.sources]
        pairs = [value for part in added for value in (next(rest), part)]
        combined = _lifted(build, op.body.block, pairs)
        if is_first is None:
            is_first = Arithmetic(build).is_zero(number)
        types = [with_element(added[0].type, I1)]
        first = build.create(shape.SplatOp, source=is_first, types=types).result
        for new, old in zip(added, combined, strict=True):
            chosen = build.create(shape.SelectOp, condition=first, true_value=new, false_value=old)
            passed.append(chosen.result)
    build.create(YieldOp, values=passed)


def _lifted(build: Builder, body: Block, arguments: Sequence[Value]) -> list[Value]:
    """Apply the body of a reduction, on scalars, to tiles element by element."""
    like = arguments[0].type
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


def refine_loop(loop: ForOp, cut: Cut) -> None:
    """Replace a loop by one with an iteration for each part of K.

    The loop counts up by one, and nothing but indices of tiles depends on its induction variable.
    """
    build = Builder(InsertPoint.before(loop), loop.location)
    bounds = _scaled_bounds(loop, cut.parts, build)
    new = PartBuilder(cut, None, build).loop(loop, bounds)
    for result, replacement in zip(loop.results, new.results, strict=True):
        result.replace_all_uses_with(replacement)
    loop.erase()


def _scaled_bounds(loop: ForOp, parts: int, build: Builder) -> list[Value]:
    """The bounds and step of the new loop, in a type that holds them."""
    *bounds, step = loop.operands[:3]
    type = I32 if all(_stays_small(bound, parts) for bound in bounds) else I64
    scale = constant(build, parts, type)
    scaled: list[Value] = []
    for bound in bounds:
        wide = bound
        if bound.type is not type:
            signed = Signedness.UNSIGNED if loop.unsigned_cmp else Signedness.SIGNED
            wide = build.create(ExtIOp, source=bound, signedness=signed, types=[type]).result
        scaled.append(Arithmetic(build).multiply(wide, scale))
    return [*scaled, step if step.type is type else constant(build, 1, type)]


def _stays_small(bound: Value, parts: int) -> bool:
    """Whether a bound still fits into 32 bits when it is scaled."""
    if bound.type is not I32:
        return False
    known, op = constant_of(bound), bound.defining_op()
    if isinstance(known, IntegerAttr):
        return 0 <= known.value * parts < 1 << (I32.width - 1)
    divisor = constant_of(op.rhs) if isinstance(op, integer.DivIOp) else None
    return isinstance(divisor, IntegerAttr) and divisor.value >= 2 * parts


def counts_up_by_one(loop: ForOp) -> bool:
    """Whether the induction variable takes consecutive values that are not negative."""
    first, step = constant_of(loop.lower_bound), constant_of(loop.step)
    if not isinstance(first, IntegerAttr) or not isinstance(step, IntegerAttr):
        return False
    return loop.lower_bound.type in (I32, I64) and first.value >= 0 and step.value == 1


def cut_along_k(
    loop: ForOp,
    dots: Sequence[DotOp],
    parts: int,
    may_repeat: Callable[[Operation], bool] = lambda _: True,
) -> Cut:
    """What is cut along K; raises `CannotCut` if the loop does more than accumulate dots.

    `may_repeat` says which operations between loads and dots may run in each of the iterations.
    """
    if not counts_up_by_one(loop):
        raise CannotCut(loop, "it does not count up by one from a constant")
    are_all = {dot.c for dot in dots} == {*loop.carried}
    if not are_all or not all(accumulates(loop, dot) for dot in dots):
        raise CannotCut(loop, "it carries other values than accumulators of dots")

    def is_refinable(op: Operation, way: Way) -> bool:
        """Whether the tiles of an operation can be shorter along K, in this way."""
        if isinstance(op, DotOp):
            return way.join is Join.CHAIN
        if isinstance(op, view.TiledLoadOp):
            return _is_consecutive(loop, op, way.axes[op.tile])
        if len(op.results) != 1 or op.regions or isinstance(op, shape.MakeRangeOp):
            return False
        return may_repeat(op)

    cut = Cut(Scope([], [loop.body.block]), parts, is_refinable)
    for dot in dots:
        cut = cut.with_op(dot, cut.way_along(dot, dot.a, len(constraints.shape(dot.a.type)) - 1))
    for op in loop.body.block:
        if not _is_member(loop, op, cut):
            raise CannotCut(op, "it differs between the parts of an iteration")
    return cut


def accumulates(loop: ForOp, dot: DotOp) -> bool:
    """Whether a loop does nothing with the accumulator of a dot but carry it."""
    if dot.c not in loop.carried:
        return False
    *_, end = loop.body.block
    is_carried = end.operands[loop.carried.index(dot.c)] is dot.result
    return is_carried and list(dot.result.users) == [end] and list(dot.c.users) == [dot]


def _is_member(loop: ForOp, op: Operation, cut: Cut) -> bool:
    """Whether an operation is part of the refined loop: on parts of tiles, or the same in all.

    Only loads may take the induction variable, which counts parts then.
    """
    if isinstance(op, DotOp | view.TiledLoadOp | YieldOp):
        return op in cut.ways or isinstance(op, YieldOp)
    if op not in cut.ways and not (len(op.results) == 1 and cut.is_remade(op.results[0])):
        return False
    return all(
        value in cut.dims or cut.is_remade(value) or not value.is_inside(loop)
        for value in op.operands
    )


def _is_consecutive(loop: ForOp, load: view.TiledLoadOp, dim: int) -> bool:
    """Whether the iterations of a loop load consecutive tiles along a dimension."""
    type = view.tiled_view(load.view)
    is_first = load.token is None or load.token.defined_by(memory.CreateMemTokenOp) is not None
    if not is_first or load.result_token.is_used or type.steps[dim] != type.tile[dim]:
        return False
    others = [index for number, index in enumerate(load.indices) if number != dim]
    return load.indices[dim] is loop.induction_variable and not any(
        value.is_inside(loop) for value in (load.view, *others)
    )
