"""Loops over K with more iterations, each of a part of K; accumulation keeps its order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.conversion import ExtIOp
from tilewright.dialects.nv_tileaa.integer import DivIOp, MulIOp
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp
from tilewright.dialects.nv_tileaa.shape import MakeRangeOp
from tilewright.dialects.nv_tileaa.view import TiledLoadOp, tiled_view
from tilewright.dialects.scf import YieldOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.rules import constant_of
from tilewright.ir.tiling import Join
from tilewright.ir.types import I32, I64
from tilewright.transforms.nv_tileaa.scalars import constant
from tilewright.transforms.tile.closure import CannotCut, Cut
from tilewright.transforms.tile.control_flow import Scope
from tilewright.transforms.tile.part_builder import PartBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.tiling import Way
    from tilewright.ir.values import Value


def refine_loop(loop: ForOp, cut: Cut) -> None:
    """Replace a loop by one with an iteration for each part.

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
    lower, upper, step = loop.operands[:3]
    is_small = _stays_small(lower, parts) and _stays_small(upper, parts)
    type = I32 if is_small else I64
    scale = constant(build, parts, type)
    scaled: list[Value] = []
    for bound in (lower, upper):
        wide = bound
        if bound.type is not type:
            signed = Signedness.UNSIGNED if loop.unsigned_cmp else Signedness.SIGNED
            wide = build.create(ExtIOp, source=bound, signedness=signed, types=[type]).result
        scaled.append(build.create(MulIOp, lhs=wide, rhs=scale).result)
    return [*scaled, step if step.type is type else constant(build, 1, type)]


def _stays_small(bound: Value, parts: int) -> bool:
    """Whether a bound still fits into 32 bits when it is scaled."""
    if bound.type is not I32:
        return False
    known, op = constant_of(bound), bound.defining_op()
    if isinstance(known, IntegerAttr):
        return 0 <= known.value * parts < 1 << (I32.width - 1)
    divisor = constant_of(op.rhs) if isinstance(op, DivIOp) else None
    return isinstance(divisor, IntegerAttr) and divisor.value >= 2 * parts


def counts_up_by_one(loop: ForOp) -> bool:
    """Whether the induction variable takes consecutive values that are not negative."""
    first, step = constant_of(loop.lower_bound), constant_of(loop.step)
    if not isinstance(first, IntegerAttr) or not isinstance(step, IntegerAttr):
        return False
    return loop.lower_bound.type in (I32, I64) and first.value >= 0 and step.value == 1


class KLoop:
    """A loop over K: the tiles that become shorter, and which of its operations may.

    `may_repeat` says which operations between loads and dots may run in each of the iterations.
    """

    __slots__ = ("_loop", "_may_repeat", "_parts")

    def __init__(
        self, loop: ForOp, parts: int, may_repeat: Callable[[Operation], bool] | None = None
    ) -> None:
        self._loop, self._parts, self._may_repeat = loop, parts, may_repeat

    def cut(self, dots: Sequence[DotOp]) -> Cut:
        """What is cut along K; raises `CannotCut` if the loop does more than accumulate dots."""
        if not counts_up_by_one(self._loop):
            raise CannotCut(self._loop, "it does not count up by one from a constant")
        self._check_accumulators(dots)
        cut = Cut(Scope([], [self._loop.body.block]), self._parts, self._is_refinable)
        for dot in dots:
            cut = cut.with_op(dot, cut.way_along(dot, dot.a, len(shape(dot.a.type)) - 1))
        for op in self._loop.body.block:
            if not self._is_member(op, cut):
                raise CannotCut(op, "it differs between the parts of an iteration")
        return cut

    def _check_accumulators(self, dots: Sequence[DotOp]) -> None:
        """The loop carries the accumulators of its dots, and nothing else uses them."""
        last = self._loop.body.block.last
        assert last is not None
        accumulators = {dot.c: dot for dot in dots}
        for argument, end in zip(self._loop.carried, last.operands, strict=True):
            dot = accumulators.get(argument)
            if dot is None or end is not dot.result or list(argument.users) != [dot]:
                raise CannotCut(self._loop, "it carries other values than accumulators of dots")
        for dot in dots:
            if list(dot.result.users) != [last]:
                raise CannotCut(dot, "its result is not only accumulated")

    def _is_member(self, op: Operation, cut: Cut) -> bool:
        """Whether an operation is part of the refined loop: on parts of tiles, or the same in all.

        Only loads may take the induction variable, which counts parts then.
        """
        if isinstance(op, DotOp | TiledLoadOp | YieldOp):
            return op in cut.ways or isinstance(op, YieldOp)
        if op not in cut.ways and not (len(op.results) == 1 and cut.is_remade(op.results[0])):
            return False
        return all(
            value in cut.dims or cut.is_remade(value) or not value.is_inside(self._loop)
            for value in op.operands
        )

    def _is_refinable(self, op: Operation, way: Way) -> bool:
        """Whether the tiles of an operation can be shorter along K, in this way."""
        if isinstance(op, DotOp):
            return way.join is Join.CHAIN
        if isinstance(op, TiledLoadOp):
            return self._is_consecutive(op, way.axes[op.tile])
        if len(op.results) != 1 or op.regions or isinstance(op, MakeRangeOp):
            return False
        return self._may_repeat is None or self._may_repeat(op)

    def _is_consecutive(self, load: TiledLoadOp, dim: int) -> bool:
        """Whether the iterations of a loop load consecutive tiles along a dimension."""
        type, counter = tiled_view(load.view), self._loop.induction_variable
        if load.view.is_inside(self._loop):
            return False
        is_first = load.token is None or load.token.defined_by(CreateMemTokenOp) is not None
        if not is_first or load.result_token.is_used or type.steps[dim] != type.tile[dim]:
            return False
        others = [index for number, index in enumerate(load.indices) if number != dim]
        return load.indices[dim] is counter and not any(
            index.is_inside(self._loop) for index in others
        )
