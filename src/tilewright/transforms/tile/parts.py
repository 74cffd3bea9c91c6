"""Parts of tiles and of views: types, operands, and copies of operations on one part."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal, splat_of
from tilewright.dialects.nv_tileaa import atomics, memory, misc, shape, view
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.conversion import ExtIOp, TruncIOp
from tilewright.dialects.nv_tileaa.types import TiledViewType
from tilewright.dialects.scf import YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_dead
from tilewright.ir.operation import Block, Region
from tilewright.ir.types import DYNAMIC, I64, IntegerType, TensorType
from tilewright.transforms.nv_tileaa.scalars import Arithmetic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.tile.closure import Cut

ViewAccess = view.TileLoadOp | view.TileStoreOp | view.TiledAtomicRmwOp
LOADS: Final = (memory.LoadOp, view.TileLoadOp)
WRITES: Final = (memory.StoreOp, view.TileStoreOp, atomics.AtomicOp, view.TiledAtomicRmwOp)


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


def is_of_groups(op: Operation) -> bool:
    """Whether it assumes something of groups of elements, by their index in the whole tile."""
    return isinstance(op, misc.AssumeOp) and not op.predicate.is_elementwise


def _as_width(build: Builder, number: Value, type: IntegerType) -> Value:
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

    __slots__ = ("_scale", "_source", "_step", "at", "dim", "is_indexed", "type")

    def __init__(self, op: ViewAccess, dim: int, count: int) -> None:
        old, cutter = view.tiled_view(op.view), op.view.defined_by(view.BlockTileOp)
        assert cutter is not None
        self._source = cutter.source
        tile, steps = list(old.tile), list(old.steps)
        tile[dim] //= count
        steps[dim] = gcd(old.counted[dim], tile[dim]) if old.sparse is None else tile[dim]
        self.type = TiledViewType(
            tuple(tile), old.source, tuple(steps), old.dims, old.sparse, old.padding
        )
        """The view of parts."""
        self._scale = old.counted[dim] // self.type.counted[dim]
        self._step = tile[dim] // self.type.counted[dim]
        self.is_indexed = dim != old.sparse
        """Whether an index selects the part; otherwise a part of the sparse indices does."""
        self.dim, self.at = dim, op.operands.index(op.view) + 1 + dim
        """The dimension, and the operand that is the index along it."""

    def view(self, build: Builder) -> Value:
        """The view of parts of the same memory."""
        return build.create(view.BlockTileOp, source=self._source, types=[self.type]).result

    def index(self, index: Value, number: Value, build: Builder) -> Value:
        """The index of a part, given its number and the index of the tile."""
        wide, number = _as_width(build, index, I64), _as_width(build, number, I64)
        math = Arithmetic(build)
        scale, step = math.constant(self._scale), math.constant(self._step)
        return math.add(math.multiply(wide, scale), math.multiply(number, step))


class Parts:
    """Builds one part of the operands of operations that are cut.

    The number of the part selects it; without one, the loop around the operations counts parts,
    and its induction variable is their index.
    """

    __slots__ = ("_cut", "_made", "_number", "values")

    def __init__(self, cut: Cut, number: Value | None) -> None:
        self._cut, self._number = cut, number
        self._made: dict[tuple[Value, int], Value] = {}
        """The parts of tiles that are computed from scalars."""
        self.values: dict[Value, Value] = {}
        """What stands for each value of the program."""

    def operand(self, value: Value, dim: int | None) -> Value:
        """The part of an operand along a dimension, or all of it."""
        if dim is not None and value not in self._cut.dims:
            return self._remade_part(value, dim)
        return self.values.get(value, value)

    def operands(self, op: Operation, axes: Mapping[Value, int]) -> list[Value]:
        """The operands of a part of an operation; views and indices select it."""
        operands = [self.operand(value, axes.get(value)) for value in op.operands]
        if isinstance(op, ViewAccess) and op.tile in axes:
            access = PartAccess(op, axes[op.tile], self._cut.parts)
            operands[op.operands.index(op.view)] = self._view(op.view, access)
            if access.is_indexed and self._number is not None:
                operands[access.at] = self._index(op, access, operands[access.at], self._number)
        return operands

    def _builder_for(self, op: Operation) -> Builder:
        """Builds what depends on the result of an operation."""
        raise NotImplementedError

    def _view(self, whole: Value, access: PartAccess) -> Value:
        """The view of parts of the same memory."""
        maker = whole.defining_op()
        assert maker is not None
        return access.view(self._builder_for(maker))

    def _index(self, op: ViewAccess, access: PartAccess, index: Value, number: Value) -> Value:
        """The index of a part, given its number and that of the whole."""
        raise NotImplementedError

    def _remade_part(self, value: Value, dim: int) -> Value:
        """The part of a tile that is computed from scalars."""
        key = (value, dim)
        if key not in self._made:
            self._made[key] = self._remake(value, dim)
        return self._made[key]

    def _remake(self, value: Value, dim: int) -> Value:
        op = value.defining_op()
        assert op is not None
        type = cut_type(value.type, dim, self._cut.parts)
        axes = self._cut.way_along(op, value, dim).axes
        operands = [
            self._remade_part(each, axes[each]) if each in axes else self.values.get(each, each)
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
        assert isinstance(type.element, IntegerType)
        assert self._number is not None
        math, number = Arithmetic(build), _as_width(build, self._number, type.element)
        start = math.multiply(number, math.constant(extents(type)[0], type.element))
        return math.add(numbers, build.create(shape.SplatOp, source=start, types=[type]).result)


class PartBuilder(Parts):
    """Copies operations of a cut for one part, and those that every part needs whole."""

    __slots__ = ("_before", "_inner", "build")

    def __init__(self, cut: Cut, number: Value | None, build: Builder) -> None:
        super().__init__(cut, number)
        self.build = build
        self._inner: ForOp | None = None
        """The loop that is being copied."""
        self._before = build
        """Builds before the copy of that loop; outside of loops the same as `build`."""

    def copy(self, op: Operation) -> None:
        """Build a part of an operation, or all of it if it is not cut."""
        way = self._cut.ways.get(op)
        axes: Mapping[Value, int] = {} if way is None else way.axes
        self.build.location = op.location
        operands = self.operands(op, axes)
        if way is not None and is_of_groups(op):
            self.values[op.results[0]] = operands[0]
            return
        types = [
            cut_type(result.type, axes[result], self._cut.parts) if result in axes else result.type
            for result in op.results
        ]
        made = op.like(operands, types)
        if way is not None and isinstance(made, ViewAccess):
            # A part of a tile at the edge may have nothing in bounds.
            made.sliced = True
        made.set_regions([region.clone(self.values.copy()) for region in op.regions])
        self.build.insert(made)
        self.values.update(zip(op.results, made.results, strict=True))

    def loop(self, op: ForOp, bounds: Sequence[Value]) -> ForOp:
        """Build a loop that carries parts, with bounds and a step of its own."""
        old, outer = op.body.block, self.build
        dims = [self._cut.dims.get(value) for value in op.carried]
        starts = [self.operand(value, dim) for value, dim in zip(op.init_args, dims, strict=True)]
        types = [value.type for value in starts]
        body = Block([bounds[0].type, *types])
        made = op.like([*bounds, *starts], types)
        made.set_regions([Region([body])])
        outer.insert(made)
        self.values.update(zip(old.args, body.args, strict=True))
        self._inner, self._before = op, Builder(InsertPoint.before(made), op.location)
        self.build = Builder(InsertPoint.at_end(body), op.location)
        for inner in old:
            if isinstance(inner, YieldOp):
                passed = zip(inner.values, dims, strict=True)
                self.build.location = inner.location
                self.build.create(YieldOp, values=[self.operand(*each) for each in passed])
            else:
                self.copy(inner)
        for inner in reversed(body):
            # Whole tiles that are left would count for the number of warps.
            if is_dead(inner):
                inner.erase()
        self._inner, self.build, self._before = None, outer, outer
        self.values.update(zip(op.results, made.results, strict=True))
        return made

    def _index(self, op: ViewAccess, access: PartAccess, index: Value, number: Value) -> Value:
        """What no iteration changes is built before."""
        is_changed = self._inner is not None and op.indices[access.dim].is_inside(self._inner)
        return access.index(index, number, self.build if is_changed else self._before)

    def _builder_for(self, op: Operation) -> Builder:
        """Builds what depends on an operation: before a loop, unless the loop contains it."""
        is_inside = self._inner is not None and self._inner.is_ancestor_of(op)
        return self.build if is_inside else self._before
