"""Builds one part of operations that are cut, and copies those that every part needs whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa import misc
from tilewright.dialects.scf import YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_dead
from tilewright.ir.operation import Block, Region
from tilewright.transforms.tile.parts import (
    PartAccess,
    RematerializedParts,
    ViewAccess,
    cut_type,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.tile.closure import Cut


class PartBuilder:
    """Builds one part of the operations of a cut.

    The number of the part selects it; without one, the loop around the operations counts parts,
    and its induction variable is their index.
    """

    __slots__ = ("_before", "_cut", "_inner", "_number", "_remade", "build", "values")

    def __init__(self, cut: Cut, number: Value | None, build: Builder) -> None:
        self._cut, self._number = cut, number
        self.build = build
        self._inner: ForOp | None = None
        """The loop that is being copied."""
        self._before = build
        """Builds before the copy of that loop; outside of loops the same as `build`."""
        self.values: dict[Value, Value] = {}
        """What stands for each value of the program."""
        self._remade = RematerializedParts(cut, number, self._builder_for, self.values)

    def operand(self, value: Value, dim: int | None) -> Value:
        """The part of an operand along a dimension, or all of it."""
        if dim is not None and value not in self._cut.dims:
            return self._remade.part_of(value, dim)
        return self.values.get(value, value)

    def copy(self, op: Operation) -> None:
        """Build a part of an operation, or all of it if it is not cut."""
        way = self._cut.ways.get(op)
        axes: Mapping[Value, int] = {} if way is None else way.axes
        self.build.location = op.location
        operands = [self.operand(value, axes.get(value)) for value in op.operands]
        if way is not None and isinstance(op, misc.AssumeOp) and not op.predicate.is_elementwise:
            # It holds for groups of elements, by their index in the whole tile.
            self.values[op.result] = operands[0]
            return
        if way is not None and isinstance(op, ViewAccess):
            self._select(op, axes[op.tile], operands)
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

    def _select(self, op: ViewAccess, dim: int, operands: list[Value]) -> None:
        """Access a part through a view of parts; what no iteration changes is built before."""
        access = PartAccess(op, dim, self._cut.parts)
        at = op.operands.index(op.view)
        cutter = op.view.defining_op()
        assert cutter is not None
        operands[at] = access.view(self._builder_for(cutter))
        if access.is_indexed and self._number is not None:
            index = op.indices[dim]
            is_changed = self._inner is not None and index.is_inside(self._inner)
            build = self.build if is_changed else self._before
            operands[at + 1 + dim] = access.index(operands[at + 1 + dim], self._number, build)

    def _builder_for(self, op: Operation) -> Builder:
        """Builds what depends on an operation: before a loop, unless the loop contains it."""
        is_inside = self._inner is not None and self._inner.is_ancestor_of(op)
        return self.build if is_inside else self._before
