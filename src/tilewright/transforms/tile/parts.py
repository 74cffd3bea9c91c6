"""Parts of tiles and of views: their types, the index of a part, and rematerialization."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal, splat_of
from tilewright.dialects.nv_tileaa import integer, misc, shape, view
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.conversion import ExtIOp, TruncIOp
from tilewright.dialects.nv_tileaa.types import TiledViewType
from tilewright.ir.types import DYNAMIC, I64, IntegerType, TensorType
from tilewright.transforms.nv_tileaa.scalars import constant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.tile.closure import Cut

ViewAccess = view.TileLoadOp | view.TileStoreOp | view.TiledAtomicRmwOp


def cut_type(type: Type, dim: int, count: int) -> TensorType:
    """The type of one of `count` parts of a tile."""
    assert isinstance(type, TensorType)
    parts = list(extents(type))
    parts[dim] //= count
    return TensorType(tuple(parts), type.element)


def is_rest_out_of_bounds(store: view.TileStoreOp, dim: int, parts: int) -> bool:
    """Whether only the first part of any tile along a dimension has elements in bounds."""
    type = view.tiled_view(store.view)
    if type.sparse == dim:
        return False
    extent = type.source.shape[type.dims[dim]]
    return extent != DYNAMIC and parts * extent <= type.tile[dim]


def as_width(build: Builder, number: Value, type: IntegerType) -> Value:
    """An unsigned integer in another width."""
    source = number.type
    assert isinstance(source, IntegerType)
    if source.width == type.width:
        return number
    if source.width > type.width:
        return build.create(TruncIOp, source=number, types=[type]).result
    return build.create(ExtIOp, source=number, signedness=Signedness.UNSIGNED, types=[type]).result


class PartAccess:
    """An access to one of `count` parts of a tile along a dimension, through a view of parts."""

    __slots__ = ("_dim", "_op", "_scale", "_step", "type")

    def __init__(self, op: ViewAccess, dim: int, count: int) -> None:
        self._op, self._dim = op, dim
        old = view.tiled_view(op.view)
        tile, steps = list(old.tile), list(old.steps)
        tile[dim] //= count
        steps[dim] = gcd(old.counted[dim], tile[dim]) if old.sparse is None else tile[dim]
        self.type = TiledViewType(
            tuple(tile), old.source, tuple(steps), old.dims, old.sparse, old.padding
        )
        """The view of parts."""
        self._scale = old.counted[dim] // self.type.counted[dim]
        self._step = tile[dim] // self.type.counted[dim]

    @property
    def is_indexed(self) -> bool:
        """Whether an index selects the part; otherwise a part of the sparse indices does."""
        return self._dim != view.tiled_view(self._op.view).sparse

    def view(self, build: Builder) -> Value:
        """The view of parts of the same memory."""
        cutter = self._op.view.defined_by(view.BlockTileOp)
        assert cutter is not None
        return build.create(view.BlockTileOp, source=cutter.source, types=[self.type]).result

    def index(self, index: Value, number: Value, build: Builder) -> Value:
        """The index of a part, given its number and the index of the tile."""
        wide, number = as_width(build, index, I64), as_width(build, number, I64)
        scale, step = constant(build, self._scale, I64), constant(build, self._step, I64)
        start = build.create(integer.MulIOp, lhs=wide, rhs=scale).result
        more = build.create(integer.MulIOp, lhs=number, rhs=step).result
        return build.create(integer.AddIOp, lhs=start, rhs=more).result


class RematerializedParts:
    """One part of each tile that is computed from scalars.

    `builder_for` is asked where to build the part of the result of an operation; `replaced` are
    values that stand for others. Without the number of the part, no tile counts its elements.
    """

    __slots__ = ("_builder_for", "_cut", "_made", "_number", "_replaced")

    def __init__(
        self,
        cut: Cut,
        number: Value | None,
        builder_for: Callable[[Operation], Builder],
        replaced: Mapping[Value, Value],
    ) -> None:
        self._cut, self._number, self._builder_for = cut, number, builder_for
        self._replaced = replaced
        self._made: dict[tuple[Value, int], Value] = {}

    def part_of(self, value: Value, dim: int) -> Value:
        """The part of a tile along a dimension."""
        key = (value, dim)
        if key not in self._made:
            self._made[key] = self._build(value, dim)
        return self._made[key]

    def _build(self, value: Value, dim: int) -> Value:
        op = value.defining_op()
        assert op is not None
        type = cut_type(value.type, dim, self._cut.parts)
        axes = self._cut.way_along(op, value, dim).axes
        operands = [
            self.part_of(each, axes[each]) if each in axes else self._replaced.get(each, each)
            for each in op.operands
        ]
        if isinstance(op, misc.AssumeOp):
            return operands[0]
        build = self._builder_for(op)
        made = build.insert(op.like(operands, [type]))
        if isinstance(op, ConstantOp):
            number = literal([splat_of(op.value) or 0], type)
            assert number is not None
            made.attributes["value"] = number
        if isinstance(op, shape.MakeRangeOp):
            return self._offset_range(made.results[0], build)
        return made.results[0]

    def _offset_range(self, numbers: Value, build: Builder) -> Value:
        """A range, offset by its length times the number of the part."""
        type = numbers.type
        assert isinstance(type, TensorType)
        element = type.element
        assert isinstance(element, IntegerType)
        assert self._number is not None
        number = as_width(build, self._number, element)
        length = constant(build, extents(type)[0], element)
        start = build.create(integer.MulIOp, lhs=number, rhs=length).result
        all_starts = build.create(shape.SplatOp, source=start, types=[type]).result
        return build.create(integer.AddIOp, lhs=numbers, rhs=all_starts).result
